"""Whether the rows of a table of single values differ: two-way analysis of variance of their
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
    """Whether rows differ by more than the residuals."""

    f: float
    degrees_of_freedom: tuple[int, int]
    p_value: float
    residual_sd: float
    """Of a logarithm: 0.03 is about 3 %."""


def of_rows(table: Sequence[Sequence[float]]) -> FTest:
    """Of a table of values above 0 with two rows and columns or more."""
    y = np.log(np.asarray(table, dtype=np.float64))
    rows, columns = y.shape
    effects = y.mean(axis=1) - y.mean()
    residuals = y - y.mean(axis=0) - effects[:, None]
    own, freedom = rows - 1, (rows - 1) * (columns - 1)
    error = float((residuals**2).sum()) / freedom
    f = columns * float(effects @ effects) / own / error
    p_value = float(scipy.special.fdtrc(own, freedom, f))
    return FTest(f, (own, freedom), p_value, math.sqrt(error))
