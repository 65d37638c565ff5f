"""A request, the limits of a service, and what is right to answer."""

from __future__ import annotations

from dataclasses import dataclass, field

STATUSES = {
    "ok": 200, "001": 422, "002": 400, "003": 422, "004": 422, "005": 422, "006": 422,
    "007": 413, "011": 413, "012": 404, "013": 409,
}  # fmt: skip
"""Status of each outcome that has one status and depends on the request's content."""


@dataclass(frozen=True)
class Verdict:
    """The right answer: exact bytes for a product, what the contract fixes for an error."""

    code: str
    """`ok` or the error's code."""
    status: int
    request_id: str | int | None = None
    """What an error echoes; of a product it is part of `product`."""
    product: bytes | None = None
    """The whole body of a 200."""
    messages: frozenset[str] = field(default=frozenset())
    """The message is one of them: 006 names any of the elements that do not fit."""
    allow: str | None = None
    """The methods that a 405 names in `Allow`."""
    pattern: str | None = None
    """In place of `product`, where ids and times are the service's own: an expression that the
    whole body of a 200 matches."""
    or_else: tuple[Verdict, ...] = ()
    """Other answers that are right, where it depends on what the database holds."""


class Violation(Exception):
    """A rule of the contract that the request breaks."""

    def __init__(self, code: str, *messages: str) -> None:
        """`messages` are those of which the answer has one."""
        super().__init__(code, *messages)
        self.code = code
        self.messages = frozenset(messages)


@dataclass(frozen=True)
class Request:
    """What arrived, as HTTP has it."""

    method: str
    target: str
    content_type: str | None
    body: bytes
    declared_bytes: int | None
    """Content-Length; None where the body came in chunks."""
    is_whole: bool = True
    """False: the connection ended before the announced length or the last chunk."""


@dataclass(frozen=True)
class Limits:
    """What a service was started with."""

    body_bytes: int = 64 * 1024 * 1024
    loop_operations: int = 2 * 10**8
    native_operations: int = 10**10
    delay_millis: int = 10_000
    message_characters: int = 65_536

    @property
    def product_elements(self) -> int:
        """Two bytes are the least an element takes in the answer."""
        return max(1, self.body_bytes // 2)
