"""Reading a request only to know what memory it needs, as a workload of its own."""

from dataclasses import dataclass
from typing import Any

from .workload import Loop, Workload


@dataclass(frozen=True)
class Look:
    """A technique that runs it reads the body where it would read the request's own."""

    looked_at: Workload[Any, Any]

    @property
    def kind(self) -> str:
        """To read it takes as long."""
        return self.looked_at.kind

    @property
    def needs_memory(self) -> bool:
        """See Workload."""
        return False

    def operations(self, value: int) -> float:  # noqa: ARG002 - whatever it needs
        """None follow."""
        return 0.0

    def parse(self, body: bytes) -> int:
        """The bytes that the request needs. Refuses nothing: the request itself will."""
        return self.looked_at.working_bytes(body)

    def compute(self, value: int, loop: Loop) -> int:  # noqa: ARG002 - nothing to do
        """See Workload."""
        return value

    def serialize(self, result: int) -> bytes:
        """In decimal digits."""
        return b"%d" % result

    def request_id(self, body: bytes) -> str | int | None:
        """See Workload."""
        return self.looked_at.request_id(body)

    def working_bytes(self, body: bytes) -> int:  # noqa: ARG002 - whatever the body
        """See Workload."""
        return 0
