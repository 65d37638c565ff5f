"""How much of a response each factor explains: the analysis of a 2^k·r or 2^(k-p)·r design.

y_ij is the response of cell i of n (Yates order) in block j of r. Source: Jain, The Art of Computer
Systems Performance Analysis, chapters 17 to 19; Lenth, Technometrics 31 (1989) for one run a cell.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy  # its parts are loaded when they are first used

from restbench.analyse.comparison import series
from restbench.analyse.measures import Row
from restbench.experiment.design import Column, Design
from restbench.experiment.experiment import Experiment
from restbench.experiment.statistics import (
    CONFIDENCE,
    holm_adjusted,
    t_quantile,
    two_sided_p,
    two_sided_t,
)
from restbench.failures import CellsFailed

Array: TypeAlias = npt.NDArray[np.float64]
Values: TypeAlias = Sequence[Mapping[int, float]]
"""values[cell in Yates order][block]; a block that is not there was not measured."""

#: From this ratio of the cells' means on, effects multiply rather than add.
MULTIPLICATIVE_FROM = 3.0
_SPREAD_AT_MOST = 10.0
_LARGE_RESIDUAL = 3.0
_ROUNDING = 1e-13


@dataclass(frozen=True)
class Effect:
    """A column of the sign table. `q` is half of high less low, in the unit of the response (of its
    natural logarithm under the multiplicative model). Without replication only q and share."""

    column: Column
    name: str
    q: float
    half_width: float | None
    share_pct: float
    """The effect's share of the response's variation: a description, no test."""
    p: float | None
    p_holm: float | None

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the interval of q; q twice without one."""
        return self.q - (self.half_width or 0.0), self.q + (self.half_width or 0.0)

    @property
    def ratio(self) -> tuple[float, float, float]:
        """High over low with the ends of its interval: for the multiplicative model."""
        low, high = self.ends
        return math.exp(2 * self.q), math.exp(2 * low), math.exp(2 * high)


@dataclass(frozen=True)
class Factorial:
    """The result of a factorial design's analysis."""

    design: Design
    model: Literal["additive", "multiplicative"]
    confidence: float
    blocks: tuple[int, ...]
    """The blocks that have every cell: r = len(blocks)."""
    left_out: tuple[str, ...]
    """A sentence for each block that is left out."""
    means: tuple[float, ...]
    """The mean of each cell, on the scale of the model."""
    residuals: tuple[tuple[float, ...], ...]
    """[cell][block], on the scale of the model."""
    order: tuple[tuple[float, ...], ...]
    """The order of measurement, [cell][block]: the block's number."""
    q0: float
    effects: tuple[Effect, ...]
    """In Yates order: A, B, AB, C, ..."""
    ss_blocks: float
    """The sum of squares between blocks; 0 where the design keeps it in the error."""
    sse: float
    sst: float
    degrees_of_freedom: int
    """The error's degrees of freedom; 0 without replication."""
    warnings: tuple[str, ...]

    @property
    def s_e(self) -> float:
        """The standard deviation of one run's error. Raises ValueError without replication."""
        if self.degrees_of_freedom == 0:
            raise ValueError("one run a cell: its error is not known")
        return math.sqrt(self.sse / self.degrees_of_freedom)

    @property
    def s_q(self) -> float:
        """The standard error of every effect."""
        return self.s_e / math.sqrt(len(self.means) * len(self.blocks))

    def half_width(self, squares: float = 1.0, future_runs: float = math.inf) -> float:
        """The half-width of the interval of a weighted sum of coefficients (q0 is one of them),
        with `squares` as the sum of the squared weights: one effect, a contrast of several, or all
        of them, which give a cell's mean. With `future_runs`, of the mean of so many more runs."""
        variance = squares / (len(self.means) * len(self.blocks)) + 1 / future_runs
        quantile = two_sided_t(self.degrees_of_freedom, self.confidence)
        return quantile * self.s_e * math.sqrt(variance)

    @property
    def block_share_pct(self) -> float:
        """The share of the variation that is between blocks."""
        return _percent(self.ss_blocks, self.sst)

    @property
    def error_share_pct(self) -> float:
        """The share of the variation that is between runs of one cell."""
        return _percent(self.sse, self.sst)

    @property
    def smallest_detectable_effect(self) -> float:
        """The smallest |q| that the test of all effects together could distinguish from 0."""
        level = (1 - self.confidence) / len(self.effects)
        return t_quantile(1 - level / 2, self.degrees_of_freedom) * self.s_q

    @property
    def lenth_margin(self) -> float:
        """With one run per cell: the margin that mere noise mostly stays within."""
        sizes = [abs(each.q) for each in self.effects]
        limit = 2.5 * 1.5 * median(sizes)
        pseudo_error = 1.5 * median([size for size in sizes if size < limit] or [0.0])
        return pseudo_error * two_sided_t(len(sizes) / 3, self.confidence)

    def distinguishable(self) -> list[Effect]:
        """The effects that Holm's test distinguishes from 0, the largest share first."""
        level = 1 - self.confidence
        found = [each for each in self.effects if each.p_holm is not None and each.p_holm <= level]
        return sorted(found, key=lambda each: -each.share_pct)

    def to_json(self) -> dict[str, object]:
        """For run.json: all fields and derived values; null where r = 1 gives no error estimate."""
        replicated = self.degrees_of_freedom > 0
        return asdict(self) | {
            "kind": "factorial",
            "design": self.design.model_dump(mode="json"),
            "defining_relation": self.design.defining_relation,
            "cells": self.design.cells(),
            "block_share_pct": self.block_share_pct,
            "error_share_pct": self.error_share_pct,
            "s_q": self.s_q if replicated else None,
            "could_have_seen": self.smallest_detectable_effect if replicated else None,
            "lenth_margin": None if replicated else self.lenth_margin,
        }


def of_run(definition: Experiment, rows: Sequence[Row]) -> Factorial | None:
    """The effects of a run's design, from its blocks; None where the run has no factorial design.
    Raises CellsFailed where they cannot be computed (`analyse`)."""
    design, by_cell = definition.factorial, {row.cell: row for row in rows}
    if design is None:
        return None
    corners = [by_cell.get(cell) for cell in definition.corners()]
    return analyse(design, [series(row, design.response).values if row else {} for row in corners])


def analyse(design: Design, values: Values, confidence: float = CONFIDENCE) -> Factorial:
    """The effects of a design on its response. Raises CellsFailed where no block has every cell, or
    where the multiplicative model was asked for and a value is not above 0."""
    blocks, left_out = _whole_blocks(design, values)
    y = np.array([[cell[block] for block in blocks] for cell in values], dtype=np.float64)
    model = _model(design, y)
    z = np.log(y) if model == "multiplicative" else y
    n, r = z.shape
    means, q0 = z.mean(axis=1), float(z.mean())
    of_block = _exact(z.mean(axis=0) - q0, z) if design.blocks else np.zeros(r)
    residuals = _exact(z - means[:, None] - of_block, z)
    freedom = (n - 1 if design.blocks else n) * (r - 1)
    found = Factorial(
        design=design,
        model=model,
        confidence=confidence,
        blocks=blocks,
        left_out=left_out,
        means=tuple(means.tolist()),
        residuals=tuple(map(tuple, residuals.tolist())),
        order=(blocks,) * len(y),
        q0=q0,
        effects=(),
        ss_blocks=n * float(of_block @ of_block),
        sse=float((residuals**2).sum()),
        sst=float((_exact(z - q0, z) ** 2).sum()),
        degrees_of_freedom=freedom,
        warnings=(),
    )
    return replace(found, effects=_effects(found), warnings=tuple(_warnings(found, y, z)))


def _effects(found: Factorial) -> tuple[Effect, ...]:
    """q, interval and p of every column; the standard error is the same for all of them."""
    columns, runs = found.design.columns(), len(found.means) * len(found.blocks)
    means, signs = np.array(found.means), np.array([column.signs for column in columns])
    q: list[float] = _exact(signs @ means / means.size, means).tolist()
    half_width: float | None = None
    p: list[float] | list[None] = [None] * len(q)
    p_holm = p
    if freedom := found.degrees_of_freedom:
        half_width = found.half_width()
        known = [two_sided_p(each, found.s_q, freedom) for each in q]
        p, p_holm = known, holm_adjusted(known)
    return tuple(
        Effect(
            column=column,
            name=found.design.sum_named(column),
            q=q[i],
            half_width=half_width,
            share_pct=_percent(runs * q[i] ** 2, found.sst),
            p=p[i],
            p_holm=p_holm[i],
        )
        for i, column in enumerate(columns)
    )


def _exact(differences: Array, values: Array) -> Array:
    """Differences with 0 where they are rounding errors: a count that never varies has p = 1."""
    return np.where(np.abs(differences) > _ROUNDING * np.abs(values).max(), differences, 0.0)


def _percent(part: float, whole: float) -> float:
    return 100 * part / whole if whole else 0.0


def _whole_blocks(design: Design, values: Values) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The blocks that have a finite value of every cell, and a sentence for each other one."""
    whole, left_out = [], []
    for block in sorted({block for cell in values for block in cell}):
        lacking = [
            i for i, cell in enumerate(values) if not math.isfinite(cell.get(block, math.nan))
        ]
        if not lacking:
            whole.append(block)
            continue
        others = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
        cell = design.cell_named(lacking[0])
        left_out.append(f"Block {block} is left out: it has no value of {cell}{others}.")
    if not whole:
        why = " ".join(left_out) or "Nothing was measured."
        raise CellsFailed(f"factorial: no block has all {design.cell_count} cells. {why}")
    return tuple(whole), tuple(left_out)


def _model(design: Design, y: Array) -> Literal["additive", "multiplicative"]:
    """The model asked for; `auto` looks at the cells' means."""
    if design.model == "multiplicative" and y.min() <= 0:
        raise CellsFailed(
            f'factorial: model = "multiplicative" needs values above 0, one is {y.min():g}'
        )
    if design.model != "auto":
        return design.model
    means = y.mean(axis=1)
    multiplies = y.min() > 0 and means.max() >= MULTIPLICATIVE_FROM * means.min()
    return "multiplicative" if multiplies else "additive"


def _warnings(found: Factorial, y: Array, z: Array) -> Iterator[str]:
    """Reasons against the model; y is in the response's unit, z on the model's scale."""
    if found.model == "additive" and y.min() > 0 and y.max() > _SPREAD_AT_MOST * y.min():
        times = f"{y.max() / y.min():.0f} times the smallest"
        yield f'The largest value is {times}: model = "multiplicative" may fit better.'
    if found.degrees_of_freedom == 0:
        return
    residuals, limit = np.array(found.residuals), _LARGE_RESIDUAL * found.s_e
    for i, j in np.argwhere(np.abs(residuals) > limit):
        where = f"{found.design.cell_named(int(i))}, block {found.blocks[j]}"
        yield f"{where}: the residual {residuals[i, j]:.3g} is beyond {_LARGE_RESIDUAL:g} s_e."
    p = 1.0
    # With block effects taken out, each block's residuals sum to 0: none can follow its number.
    if residuals.any() and not found.design.blocks:
        p = float(scipy.stats.spearmanr(residuals.ravel(), np.array(found.order).ravel()).pvalue)
    if p < 1 - CONFIDENCE:
        yield f"The residuals correlate with the order of measurement (Spearman, p = {p:.2g})."
    # The ratio alone is above 10 in most sound designs with r = 3 (21 in the study's), as each
    # variance has 2 degrees of freedom. So a test decides whether chance explains it.
    spread = z.var(axis=1)
    uneven = z.shape[1] >= 3 and spread.max() > _SPREAD_AT_MOST * spread.min()
    if uneven and (spread.min() == 0 or scipy.stats.bartlett(*z).pvalue < 1 - CONFIDENCE):
        widest = found.design.cell_named(int(spread.argmax()))
        yield f"The cells vary unequally, {widest} most (Bartlett, p < {1 - CONFIDENCE:.2g})."
