"""The contract's answer to whatever is sent to a route of the matrix, or to a page."""

from __future__ import annotations

from collections.abc import Iterable

from .http import (
    RULE_OF_ID,
    no_such_path,
    not_json,
    object_of,
    parameters,
    require_body_size,
    require_delay,
    wrong_method,
)
from .matrix import answer, multiply, operands
from .strict_json import Json, right_id
from .verdict import STATUSES, Limits, Request, Verdict, Violation

GET_PATHS = ("/strategies", "/health", "/metrics", "/openapi.json", "/docs")
KERNELS = ("loops", "native")


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
            return None if request.method == "GET" else wrong_method("GET")
        request_id = None
        try:
            refusal = self._refusal(request, path)
            if refusal is not None:
                return refusal
            members = object_of(request)
            request_id = right_id(members)
            product = self._product(members, request_id, query)
        except Violation as violation:
            code = violation.code
            return Verdict(code, STATUSES[code], request_id, messages=violation.messages)
        return Verdict("ok", STATUSES["ok"], request_id, product=product)

    def _refusal(self, request: Request, path: str) -> Verdict | None:
        if path not in self._compute_paths:
            return no_such_path()
        if request.method != "POST":
            return wrong_method("POST")
        if (refusal := not_json(request)) is not None:
            return refusal
        require_body_size(request, self._limits)
        return None

    def _product(self, request: dict[str, Json], request_id: str | int | None, query: str) -> bytes:
        """The answer's bytes; Violation 003, 005, 004, 001, 007, 011 or 006."""
        kernel_values = parameters(query, "kernel")
        if len(kernel_values) > 1 or not set(kernel_values) <= set(KERNELS):
            raise Violation("003", "kernel: must be given at most once, as loops or native")
        require_delay(query, self._limits)
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
