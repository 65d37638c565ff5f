"""How fast the machine is now: machines of one model differ twofold, and each drifts (rule 12)."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

#: Each of the two parts of the probe is repeated for so long; its best repetition counts.
PART_S = 0.15
INTEGERS = 20_000
COPIED_BYTES = 8 << 20


def probe() -> dict[str, float]:
    """`integer_loops_per_s`, where a loop is 20 000 additions in the interpreter, and
    `copied_gib_per_s`, by copies of 8 MiB. Takes 0.3 s of one core."""
    source = np.ones(COPIED_BYTES, dtype=np.uint8)
    target = np.empty_like(source)
    return {
        "integer_loops_per_s": 1 / _best_s(_add),
        "copied_gib_per_s": COPIED_BYTES / 2**30 / _best_s(lambda: np.copyto(target, source)),
    }


def _add() -> None:
    total = 0
    for number in range(INTEGERS):
        total += number


def _best_s(work: Callable[[], None]) -> float:
    best = float("inf")
    ends = time.perf_counter() + PART_S
    while (begun := time.perf_counter()) < ends:
        work()
        best = min(best, time.perf_counter() - begun)
    return best
