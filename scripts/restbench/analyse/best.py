"""The best of several cells, without the winner's curse: pure functions on values by block.

The best of many is picked by chance too, so that it looks better than it is. Here the cell that
another is held against in a block is picked by all other blocks (leave one out), which know nothing
of that block's chance.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

from restbench.experiment.statistics import CONFIDENCE, geometric_mean, holm_adjusted, paired_ratio

C = TypeVar("C", bound=Hashable)


def best_of(values: Mapping[C, Sequence[float]], *, more_is_better: bool = True) -> C:
    """The cell with the best geometric mean."""
    sign = 1 if more_is_better else -1
    return max(values, key=lambda each: sign * geometric_mean(values[each]))


def best_of_others(
    values: Mapping[C, Sequence[float]], *, more_is_better: bool = True
) -> tuple[C, ...]:
    """For each of two blocks or more the cell that is best in all others; `values` are above 0 and
    of the same blocks."""
    blocks = len(next(iter(values.values())))
    return tuple(
        best_of(
            {cell: [*of[:block], *of[block + 1 :]] for cell, of in values.items()},
            more_is_better=more_is_better,
        )
        for block in range(blocks)
    )


def indistinguishable(
    values: Mapping[C, Sequence[float]], *, more_is_better: bool = True
) -> dict[C, float]:
    """The best cell and those that cannot be told from it (paired t on logarithms, Holm over all
    others), each with its adjusted p value; that of the best is 1."""
    best = best_of(values, more_is_better=more_is_better)
    others = [cell for cell in values if cell != best]
    p_values = holm_adjusted([paired_ratio(values[each], values[best]).p_value for each in others])
    known = {best: 1.0, **dict(zip(others, p_values, strict=True))}
    return {cell: known[cell] for cell in values if known[cell] > 1 - CONFIDENCE}
