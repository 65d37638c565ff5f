"""Rows of batches of calls (`schedule.calls`): speed-ups over one call after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median as median_of

from restbench.analyse.comparison import combine, series
from restbench.analyse.measures import Row
from restbench.experiment.calls import CallWork, work_of

#: The extras of a block by name: their heading, and what they are.
COLUMNS: dict[str, tuple[str, str]] = {
    "elapsed_s": ("Elapsed s", "from the batch's begin to its last outcome"),
    "limit_s": ("Limit s", "the least time that these calls need, from what one takes alone"),
    "calls": ("Calls", "in the batch"),
    "made": ("Made", "of them; in turn each takes as long as the other, so that time is scaled"),
    "in_flight": ("In flight", "calls between sending and answer, on average (Little's law)"),
    "client_threads": ("Threads", "of the client's strategy"),
    "client_cpu_ms": ("Client CPU ms", "a call"),
    "service_cpu_ms": ("Service CPU ms", "a call"),
    "s_ms": ("S ms", "to make the message of a call"),
    "c_ms": ("C ms", "from sending to the last byte of the answer, the delay included"),
    "d_ms": ("D ms", "to read the answer"),
    "p_ms": ("P ms", "to compare the product with the expected one and note it"),
}


def work(row: Row) -> CallWork:
    """What its batch is."""
    return work_of(row.cell.complexity)


def ranked(rows: Iterable[Row]) -> list[Row]:
    """By client, transport, delay and number of calls, then strategy and threads."""
    return sorted(
        rows,
        key=lambda row: (
            *work(row).program,
            work(row).delay_ms,
            work(row).calls or 0,
            work(row).strategy,
            row.cell.users,
        ),
    )


def values(row: Row, column: str) -> list[float]:
    """Of a column, a block each."""
    return list(series(row, column).values.values())


def median(row: Row, column: str) -> float | None:
    """Over the blocks; None where there is none."""
    known = values(row, column)
    return median_of(known) if known else None


def nearness(row: Row) -> float | None:
    """The least time over the measured one, the median over the blocks."""
    found = combine(series(row, "limit_s"), series(row, "elapsed_s"), lambda one, two: one / two)
    return median_of(found.values.values()) if found.values else None


def speed_ups(row: Row, rows: Sequence[Row], column: str = "elapsed_s") -> list[float]:
    """The time of calls in turn over the row's, a block each; `limit_s` for the highest possible.
    Without measured calls in turn, their time by what one takes alone."""
    own = work(row)
    same = (*own.program, own.delay_ms, own.calls, "sequential")
    alone = next(
        (
            each
            for each in rows
            if (*(w := work(each)).program, w.delay_ms, w.calls, w.strategy) == same
        ),
        None,
    )
    in_turn = series(row, "alone_s") if alone is None else series(alone, "elapsed_s")
    found = combine(in_turn, series(row, column), lambda one, two: one / two)
    return list(found.values.values())
