"""IS: the ranks of integer keys, by counting (NPB 3.4, is.c).

A ranking is a histogram of the keys, by a loop over keys and a loop over values, and its running
sum. A run has one untimed ranking, ten timed ones, and a check of the order of all keys.
"""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..workload import ParallelLoop
from . import random_numbers
from .kernel import Outcome, lines_of

Integers = NDArray[np.int64]
ITERATIONS = 10
TEST_KEYS = 5
CHECKS = TEST_KEYS * ITERATIONS + 1
"""The number of checks: each test key's rank in each iteration, and finally the complete order."""
MOST_HISTOGRAMS = 8
"""Each task makes a histogram over all values: more histograms cost more than they gain."""
KEYS_A_HISTOGRAM = 2**18
_KEYS_AT_ONCE = random_numbers.CHUNK // 4


@dataclass(frozen=True)
class SortClass:
    """Sizes are powers of two. test_ranks[j] + offset(j, iteration) is the rank of test key j."""

    keys_log2: int
    range_log2: int
    test_positions: tuple[int, ...]
    test_ranks: tuple[int, ...]
    offset: Callable[[int, int], int]

    @property
    def keys(self) -> int:
        """How many keys there are."""
        return 1 << self.keys_log2

    @property
    def key_range(self) -> int:
        """Keys are from 0 to this, exclusive."""
        return 1 << self.range_log2


def _offsets(growing: set[int], up_from: int = 0, down_from: int = 0) -> Callable[[int, int], int]:
    """How far a test key's rank has moved, as each iteration sets a small key and a large one: by
    iteration - `up_from` for the test keys in `growing`, by `down_from` - iteration for others.
    """
    return lambda test, iteration: iteration - up_from if test in growing else down_from - iteration


CLASSES = {
    "S": SortClass(
        16, 11, (48427, 17148, 23627, 62548, 4431), (0, 18, 346, 64917, 65463), _offsets({0, 1, 2})
    ),
    "W": SortClass(
        20,
        16,
        (357773, 934767, 875723, 898999, 404505),
        (1249, 11698, 1039987, 1043896, 1048018),
        _offsets({0, 1}, up_from=2),
    ),
    "A": SortClass(
        23,
        19,
        (2112377, 662041, 5336171, 3642833, 4250760),
        (104, 17523, 123928, 8288932, 8388264),
        _offsets({0, 1, 2}, up_from=1, down_from=1),
    ),
    "B": SortClass(
        25,
        21,
        (41869, 812306, 5102857, 18232239, 26860214),
        (33422937, 10244, 59149, 33135281, 99),
        _offsets({1, 2, 4}),
    ),
    "C": SortClass(
        27,
        23,
        (44172927, 72999161, 74326391, 129606274, 21736814),
        (61147, 882988, 266290, 133997595, 133525895),
        _offsets({0, 1, 2}),
    ),
}


class Ranking:
    """The rankings of one run, with their memory."""

    def __init__(self, keys: int, key_range: int, loop: ParallelLoop) -> None:
        """`keys` and `key_range` are powers of two."""
        self._loop = loop
        self._blocks = histogram_count(keys)
        self.keys: Integers = loop.array((keys,), np.int64)
        self.counts: Integers = loop.array((self._blocks, key_range), np.int64)
        self.is_used: Integers = loop.array((self._blocks,), np.int64)
        self.up_to: Integers = loop.array((key_range,), np.int64)

    def rank(self) -> Integers:
        """For each value the number of keys of at most that value; valid until the next call."""
        blocks, parts = self._blocks, (self.counts, self.is_used)
        self._loop.for_each(blocks, 1, count, blocks, self.keys, *parts)
        self._loop.for_each(blocks, 1, add_up, blocks, self.up_to, *parts)
        return np.cumsum(self.up_to, out=self.up_to)


def histogram_count(keys: int) -> int:
    """The number of blocks of keys, each of which has room for a histogram."""
    return min(max(keys // KEYS_A_HISTOGRAM, 1), MOST_HISTOGRAMS)


def count(start: int, stop: int, blocks: int, keys: Any, *histograms: Any) -> None:
    """Make one histogram of all blocks of a task, in the row of the first block."""
    counts, is_used = histograms
    low, high = lines_of(start, stop, blocks, keys.size)
    counts[start] = np.bincount(keys[low:high], minlength=counts.shape[1])
    is_used[start:stop] = 0
    is_used[start] = 1


def add_up(start: int, stop: int, blocks: int, total: Any, *histograms: Any) -> None:
    """Add up the used histograms, for a part of the values."""
    counts, is_used = histograms
    low, high = lines_of(start, stop, blocks, total.size)
    first, *others = np.flatnonzero(is_used)
    total[low:high] = counts[first, low:high]
    for other in others:
        total[low:high] += counts[other, low:high]


class IntegerSort:
    """The kernel IS. Its input is the keys, which a run copies because it changes them."""

    classes = CLASSES

    def memory_bytes(self, size: SortClass) -> int:
        """See Kernel. Keys and their sorted copy; the histograms, their sum, a new histogram and a
        copy; states, sums and copies of the keys that are made at a time.
        """
        histograms = histogram_count(size.keys) + 3
        made = 8 * min(size.keys, _KEYS_AT_ONCE)
        return 8 * (2 * size.keys + histograms * size.key_range + made)

    def input_bytes(self, size: SortClass) -> int:
        """See Kernel. The input is the keys."""
        return 8 * size.keys

    def operations(self, size: SortClass) -> float:
        """See Kernel. The number of keys ranked."""
        return float(ITERATIONS * size.keys)

    def generate(self, size: SortClass) -> Integers:
        """See Kernel. The keys in the order of generation."""
        keys = np.empty(size.keys, np.int64)
        _make_keys(size, keys)
        return keys

    def run(self, size: SortClass, given: Integers | None, loop: ParallelLoop) -> Outcome:
        """See Kernel. The value is the number of passed checks; verified if all passed."""
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
    """Each key is floor(range/4 * the sum of four random numbers), computed exactly in integers."""
    shift = np.uint64(random_numbers.BITS + 2 - size.range_log2)
    for start in range(0, size.keys, _KEYS_AT_ONCE):
        part = keys[start : start + _KEYS_AT_ONCE]
        states = random_numbers.states(4 * start, 4 * part.size)
        part[...] = (states[0::4] + states[1::4] + states[2::4] + states[3::4]) >> shift


def _passed_in(size: SortClass, iteration: int, ranking: Ranking) -> int:
    """Change two keys, rank all keys, and count the test keys that have the expected rank."""
    keys = ranking.keys
    keys[iteration] = iteration
    keys[iteration + ITERATIONS] = size.key_range - iteration
    tests = keys[list(size.test_positions)]
    smaller = ranking.rank()[tests - 1]
    expected = [rank + size.offset(j, iteration) for j, rank in enumerate(size.test_ranks)]
    in_range = (tests > 0) & (tests < size.keys)
    return int(np.count_nonzero(in_range & (smaller == expected)))


def _is_order(keys: Integers, up_to: Any) -> bool:
    """Whether the ranks equal those of the keys as numpy sorts them."""
    values = np.arange(up_to.size, dtype=np.int32)
    ranks = np.searchsorted(np.sort(keys.astype(np.int32)), values, side="right")
    return np.array_equal(ranks, up_to)
