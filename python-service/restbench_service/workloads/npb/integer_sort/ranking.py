"""One ranking: a histogram of the keys and its running sum, cut into loops over keys and values."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...workload import ParallelLoop
from ..blocks import lines_of

Integers = NDArray[np.int64]
MOST_HISTOGRAMS = 8
"""Each task makes a histogram of its own over all values: more cost more than they bring."""
KEYS_A_HISTOGRAM = 2**18


class Ranking:
    """The memory of one run's rankings."""

    def __init__(self, keys: int, key_range: int, loop: ParallelLoop) -> None:
        """`keys` and `key_range` are powers of two."""
        self._loop = loop
        self._blocks = histogram_count(keys)
        self.keys: Integers = loop.array((keys,), np.int64)
        self.counts: Integers = loop.array((self._blocks, key_range), np.int64)
        self.is_used: Integers = loop.array((self._blocks,), np.int64)
        self.up_to: Integers = loop.array((key_range,), np.int64)

    def rank(self) -> Integers:
        """For each value how many keys are at most that; valid until the next call."""
        blocks, parts = self._blocks, (self.counts, self.is_used)
        self._loop.for_each(blocks, 1, count, blocks, self.keys, *parts)
        self._loop.for_each(blocks, 1, add_up, blocks, self.up_to, *parts)
        return np.cumsum(self.up_to, out=self.up_to)


def histogram_count(keys: int) -> int:
    """Into how many blocks the keys are cut."""
    return min(max(keys // KEYS_A_HISTOGRAM, 1), MOST_HISTOGRAMS)


def count(start: int, stop: int, blocks: int, keys: Any, *histograms: Any) -> None:
    """One histogram of all blocks of a task, in the place of the first of them."""
    counts, is_used = histograms
    low, high = lines_of(start, stop, blocks, keys.size)
    counts[start] = np.bincount(keys[low:high], minlength=counts.shape[1])
    is_used[start:stop] = 0
    is_used[start] = 1


def add_up(start: int, stop: int, blocks: int, total: Any, *histograms: Any) -> None:
    """The histograms' sum over a part of the values."""
    counts, is_used = histograms
    low, high = lines_of(start, stop, blocks, total.size)
    first, *others = np.flatnonzero(is_used)
    total[low:high] = counts[first, low:high]
    for other in others:
        total[low:high] += counts[other, low:high]
