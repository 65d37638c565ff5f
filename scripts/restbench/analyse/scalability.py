"""How throughput grows with N instances, users or workers: Gunther's Universal Scalability Law and
Amdahl's, fitted block by block; and when a fit may be published.

X(N) = λN / (1 + σ(N − 1) + κN(N − 1)); Amdahl's law is κ = 0, its limit λ/σ. Source: Gunther,
Guerrilla Capacity Planning, chapters 4 to 6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

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
    """λ: the throughput at N = 1."""
    contention: float
    """σ: the part that only one can do at a time, 0 to 1."""
    coherency: float
    """κ: what each costs every other; 0 or more."""
    rms: float
    """Root mean square of ln(measured / fitted)."""

    def at(self, n: float) -> float:
        """The throughput that the law gives."""
        return float(self.rate * n / (1 + n_terms(n, self.contention, self.coherency)))

    @property
    def peak(self) -> float:
        """The N from which on more makes it slower; infinite without coherency."""
        return math.sqrt((1 - self.contention) / self.coherency) if self.coherency else math.inf

    @property
    def limit(self) -> float:
        """What throughput approaches without coherency, λ/σ; infinite without contention."""
        return self.rate / self.contention if self.contention else math.inf


@dataclass(frozen=True)
class Published:
    """The parameters over blocks, or the line that says why they are not published."""

    rate: Interval | None = None
    contention: Interval | None = None
    coherency: Interval | None = None
    lack: str = ""


def n_terms(
    n: float | npt.NDArray[np.float64], contention: float, coherency: float
) -> float | npt.NDArray[np.float64]:
    """What N costs beyond the first: σ(N − 1) + κN(N − 1)."""
    return contention * (n - 1) + coherency * n * (n - 1)


def fit(levels: Sequence[float], throughputs: Sequence[float], *, amdahl: bool = False) -> Scaling:
    """Least squares of ln X over λ > 0, 0 ≤ σ ≤ 1, κ ≥ 0 (κ = 0 for Amdahl's). ValueError where
    there are fewer levels than parameters or a value is not above 0."""
    n, x = np.asarray(levels, dtype=np.float64), np.asarray(throughputs, dtype=np.float64)
    start = [float(x[0] / n[0]), _START_SIGMA, *([] if amdahl else [_START_KAPPA])]
    if n.size < len(start) or min(n.min(), x.min()) <= 0:
        raise ValueError(f"a fit of {len(start)} parameters needs as many levels, all above 0")

    def residuals(parameters: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        log_rate, contention, coherency = *parameters[:2], 0.0 if amdahl else parameters[2]
        fitted = log_rate + np.log(n) - np.log1p(n_terms(n, contention, coherency))
        difference: npt.NDArray[np.float64] = np.log(x) - fitted
        return difference

    found = scipy.optimize.least_squares(
        residuals,
        [math.log(start[0]), *start[1:]],
        bounds=([-np.inf, *[0.0] * (len(start) - 1)], [np.inf, 1.0, np.inf][: len(start)]),
        x_scale="jac",
        xtol=_PRECISION,
        ftol=_PRECISION,
        gtol=_PRECISION,
    )
    log_rate, contention, *rest = (float(each) for each in found.x)
    rms = math.sqrt(float(np.mean(found.fun**2)))
    return Scaling(math.exp(log_rate), contention, rest[0] if rest else 0.0, rms)


def published(
    levels: Sequence[int],
    blocks: Sequence[Sequence[float]],
    *,
    cores: int | None = None,
    amdahl: bool = False,
) -> Published:
    """The law over blocks, each the throughputs of one block at `levels`, with t intervals.

    `cores` is given where N are instances: of more than cores none runs by itself. The line says
    which condition of publishing a fit failed.
    """
    name = "Amdahl's law" if amdahl else "the Universal Scalability Law"
    if lack := _lack(levels, len(blocks), cores):
        return Published(lack=f"{name} is not fitted: {lack}")
    fits = [fit(levels, each, amdahl=amdahl) for each in blocks]
    if (worst := max(each.rms for each in fits)) > WORST_RMS:
        return Published(
            lack=f"{name} does not describe these: rms of ln {worst:.3f}, at most {WORST_RMS:g}"
        )
    return Published(
        t_interval([each.rate for each in fits]),
        t_interval([each.contention for each in fits]),
        None if amdahl else t_interval([each.coherency for each in fits]),
    )


def _lack(levels: Sequence[int], blocks: int, cores: int | None) -> str:
    if len(levels) < FEWEST_LEVELS:
        return f"{len(levels)} levels, {FEWEST_LEVELS} are needed"
    if missing := [str(each) for each in NEEDED_LEVELS if each not in levels]:
        return f"N = {', '.join(missing)} is not among the levels"
    if cores is not None and max(levels) > cores:
        return f"N = {max(levels)} is more than the {cores} cores"
    return f"{blocks} block, 2 are needed for an interval" if blocks < 2 else ""
