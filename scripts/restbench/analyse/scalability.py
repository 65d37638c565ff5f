"""How throughput grows with N instances, users or workers: Gunther's Universal Scalability Law and
Amdahl's, fitted block by block; and when a fit may be published.

X(N) = rate N / (1 + contention (N - 1) + coherency N (N - 1)); Amdahl's law has no coherency.
Source: Gunther, Guerrilla Capacity Planning, chapters 4 to 6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy  # its parts are loaded when they are first used

from restbench.experiment.statistics import Interval, t_interval

#: A fit that is off by more, as a root mean square of logarithms, describes nothing.
WORST_RMS = 0.05
FEWEST_LEVELS = 6
#: Where the law's two terms part.
NEEDED_LEVELS = (1, 2, 4)
_START_SIGMA, _START_KAPPA = 0.1, 0.001
_PRECISION = 1e-15


@dataclass(frozen=True)
class Scaling:
    """The law fitted to one series."""

    rate: float
    """The throughput at N = 1 (lambda)."""
    contention: float
    """The part that only one can do at a time, 0 to 1 (sigma)."""
    coherency: float
    """What each costs every other; 0 or more (kappa)."""
    rms: float = 0.0
    """Root mean square of ln(measured / fitted)."""

    @property
    def peak(self) -> float:
        """The N from which on more makes it slower; infinite without coherency."""
        return math.sqrt((1 - self.contention) / self.coherency) if self.coherency else math.inf


def fit(levels: Sequence[float], throughputs: Sequence[float], *, amdahl: bool = False) -> Scaling:
    """Least squares of ln X over all allowed parameters, for Amdahl's law without coherency.
    ValueError where there are fewer levels than parameters or a value is not above 0."""
    n, x = np.asarray(levels, dtype=np.float64), np.asarray(throughputs, dtype=np.float64)
    count = 2 if amdahl else 3
    if n.size < count or min(n.min(), x.min()) <= 0:
        raise ValueError(f"a fit of {count} parameters needs as many levels, all above 0")

    def residuals(parameters: npt.NDArray[np.float64]) -> Any:
        log_rate, contention, coherency = [*parameters, 0.0][:3]
        return np.log(x / n) - log_rate + np.log1p((contention + coherency * n) * (n - 1))

    found = scipy.optimize.least_squares(
        residuals,
        [math.log(x[0] / n[0]), _START_SIGMA, _START_KAPPA][:count],
        bounds=([-np.inf, 0.0, 0.0][:count], [np.inf, 1.0, np.inf][:count]),
        x_scale="jac",
        xtol=_PRECISION,
        ftol=_PRECISION,
        gtol=_PRECISION,
    )
    log_rate, contention, coherency = [*map(float, found.x), 0.0][:3]
    rms = math.sqrt(float(np.mean(found.fun**2)))
    return Scaling(math.exp(log_rate), contention, coherency, rms)


def published(
    levels: Sequence[int],
    blocks: Sequence[Sequence[float]],
    *,
    amdahl: bool = False,
) -> tuple[Interval, Interval, Interval] | str:
    """Rate, contention and coherency with their t intervals over blocks, each the throughputs of
    one block at `levels`; or the line that says which condition of publishing them failed."""
    law = "Amdahl's law" if amdahl else "the Universal Scalability Law"
    if lack := _lack(levels, len(blocks)):
        return f"{law} is not fitted: {lack}"
    fits = [fit(levels, each, amdahl=amdahl) for each in blocks]
    if (worst := max(each.rms for each in fits)) > WORST_RMS:
        return f"{law} does not describe these: rms of ln {worst:.3f}, at most {WORST_RMS:g}"
    return (
        t_interval([each.rate for each in fits]),
        t_interval([each.contention for each in fits]),
        t_interval([each.coherency for each in fits]),
    )


def _lack(levels: Sequence[int], blocks: int) -> str:
    if len(levels) < FEWEST_LEVELS:
        return f"{len(levels)} levels, {FEWEST_LEVELS} are needed"
    if missing := [str(each) for each in NEEDED_LEVELS if each not in levels]:
        return f"N = {', '.join(missing)} is not among the levels"
    return f"{blocks} block, 2 are needed for an interval" if blocks < 2 else ""
