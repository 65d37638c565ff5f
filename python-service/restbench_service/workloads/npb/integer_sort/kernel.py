"""The run of IS: keys, one ranking untimed, ten timed, the check of the whole order."""

from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...workload import ParallelLoop
from .. import random_numbers
from ..kernel import Outcome
from .classes import CHECKS, CLASSES, ITERATIONS, SortClass
from .ranking import Ranking, histogram_count

Integers = NDArray[np.int64]
_KEYS_AT_ONCE = random_numbers.CHUNK // 4


class IntegerSort:
    """IS. Its input is the keys, which a run changes and therefore copies."""

    classes = CLASSES

    def memory_bytes(self, size: SortClass) -> int:
        """Keys and their sorted copy; the histograms, their sum, a new one and a copy; while the
        keys are made, states, sums and copies of a part.
        """
        histograms = histogram_count(size.keys) + 3
        made = 8 * min(size.keys, _KEYS_AT_ONCE)
        return 8 * (2 * size.keys + histograms * size.key_range + made)

    def input_bytes(self, size: SortClass) -> int:
        """The keys."""
        return 8 * size.keys

    def operations(self, size: SortClass) -> float:
        """Keys ranked."""
        return float(ITERATIONS * size.keys)

    def generate(self, size: SortClass) -> Integers:
        """The keys, in the order they are made."""
        keys = np.empty(size.keys, np.int64)
        _make_keys(size, keys)
        return keys

    def run(self, size: SortClass, given: Integers | None, loop: ParallelLoop) -> Outcome:
        """All checks counted; verified when none failed."""
        ranking = Ranking(size.keys, size.key_range, loop)
        if given is None:
            _make_keys(size, ranking.keys)
        else:
            ranking.keys[...] = given
        _passed_in(size, 1, ranking)
        began = perf_counter()
        passed = sum(_passed_in(size, iteration, ranking) for iteration in range(1, ITERATIONS + 1))
        seconds = perf_counter() - began
        passed += _is_order(ranking.keys, ranking.up_to)
        return Outcome(passed == CHECKS, passed, CHECKS, ITERATIONS, seconds)


def _make_keys(size: SortClass, keys: Integers) -> None:
    """floor(range/4 * the sum of four numbers), in integers: the same and exact."""
    shift = np.uint64(random_numbers.BITS + 2 - size.range_log2)
    for start in range(0, size.keys, _KEYS_AT_ONCE):
        part = keys[start : start + _KEYS_AT_ONCE]
        states = random_numbers.states(size.seed, 4 * start, 4 * part.size)
        part[...] = (states[0::4] + states[1::4] + states[2::4] + states[3::4]) >> shift


def _passed_in(size: SortClass, iteration: int, ranking: Ranking) -> int:
    """Change two keys, rank all, and count the test keys that have the rank they should."""
    keys = ranking.keys
    keys[iteration] = iteration
    keys[iteration + ITERATIONS] = size.key_range - iteration
    tests = keys[list(size.test_positions)]
    smaller = ranking.rank()[tests - 1]
    expected = [rank + size.offset(j, iteration) for j, rank in enumerate(size.test_ranks)]
    in_range = (tests > 0) & (tests < size.keys)
    return int(np.count_nonzero(in_range & (smaller == expected)))


def _is_order(keys: Integers, up_to: Any) -> bool:
    """Whether the ranks are those of the keys sorted by other means."""
    values = np.arange(up_to.size, dtype=np.int32)
    return np.array_equal(
        np.searchsorted(np.sort(keys.astype(np.int32)), values, side="right"), up_to
    )
