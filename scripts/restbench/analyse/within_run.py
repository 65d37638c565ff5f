"""How steady the throughput was WITHIN one run: diagnostics, never a published interval.

Seconds of one run are autocorrelated (method, rule 1): an interval over them says how this run
went, not where the next one will lie.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from restbench.experiment.statistics import (
    batch_means,
    lag1_autocorrelation,
    means_of_batches,
    von_neumann,
)

#: The method's 5 to 10 batches; each of two bins at least, or it would be no batch.
MOST_BATCHES, FEWEST_BATCHES, BINS_A_BATCH = 10, 5, 2


@dataclass(frozen=True)
class WithinRun:
    """Batch means of the window's throughput."""

    batches: int
    half_width_pct: float
    """Of the 95 % interval from the batch means, percent of the mean."""
    lag1: float
    """Of the bins: how much one says of the next."""
    von_neumann: float
    """Of the batches: near 0 where they are as good as independent."""


def of(counts: Sequence[int]) -> WithinRun | None:
    """From the window's counts per bin; None where they make no five batches, or are all zero."""
    batches = min(MOST_BATCHES, len(counts) // BINS_A_BATCH)
    if batches < FEWEST_BATCHES or not any(counts):
        return None
    interval = batch_means(counts, batches)
    if interval.mean == 0:
        return None
    return WithinRun(
        batches=batches,
        half_width_pct=100 * interval.half_width / interval.mean,
        lag1=lag1_autocorrelation(counts),
        von_neumann=von_neumann(means_of_batches(counts, batches)),
    )
