"""A request, the limits of a service and the right answer; and the rules that apply to every
workload: path, method, media type, size and delay."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import unquote_to_bytes

STATUSES = {
    "ok": 200, "001": 422, "002": 400, "003": 422, "004": 422, "005": 422, "006": 422,
    "007": 413, "011": 413, "012": 404, "013": 409,
}  # fmt: skip
"""HTTP status by outcome, for outcomes that depend on the request and have only one status."""
RULE_OF_ID = "requestId: must be a string of 1 to 128 characters or a 64-bit integer"
_MILLIS = re.compile(r"[0-9]{1,6}")


@dataclass(frozen=True)
class Verdict:
    """The right answer: the exact bytes of a product, or the parts of an error that are fixed."""

    code: str
    """`ok` or the error's code."""
    status: int
    request_id: str | int | None = None
    """The id that an error echoes. That of a product is a part of `product`."""
    product: bytes | None = None
    """The whole body of a 200."""
    messages: frozenset[str] = field(default=frozenset())
    """The allowed error messages: 006 may name any element that does not fit."""
    allow: str | None = None
    """The methods in the header `Allow` of a 405."""
    pattern: str | None = None
    """Instead of `product`, where the service chooses ids and times: a regular expression that the
    whole body of a 200 matches."""
    or_else: tuple[Verdict, ...] = ()
    """Other right answers, where the answer depends on the content of the database."""


class Violation(Exception):
    """A rule of the contract that the request breaks."""

    def __init__(
        self, code: str, *messages: str, status: int | None = None, allow: str | None = None
    ) -> None:
        """`messages`: the answer has one of them. `status` is given where the code has several."""
        super().__init__(code, *messages)
        status = status or STATUSES[code]
        self.verdict = Verdict(code, status, messages=frozenset(messages), allow=allow)


@dataclass(frozen=True)
class Request:
    """A request as it arrived over HTTP."""

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
    """The limits with which a service was started."""

    body_bytes: int = 64 * 1024 * 1024
    loop_operations: int = 2 * 10**8
    native_operations: int = 10**10
    delay_millis: int = 10_000
    message_characters: int = 65_536

    @property
    def product_elements(self) -> int:
        """Maximum number of elements of a product: each takes at least two bytes in the answer."""
        return max(1, self.body_bytes // 2)


def no_such_path() -> Violation:
    """The violation 009 with status 404."""
    text = "no such path or strategy; GET /strategies lists the strategies"
    return Violation("009", text, status=404)


def require_method(request: Request, *allowed: str) -> None:
    """Raises Violation 009 with status 405 for a method that is not in `allowed`, which has the
    contract's order."""
    if request.method not in allowed:
        plural = "s" if len(allowed) > 1 else ""
        text = f"this path has the method{plural} {' and '.join(allowed)} only"
        raise Violation("009", text, status=405, allow=", ".join(allowed))


def require_acceptable(request: Request, limits: Limits, *allowed: str) -> None:
    """Like `require_method`. Also raises Violation 009 with status 415 for a POST of another media
    type, and 007 where the announced or the received body is above the limit."""
    require_method(request, *allowed)
    media_type = (request.content_type or "").partition(";")[0].strip(" \t").lower()
    if request.method == "POST" and media_type != "application/json":
        raise Violation("009", "Content-Type must be application/json", status=415)
    limit = limits.body_bytes
    if max(len(request.body), request.declared_bytes or 0) > limit:
        raise Violation("007", f"the body is larger than the limit of {limit} bytes")


def require_delay(query: str, limits: Limits) -> None:
    """Raises Violation 003 for a wrong delay."""
    values, limit = parameters(query, "delay"), limits.delay_millis
    right = len(values) == 1 and _MILLIS.fullmatch(values[0]) and int(values[0]) <= limit
    if values and not right:
        raise Violation("003", f"delay: must be a whole number of milliseconds from 0 to {limit}")


def parameters(query: str, wanted: str) -> list[str]:
    """All values of one parameter in a query string, in order."""
    pairs = [pair.partition("=") for pair in query.split("&")]
    return [_decoded(value) for name, _, value in pairs if _decoded(name) == wanted]


def _decoded(escaped: str) -> str:
    return unquote_to_bytes(escaped.replace("+", " ")).decode("utf-8", errors="replace")
