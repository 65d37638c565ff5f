"""What is decided before a workload sees a request, and what query strings say."""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes

from .strict_json import Json, read
from .verdict import Limits, Request, Verdict, Violation

RULE_OF_ID = "requestId: must be a string of 1 to 128 characters or a 64-bit integer"
_MILLIS = re.compile(r"[0-9]{1,6}")


def no_such_path() -> Verdict:
    """009 with 404."""
    text = "no such path or strategy; GET /strategies lists the strategies"
    return Verdict("009", 404, messages=frozenset({text}))


def wrong_method(*allowed: str) -> Verdict:
    """009 with 405; `allowed` are the path's methods, in the contract's order."""
    plural = "s" if len(allowed) > 1 else ""
    text = f"this path has the method{plural} {' and '.join(allowed)} only"
    return Verdict("009", 405, messages=frozenset({text}), allow=", ".join(allowed))


def not_json(request: Request) -> Verdict | None:
    """009 with 415, where the media type is another."""
    if media_type(request.content_type) == "application/json":
        return None
    text = "Content-Type must be application/json"
    return Verdict("009", 415, messages=frozenset({text}))


def require_body_size(request: Request, limits: Limits) -> None:
    """Violation 007 above the limit, announced or received."""
    limit = limits.body_bytes
    if max(len(request.body), request.declared_bytes or 0) > limit:
        raise Violation("007", f"the body is larger than the limit of {limit} bytes")


def require_delay(query: str, limits: Limits) -> None:
    """Violation 003 where a delay is given and wrong."""
    values, limit = parameters(query, "delay"), limits.delay_millis
    right = len(values) == 1 and _MILLIS.fullmatch(values[0]) and int(values[0]) <= limit
    if values and not right:
        raise Violation("003", f"delay: must be a whole number of milliseconds from 0 to {limit}")


def object_of(request: Request) -> dict[str, Json]:
    """The members of a body; Violation 002."""
    if not request.is_whole:
        raise Violation("002", "the body was cut off")
    members = read(request.body)
    if not isinstance(members, dict):
        raise Violation("002", "the body is not a JSON object")
    return members


def parameters(query: str, wanted: str) -> list[str]:
    """All values of one parameter in a query string, in order."""
    pairs = [pair.partition("=") for pair in query.split("&")]
    return [_decoded(value) for name, _, value in pairs if _decoded(name) == wanted]


def _decoded(escaped: str) -> str:
    return unquote_to_bytes(escaped.replace("+", " ")).decode("utf-8", errors="replace")


def media_type(content_type: str | None) -> str | None:
    """In lower case, without parameters."""
    return content_type and content_type.partition(";")[0].strip(" \t").lower()
