"""Published values of factorial designs, and designs over them."""

from __future__ import annotations

from restbench.analyse.factorial import Factorial, Values, analyse
from restbench.experiment.design import Design

STUDY = [
    (584.73, 581.95, 580.53),
    (587.28, 588.51, 578.30),
    (579.56, 579.89, 586.82),
    (560.35, 563.38, 578.81),
]
JAIN_18 = [(15, 18, 12), (45, 48, 51), (25, 28, 19), (75, 75, 81)]
PROCESSORS = [
    (85.10, 79.50, 147.90),
    (0.891, 1.047, 1.072),
    (0.955, 0.933, 1.122),
    (0.0148, 0.0126, 0.0118),
]
SEVEN_FACTORS = [(20,), (35,), (7,), (42,), (36,), (50,), (45,), (82,)]
FACTORS = {"instances": [1, 2], "pool_threads": [20, 60]}


def values(cells: list[tuple[float, ...]]) -> Values:
    return [dict(enumerate(cell, start=1)) for cell in cells]


def of(cells: list[tuple[float, ...]], **more: object) -> Factorial:
    table = {"design": "2^k r", "factors": FACTORS, "blocks": False, **more}
    return analyse(Design.model_validate(table), values(cells))
