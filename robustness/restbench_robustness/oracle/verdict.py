"""What one request must be answered."""

from __future__ import annotations

from dataclasses import dataclass, field

STATUSES = {"ok": 200, "001": 422, "002": 400, "003": 422, "004": 422, "005": 422, "006": 422}
"""Status of each outcome that has one status and depends on the body's content."""
MESSAGE_001 = "Invalid number of columns and rows for multiplication"


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
    places: frozenset[str] = field(default=frozenset())
    """The message names one of them; none: the contract names no place here."""
    message: str | None = None
    """The exact message, where the contract has one."""
    allow: str | None = None
    """The method that a 405 names in `Allow`."""


class Violation(Exception):
    """A rule of the contract that the request breaks."""

    def __init__(self, code: str, *places: str) -> None:
        """`places` are those the message may name, none where the contract names none."""
        super().__init__(code, *places)
        self.code = code
        self.places = frozenset(places)
