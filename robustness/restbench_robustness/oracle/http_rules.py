"""The order in which the contract decides: 009, 007, 002, 003, 005, 004, 001, 007, 011, 006."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from .matrix_rules import answer, multiply, operands, right_id
from .strict_json import Json, read
from .verdict import STATUSES, Verdict, Violation

GET_PATHS = ("/strategies", "/health", "/metrics", "/openapi.json", "/docs")
KERNELS = ("loops", "native")
RULE_OF_ID = "requestId: must be a string of 1 to 128 characters or a 64-bit integer"


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

    @property
    def product_elements(self) -> int:
        """Two bytes are the least an element takes in the answer."""
        return max(1, self.body_bytes // 2)


class Oracle:
    """The contract for a service with these strategies and limits."""

    def __init__(self, strategies: Iterable[str], limits: Limits) -> None:
        """`strategies` are those that take the matrix."""
        self._compute_paths = {f"/matrix/{name}" for name in strategies}
        self._limits = limits

    def judge(self, request: Request) -> Verdict | None:
        """The right answer; None for a GET that is right, whose answer is each service's own."""
        path, _, query = request.target.partition("?")
        if path in GET_PATHS:
            return None if request.method == "GET" else _wrong_method("GET")
        request_id = None
        try:
            refusal = self._refusal(request, path)
            if refusal is not None:
                return refusal
            members = _members(request)
            request_id = right_id(members)
            product = self._product(members, request_id, kernels(query))
        except Violation as violation:
            code = violation.code
            return Verdict(code, STATUSES[code], request_id, messages=violation.messages)
        return Verdict("ok", STATUSES["ok"], request_id, product=product)

    def _refusal(self, request: Request, path: str) -> Verdict | None:
        if path not in self._compute_paths:
            text = "no such path or strategy; GET /strategies lists the strategies"
            return Verdict("009", 404, messages=frozenset({text}))
        if request.method != "POST":
            return _wrong_method("POST")
        if _media_type(request.content_type) != "application/json":
            text = "Content-Type must be application/json"
            return Verdict("009", 415, messages=frozenset({text}))
        limit = self._limits.body_bytes
        if max(len(request.body), request.declared_bytes or 0) > limit:
            raise Violation("007", f"the body is larger than the limit of {limit} bytes")
        return None

    def _product(
        self, request: dict[str, Json], request_id: str | int | None, kernel_values: list[str]
    ) -> bytes:
        """The answer's bytes; Violation 003, 005, 004, 001, 007, 011 or 006."""
        if len(kernel_values) > 1 or not set(kernel_values) <= set(KERNELS):
            raise Violation("003", "kernel: must be given at most once, as loops or native")
        if request_id is None:
            raise Violation("003", RULE_OF_ID)
        one, two = operands(request)
        self._require_size(len(one), len(two), len(two[0]), "native" in kernel_values)
        return answer(request_id, multiply(one, two))

    def _require_size(self, rows: int, inner: int, columns: int, native: bool) -> None:
        limit = self._limits.product_elements
        if rows * columns > limit:
            raise Violation(
                "007", f"the product has {rows * columns} elements, the limit is {limit}"
            )
        limit = self._limits.native_operations if native else self._limits.loop_operations
        if rows * inner * columns > limit:
            raise Violation("011", f"operations: {rows * inner * columns}, the limit is {limit}")


def _wrong_method(allowed: str) -> Verdict:
    text = f"this path has the method {allowed} only"
    return Verdict("009", 405, messages=frozenset({text}), allow=allowed)


def _members(request: Request) -> dict[str, Json]:
    if not request.is_whole:
        raise Violation("002", "the body was cut off")
    members = read(request.body)
    if not isinstance(members, dict):
        raise Violation("002", "the body is not a JSON object")
    return members


def kernels(query: str) -> list[str]:
    """Every value of `kernel` in a query string, in order."""
    pairs = [pair.partition("=") for pair in query.split("&")]
    return [_decoded(value) for name, _, value in pairs if _decoded(name) == "kernel"]


def _decoded(escaped: str) -> str:
    return unquote_to_bytes(escaped.replace("+", " ")).decode("utf-8", errors="replace")


def _media_type(content_type: str | None) -> str | None:
    return content_type and content_type.partition(";")[0].strip(" \t").lower()
