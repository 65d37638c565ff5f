"""From which size on a strategy beats doing everything in order: pure functions on times.

The time of one request under a strategy is modelled as its dispatch, which an empty loop of so many
rows in the kernel's tasks has shown (between two measured sizes on a straight line, beyond the
largest on the last of them), and its operations, each of which takes as long as it did at the shape
that was computed under every strategy. HTTP, parsing and writing are the same under every strategy:
they cancel.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from restbench.experiment.cell import Kernel, ServiceName, Shape
from restbench.experiment.records import BreakEven, Score, Verdict
from restbench.experiment.statistics import Ratio, log_welch_ratio, t_interval
from tools.service_choice import IN_ORDER

#: The study's second operand: a row of the first takes so many operations.
STUDY_INNER, STUDY_COLUMNS = 50, 20
OPERATIONS_A_ROW = STUDY_INNER * STUDY_COLUMNS
#: A smaller difference is not called one (method: a difference counts above 5 %).
MARGIN = 1.05
#: What fits a body of 64 MiB, the services' default limit: 50 elements of up to two digits a row,
#: with their commas and the member's name.
LARGEST_ROWS = 64 * 2**20 // (STUDY_INNER * 3 + 12)
#: Which end of an interval, as places in a Span.
LOW, MIDDLE, HIGH = 0, 1, 2
COSTS_MORE = "to hand a row out costs more than it saves"


class Span(NamedTuple):
    """A time in microseconds with the ends of its 95 % interval."""

    low: float
    middle: float
    high: float


@dataclass(frozen=True)
class Dispatch:
    """What an empty loop takes, in microseconds, by its rows in ascending order."""

    by_rows: Mapping[int, Span]

    def at(self, rows: float, end: int = MIDDLE) -> float:
        """At any number of rows; `end` says which of the interval."""
        known, times = list(self.by_rows), [each[end] for each in self.by_rows.values()]
        beyond = max(0.0, rows - known[-1])
        return float(np.interp(rows, known, times)) + beyond * self.last_slope(end)

    def last_slope(self, end: int = MIDDLE) -> float:
        """Microseconds a row beyond the largest that was measured."""
        if len(self.by_rows) < 2:
            return 0.0
        lower, upper = list(self.by_rows)[-2:]
        return (self.by_rows[upper][end] - self.by_rows[lower][end]) / (upper - lower)


@dataclass(frozen=True)
class Rivals:
    """A strategy and the one that does everything in order, with one kernel."""

    in_order: Dispatch
    strategy: Dispatch
    operation_us: float
    """In order."""
    faster: Ratio | None
    """Computing in order over computing so, dispatch apart; None where nothing was left of a
    process' time without its dispatch."""

    def break_even(self, faster: float, strategy_end: int = MIDDLE) -> float | None:
        """The rows from which on the strategy stays ahead; None if it never does.

        `strategy_end` is the end of its dispatch's interval; of the other's the opposite end.
        """
        ends = (HIGH - strategy_end, strategy_end)
        gained_us = OPERATIONS_A_ROW * self.operation_us * (1 - 1 / faster)
        slope = gained_us + self.in_order.last_slope(ends[0]) - self.strategy.last_slope(ends[1])

        def gain_us(rows: float) -> float:
            more = self.strategy.at(rows, ends[1]) - self.in_order.at(rows, ends[0])
            return gained_us * rows - more

        return last_crossing([(rows, gain_us(rows)) for rows in self.strategy.by_rows], slope)


def last_crossing(points: Sequence[tuple[int, float]], slope: float) -> float | None:
    """Where a broken line, which goes on with `slope`, becomes positive for good: its argument,
    the first point's if it always is, None if it never does."""
    if slope <= 0:
        return None
    last, value = points[-1]
    if value < 0:
        return last - value / slope
    for (lower, below), (upper, above) in reversed(list(pairwise(points))):
        if below < 0 <= above:
            return lower - below * (upper - lower) / (above - below)
    return float(points[0][0])


def break_evens(scores: Sequence[Score], shapes: Mapping[str, Shape]) -> list[BreakEven]:
    """Of every service, strategy and kernel that was measured next to doing it in order."""
    return [
        _judge(service, strategy, kernel, rivals)
        for service in dict.fromkeys(each.service for each in scores)
        for strategy, kernel, rivals in _rivals(
            [each for each in scores if each.service == service], shapes
        )
    ]


def _rivals(
    scores: Sequence[Score], shapes: Mapping[str, Shape]
) -> Iterator[tuple[str, Kernel, Rivals]]:
    computed = {
        (each.strategy, each.kernel, each.shape): each for each in scores if each.part == "compute"
    }
    for (strategy, kernel, name), score in _largest(computed, shapes).items():
        rival = computed.get((IN_ORDER, kernel, name))
        if rival and strategy and kernel and name and strategy != IN_ORDER:
            own, other = (_dispatch(scores, each, kernel) for each in (strategy, IN_ORDER))
            shape = shapes[name]
            times = [_computing(score, own, shape.rows), _computing(rival, other, shape.rows)]
            operations = shape.rows * shape.inner * shape.columns
            operation_us = max(0.0, t_interval(times[1]).mean) / operations
            left = min(map(min, times)) > 0
            faster = log_welch_ratio(times[1], times[0]) if left else None
            yield strategy, kernel, Rivals(other, own, operation_us, faster)


_Key = tuple[str | None, Kernel | None, str | None]


def _largest(computed: Mapping[_Key, Score], shapes: Mapping[str, Shape]) -> dict[_Key, Score]:
    """Of each strategy and kernel the computation with most rows of the study's kind."""

    def rows(key: _Key) -> int:
        shape = shapes[key[2] or ""]
        return shape.rows if (shape.inner, shape.columns) == (STUDY_INNER, STUDY_COLUMNS) else 0

    largest: dict[tuple[str | None, Kernel | None], _Key] = {}
    for key in sorted(computed, key=rows):
        largest[key[:2]] = key
    return {key: computed[key] for key in largest.values()}


def _computing(score: Score, dispatch: Dispatch, rows: int) -> list[float]:
    """Each process' time without the dispatch; not above 0 where an empty loop has by luck taken
    as long as the whole."""
    return [each - dispatch.at(rows) for each in score.runs_us]


def _dispatch(scores: Sequence[Score], strategy: str, kernel: Kernel) -> Dispatch:
    """Of the kernel's own tasks; a loop that names no kernel stands for both."""
    empty = [each for each in scores if each.part == "dispatch" and each.strategy == strategy]
    measured = [each for each in empty if each.kernel in (kernel, None)]
    ascending = sorted(measured, key=lambda each: each.rows or 0)
    return Dispatch({each.rows or 0: span(each) for each in ascending})


def span(score: Score) -> Span:
    """The mean over the processes; no time is below 0."""
    interval = t_interval(score.runs_us)
    return Span(max(0.0, interval.low), interval.mean, interval.high)


def _judge(service: ServiceName, strategy: str, kernel: Kernel, rivals: Rivals) -> BreakEven:
    faster = rivals.faster
    rows = rivals.break_even(faster.estimate) if faster else None
    verdict, why = _verdict(rivals, faster, rows) if faster else _without_ratio(rivals)
    found = BreakEven(
        service=service,
        strategy=strategy,
        kernel=kernel,
        verdict=verdict,
        faster=faster.estimate if faster else None,
        faster_low=faster.low if faster else None,
        faster_high=faster.high if faster else None,
        why=why,
    )
    if faster and rows and verdict == "from":
        return found.model_copy(update=_ends(rivals, faster, rows))
    return found


def _verdict(rivals: Rivals, faster: Ratio, rows: float | None) -> tuple[Verdict, str]:
    """With the reason, where there is no such size."""
    if faster.high <= MARGIN:
        return "never", "computes no faster than in order"
    if rivals.break_even(faster.high, strategy_end=LOW) is None:
        return "never", COSTS_MORE
    if faster.low <= MARGIN:
        return "unclear", "the times do not tell whether it computes faster"
    if rows is None:
        return "unclear", "the times do not tell whether a row saves more than it costs"
    if rows > LARGEST_ROWS:
        return "never", f"only from {rows:,.0f} rows on, more than the largest body has"
    return "from", ""


def _without_ratio(rivals: Rivals) -> tuple[Verdict, str]:
    """No ratio is made of nothing; but what costs more than computing in no time at all would
    save is never ahead."""
    if rivals.operation_us > 0 and rivals.break_even(math.inf, strategy_end=LOW) is None:
        return "never", COSTS_MORE
    return "unclear", "to hand it out takes all of the time"


def _ends(rivals: Rivals, faster: Ratio, rows: float) -> dict[str, float | None]:
    low = rivals.break_even(faster.high, strategy_end=LOW)
    return {
        "rows": rows,
        "rows_low": min(rows, low or rows),
        "rows_high": rivals.break_even(faster.low, strategy_end=HIGH),
        "operations": rows * OPERATIONS_A_ROW,
    }
