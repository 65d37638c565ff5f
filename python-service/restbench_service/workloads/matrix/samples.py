"""Requests that show how long the matrix workload takes, by its bytes and its multiplications."""

import json

from ..workload import Sample
from .workload import MatrixWorkload

SHAPES = {
    "loops": [(30, 20, 20), (400, 50, 20)],
    "native": [(30, 20, 20), (400, 50, 20), (200, 200, 200)],
}
"""Rows, inner size and columns for each kernel, small to large: some milliseconds at most, except
for the plain loops, of which 400 rows take thirty."""
_STEP = 289
"""Prime to 1000: values take turns from 0 to 999, so they have as many digits as the study's."""


def samples(most_elements: int) -> list[Sample]:
    """Of each kernel, in the order of SHAPES."""
    return [
        Sample(MatrixWorkload(kernel, most_elements), _body(*shape))
        for kernel, shapes in SHAPES.items()
        for shape in shapes
    ]


def _body(rows: int, inner: int, columns: int) -> bytes:
    one, two = _matrix(rows, inner), _matrix(inner, columns)
    return json.dumps({"requestId": "sample", "matrixOne": one, "matrixTwo": two}).encode()


def _matrix(rows: int, columns: int) -> dict[str, object]:
    values = [str(_STEP * number % 1000) for number in range(rows * columns)]
    return {
        "columnCount": columns,
        "rows": [
            {"value": ",".join(values[start : start + columns])}
            for start in range(0, rows * columns, columns)
        ],
    }
