"""Which of two factors a table of single values depends on: two-way analysis of variance of their
logarithms without replication, additive. Source: Montgomery, Design and Analysis of Experiments,
section 4.1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # its parts are loaded when they are first used


@dataclass(frozen=True)
class FTest:
    """Whether rows (or columns) differ by more than the residuals."""

    f: float
    degrees_of_freedom: tuple[int, int]
    p_value: float


@dataclass(frozen=True)
class TwoWay:
    """The analysis of one table."""

    rows: FTest
    columns: FTest
    residual_sd: float
    """Of a logarithm: 0.03 is about 3 %."""


def analyse(table: Sequence[Sequence[float]]) -> TwoWay:
    """Of a table of values above 0 with two rows and columns or more."""
    y = np.log(np.asarray(table, dtype=np.float64))
    rows, columns = y.shape
    of_rows, of_columns = y.mean(axis=1) - y.mean(), y.mean(axis=0) - y.mean()
    residuals = y - y.mean() - of_rows[:, None] - of_columns
    freedom = (rows - 1) * (columns - 1)
    error = float((residuals**2).sum()) / freedom

    def test(square: float, own: int) -> FTest:
        f = square / own / error
        return FTest(f, (own, freedom), float(scipy.special.fdtrc(own, freedom, f)))

    return TwoWay(
        rows=test(columns * float(of_rows @ of_rows), rows - 1),
        columns=test(rows * float(of_columns @ of_columns), columns - 1),
        residual_sd=math.sqrt(error),
    )
