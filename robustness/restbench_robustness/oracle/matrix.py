"""The contract's answer to any request to a route of the matrix, or to a page. Each rule is checked
over the whole request before the next rule; at the end the product is computed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from .strict_json import (
    INT64_MAX,
    INT64_MIN,
    Json,
    fitting,
    int64,
    object_of,
    positive,
    quoted,
    right_id,
)
from .verdict import (
    RULE_OF_ID,
    Limits,
    Request,
    Verdict,
    Violation,
    no_such_path,
    parameters,
    require_acceptable,
    require_delay,
    require_method,
)

GET_PATHS = ("/strategies", "/health", "/metrics", "/openapi.json", "/docs")
KERNELS = ("loops", "native")
MOST_ECHO_DIGITS = 24
_ELEMENT = re.compile(r" *(-?[0-9]+) *")
Rows = list[list[int]]


class Oracle:
    """The contract for a service with these strategies and limits."""

    def __init__(self, strategies: Iterable[str], limits: Limits) -> None:
        """`strategies`: those of the service that offer the workload `matrix`."""
        self._compute_paths = {f"/matrix/{name}" for name in strategies}
        self._limits = limits

    def judge(self, request: Request) -> Verdict | None:
        """The right answer; None for a right GET of a page: its content depends on the service."""
        path, _, query = request.target.partition("?")
        request_id = None
        try:
            if path in GET_PATHS:
                require_method(request, "GET")
                return None
            if path not in self._compute_paths:
                raise no_such_path()
            require_acceptable(request, self._limits, "POST")
            members = object_of(request)
            request_id = right_id(members)
            return Verdict("ok", 200, request_id, self._answer(members, request_id, query))
        except Violation as violation:
            return replace(violation.verdict, request_id=request_id)

    def _answer(self, request: dict[str, Json], request_id: str | int | None, query: str) -> bytes:
        """The body of a 200. Raises Violation 003, 005, 004, 001, 007, 011 or 006."""
        kernel_values = parameters(query, "kernel")
        if len(kernel_values) > 1 or not set(kernel_values) <= set(KERNELS):
            raise Violation("003", "kernel: must be given at most once, as loops or native")
        require_delay(query, self._limits)
        if request_id is None:
            raise Violation("003", RULE_OF_ID)
        one, two = _operands(request)
        largest = [max(abs(value) for row in matrix for value in row) for matrix in (one, two)]
        surely_fits = len(two) * largest[0] * largest[1] <= INT64_MAX
        is_native = "native" in kernel_values and surely_fits
        self._require_size(len(one), len(two), len(two[0]), is_native)
        rows = ",".join("[" + ",".join(map(str, row)) + "]" for row in _product(one, two))
        return f'{{"requestId":{quoted(str(request_id))},"rows":[{rows}]}}'.encode()

    def _require_size(self, rows: int, inner: int, columns: int, is_native: bool) -> None:
        """`is_native`: the limit of kernel=native holds."""
        elements, limit = rows * columns, self._limits.product_elements
        if elements > limit:
            raise Violation("007", f"the product has {elements} elements, the limit is {limit}")
        limit = self._limits.native_operations if is_native else self._limits.loop_operations
        if elements * inner > limit:
            raise Violation("011", f"operations: {elements * inner}, the limit is {limit}")


def _operands(request: dict[str, Json]) -> tuple[Rows, Rows]:
    """Two matrices that can be multiplied. Raises Violation 003, 005, 004 or 001."""
    matrices = [_members(request, name) for name in ("matrixOne", "matrixTwo")]
    one, two = [_values(matrix) for matrix in matrices]
    for matrix in matrices:
        _check_sizes(matrix)
    if len(one[0]) != len(two):
        raise Violation("001", "Invalid number of columns and rows for multiplication")
    return one, two


class _Matrix(NamedTuple):
    """A matrix whose members have the right types. None stands for an element that is not a 64-bit
    integer."""

    name: str
    column_count: str
    rows: list[list[int | None]]


def _members(request: dict[str, Json], name: str) -> _Matrix:
    matrix = request.get(name)
    if not isinstance(matrix, dict):
        raise Violation("003", f"{name}: must be an object with columnCount and rows")
    column_count = positive(matrix.get("columnCount"))
    if column_count is None:
        raise Violation("003", f"{name}.columnCount: must be an integer of at least 1")
    rows = matrix.get("rows")
    if not isinstance(rows, list) or not rows:
        raise Violation("003", f"{name}.rows: must be an array of at least one row")
    elements = [_elements(row, f"{name}.rows[{index}]") for index, row in enumerate(rows)]
    return _Matrix(name, column_count, elements)


def _elements(row: Json, place: str) -> list[int | None]:
    if not isinstance(row, dict):
        raise Violation("003", f"{place}: must be an object with value")
    value = row.get("value")
    if isinstance(value, list) and value:
        return [int64(item) for item in value]
    if isinstance(value, str) and value:  # digits and spaces around them, nothing else
        found = map(_ELEMENT.fullmatch, value.split(","))
        return [fitting(piece[1]) if piece else None for piece in found]
    raise Violation("003", f"{place}.value: must be a non-empty string or array of integers")


def _values(matrix: _Matrix) -> Rows:
    for i, row in enumerate(matrix.rows):
        if None in row:
            place = f"{matrix.name}.rows[{i}].value[{row.index(None)}]"
            raise Violation("005", f"{place}: must be an integer that fits 64 bits")
    return [[value for value in row if value is not None] for row in matrix.rows]


def _check_sizes(matrix: _Matrix) -> None:
    for index, row in enumerate(matrix.rows):
        count = matrix.column_count
        if str(len(row)) != count:
            shown = count if len(count) <= MOST_ECHO_DIGITS else count[:MOST_ECHO_DIGITS] + "..."
            reported = f"the number of values is {len(row)}, columnCount is {shown}"
            raise Violation("004", f"{matrix.name}.rows[{index}]: {reported}")


def _product(one: Rows, two: Rows) -> Rows:
    """The product of two matrices. Raises Violation 006 with a message for each element that does
    not fit 64 bits."""
    columns = list(zip(*two, strict=True))
    product = [[sum(map(int.__mul__, row, column)) for column in columns] for row in one]
    too_large = [
        f"rows[{i}][{j}]: the product's element does not fit 64 bits"
        for i, row in enumerate(product)
        for j, value in enumerate(row)
        if not INT64_MIN <= value <= INT64_MAX
    ]
    if too_large:
        raise Violation("006", *too_large)
    return product
