"""The classes of MG and the norms that verify them (NPB 3.4, mg.f)."""

from dataclasses import dataclass

from ..random_numbers import SEED

SMOOTHER_A = (-3 / 8, 1 / 32, -1 / 64)
SMOOTHER_B = (-3 / 17, 1 / 33, -1 / 61)


@dataclass(frozen=True)
class GridClass:
    """points**3 points, a power of two, and the norm of the last residual.

    `norm` is that after `norm_after` iterations; where that is not the last one, the last has to
    be below `noise`.
    """

    points: int
    iterations: int
    norm: float
    smoother: tuple[float, float, float] = SMOOTHER_A
    norm_after: int | None = None
    noise: float = 0.0
    seed: int = SEED


CLASSES = {
    "S": GridClass(32, 4, 0.5307707005734e-04),
    "W": GridClass(128, 4, 0.6467329375339e-05),
    "A": GridClass(256, 4, 0.2433365309069e-05),
    "B": GridClass(256, 20, 0.1800564401355e-05, SMOOTHER_B),
    "C": GridClass(512, 20, 0.5706732285740e-06, SMOOTHER_B),
    # NPB 3.0's class W ends in rounding noise, which no reference value can verify.
    "W30": GridClass(64, 40, 0.183103168997e-04, norm_after=4, noise=1e-16),
}
