"""The classes of CG and the estimates that verify them (NPB 3.4, cg.f)."""

from dataclasses import dataclass

from ..random_numbers import SEED

INNER_STEPS = 25


@dataclass(frozen=True)
class GradientClass:
    """The matrix is rows x rows; each of its generating vectors has `nonzeros` random entries."""

    rows: int
    nonzeros: int
    iterations: int
    shift: float
    zeta: float
    inner_steps: int = INNER_STEPS
    seed: int = SEED


CLASSES = {
    "S": GradientClass(1400, 7, 15, 10.0, 8.5971775078648),
    "W": GradientClass(7000, 8, 15, 12.0, 10.362595087124),
    "A": GradientClass(14000, 11, 15, 20.0, 17.130235054029),
    "B": GradientClass(75000, 13, 75, 60.0, 22.712745482631),
    "C": GradientClass(150000, 15, 75, 110.0, 28.973605592845),
}
