"""What one request must be answered."""

from __future__ import annotations

from dataclasses import dataclass, field

STATUSES = {
    "ok": 200, "001": 422, "002": 400, "003": 422, "004": 422, "005": 422, "006": 422,
    "007": 413, "011": 413,
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
    """The method that a 405 names in `Allow`."""


class Violation(Exception):
    """A rule of the contract that the request breaks."""

    def __init__(self, code: str, *messages: str) -> None:
        """`messages` are those of which the answer has one."""
        super().__init__(code, *messages)
        self.code = code
        self.messages = frozenset(messages)
