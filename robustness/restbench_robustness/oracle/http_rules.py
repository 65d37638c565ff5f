"""The order in which the contract decides: 009, 007, 002, 003, 005, 004, 001, 007, 006."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from .matrix_rules import operands, right_id
from .product import answer, multiply
from .strict_json import Json, read
from .verdict import MESSAGE_001, STATUSES, Verdict, Violation

GET_PATHS = ("/strategies", "/health", "/metrics", "/openapi.json", "/docs")
KERNELS = ("loops", "native")


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


class Oracle:
    """The contract for a service with these strategies and this limit."""

    def __init__(self, strategies: Iterable[str], body_limit_bytes: int) -> None:
        """A product may have half as many elements as the limit has bytes."""
        self._compute_paths = {f"/matrix/{name}" for name in strategies}
        self._body_limit_bytes = body_limit_bytes
        self._most_elements = max(1, body_limit_bytes // 2)

    def judge(self, request: Request) -> Verdict | None:
        """The right answer; None for a GET that is right, whose answer is each service's own."""
        path, _, query = request.target.partition("?")
        if path in GET_PATHS:
            if request.method == "GET":
                return None
            return Verdict("009", 405, allow="GET")
        refusal = self._refusal(request, path)
        return refusal or self._content(request, kernels(query))

    def _refusal(self, request: Request, path: str) -> Verdict | None:
        if path not in self._compute_paths:
            return Verdict("009", 404)
        if request.method != "POST":
            return Verdict("009", 405, allow="POST")
        if _media_type(request.content_type) != "application/json":
            return Verdict("009", 415)
        if max(len(request.body), request.declared_bytes or 0) > self._body_limit_bytes:
            return Verdict("007", 413)
        return None

    def _content(self, request: Request, kernel_values: list[str]) -> Verdict:
        try:
            members = read(request.body)
            if not isinstance(members, dict) or not request.is_whole:
                raise Violation("002")
        except Violation as violation:
            return Verdict(violation.code, STATUSES[violation.code])
        return self._members(members, kernel_values)

    def _members(self, request: dict[str, Json], kernel_values: list[str]) -> Verdict:
        request_id = right_id(request)
        try:
            if len(kernel_values) > 1 or not set(kernel_values) <= set(KERNELS):
                raise Violation("003", "kernel")
            if request_id is None:
                raise Violation("003", "requestId")
            one, two = operands(request)
            if len(one) * len(two[0]) > self._most_elements:
                return Verdict("007", 413, request_id)
            body = answer(request_id, multiply(one, two))
        except Violation as violation:
            code = violation.code
            message = MESSAGE_001 if code == "001" else None
            return Verdict(
                code, STATUSES[code], request_id, places=violation.places, message=message
            )
        return Verdict("ok", STATUSES["ok"], request_id, product=body)


def kernels(query: str) -> list[str]:
    """Every value of `kernel` in a query string, in order."""
    pairs = [pair.partition("=") for pair in query.split("&")]
    return [_decoded(value) for name, _, value in pairs if _decoded(name) == "kernel"]


def _decoded(escaped: str) -> str:
    return unquote_to_bytes(escaped.replace("+", " ")).decode("utf-8", errors="replace")


def _media_type(content_type: str | None) -> str | None:
    return content_type and content_type.partition(";")[0].strip(" \t").lower()
