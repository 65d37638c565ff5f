"""The values of the matrix workload between its stages."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.int64]
"""Rows x columns, row-major."""


@dataclass(frozen=True, eq=False)
class Operands:
    """A right request: left is rows x inner, right is inner x columns."""

    request_id: str | int
    left: Matrix
    right: Matrix


@dataclass(frozen=True, eq=False)
class Product:
    """The answer: rows x columns."""

    request_id: str | int
    rows: Matrix
