"""Batches of calls (`schedule.calls`): the least time that any client needs for a batch, from the
times of a single call; the rows of batches, and their speed-ups over sequential calls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from operator import truediv

from restbench.analyse.comparison import combine, series
from restbench.analyse.measures import Row
from restbench.experiment.calls import CallWork, work_of

#: Where a limit exceeds the measured time by more than this factor, the limit was measured wrongly.
MISMEASURED = 1.03
#: The most calls in flight of a strategy that holds no thread while it waits.
WINDOW = 100
#: The extras of a block by name: their heading, and what they are.
COLUMNS: dict[str, tuple[str, str]] = {
    "elapsed_s": ("Elapsed s", "from the begin of the batch to the outcome of its last call"),
    "limit_s": ("Limit s", "the least time that these calls need, by the times of a single call"),
    "calls": ("Calls", "calls in the batch"),
    "made": (
        "Made",
        "calls that were made; one after the other all take equally long, so the time of a few is "
        "scaled to all",
    ),
    "in_flight": ("In flight", "calls between sending and answer, on average (Little's law)"),
    "client_threads": ("Threads used", "threads that the client's strategy used"),
    "client_cpu_ms": ("Client CPU ms", "CPU time of the client per call"),
    "service_cpu_ms": ("Service CPU ms", "CPU time of the service per call"),
    "s_ms": ("S ms", "time to make the message of a call"),
    "c_ms": ("C ms", "time from sending to the last byte of the answer, including the delay"),
    "d_ms": ("D ms", "time to read the answer"),
    "p_ms": ("P ms", "time to compare the product with the expected one"),
}


@dataclass(frozen=True)
class OneCall:
    """Seconds of a single call: S, C without the delay, the delay, D, P (explained in COLUMNS)."""

    s: float
    r: float
    delay: float
    d: float
    p: float

    @property
    def whole(self) -> float:
        """Seconds of the whole call."""
        return sum(self.stages)

    @property
    def stages(self) -> tuple[float, float, float, float]:
        """S, C with the delay, D, P."""
        return self.s, self.r + self.delay, self.d, self.p


def least_s(  # noqa: PLR0913 - what a batch is made of
    strategy: str, threads: int, calls: int, one: OneCall, *, cpu_s: float, cores: int
) -> float:
    """The least seconds that a batch of `calls` calls needs.

    `cpu_s` is a call's CPU time on the `cores` of its client, including the service's where both
    share them; at least S + D + P is assumed. For a Python client, which runs code on one core at a
    time, `drive.batches.limit_s` also asks with one core. ValueError for an unknown strategy.
    """
    if not calls:
        return 0.0
    s, waits, d, p = one.stages
    any_strategy = (
        one.whole,
        calls * max(cpu_s, s + d + p) / cores,
        s + waits + calls * (d + p) / cores,
        calls * s / cores + waits + d + p,
    )
    match strategy:
        case "sequential":
            own = calls * one.whole
        case "task-pool":
            own = ceil(calls / threads) * one.whole
        case "pipeline" | "pipeline-async":
            of_stages = zip(teams_of(strategy, threads, one), one.stages, strict=True)
            own = max(ceil(calls / of) * each + one.whole - each for of, each in of_stages)
        case "async" | "virtual-threads" | "adaptive":
            own = s + ceil(calls / WINDOW) * waits + d + p
        case _:
            raise ValueError(f"strategy: '{strategy}' has no limit")
    return max(*any_strategy, own)


def teams_of(strategy: str, threads: int, one: OneCall | None = None) -> tuple[int, int, int, int]:
    """How many threads of a pipeline with `threads` in all do S, C, D and P. Where C holds no
    thread, its entry is WINDOW, and further threads go to S and D in proportion to their times,
    evenly if these are unknown."""
    if strategy == "pipeline":
        return 1, max(1, threads - 3), 1, 1
    more, s_and_d = max(0, threads - 3), one.s + one.d if one else 0.0
    to_s = round(more * one.s / s_and_d) if one and s_and_d else more // 2
    return 1 + to_s, WINDOW, 1 + more - to_s, 1


def work(row: Row) -> CallWork:
    """The batch that a row measures."""
    return work_of(row.cell.complexity)


def ranked(rows: Iterable[Row]) -> list[Row]:
    """The rows by client, transport, delay and size, then strategy and threads."""
    return sorted(
        rows,
        key=lambda row: (
            *work(row).program,
            work(row).delay_ms,
            work(row).size or 0,
            work(row).strategy,
            row.cell.users,
        ),
    )


def nearness(row: Row) -> float | None:
    """The least possible time over the measured time, the median over the blocks."""
    return combine(series(row, "limit_s"), series(row, "elapsed_s"), truediv).median


def gain(over: Row, of: Row, column: str = "elapsed_s") -> float | None:
    """The median of one batch's times over another's; of `limit_s`, as the model predicts it."""
    return combine(series(over, column), series(of, column), truediv).median


def speed_ups(row: Row, rows: Sequence[Row], column: str = "elapsed_s") -> list[float]:
    """The time of sequential calls over the row's time, a value per block; with the column
    `limit_s` the highest possible speed-up. Where sequential calls were not measured, their time is
    computed from that of a single call (`alone_s`)."""
    of_calls_in_turn = replace(work(row), strategy="sequential")
    alone = next(
        (each for each in rows if each.valid_blocks and work(each) == of_calls_in_turn), None
    )
    in_turn = series(row, "alone_s") if alone is None else series(alone, "elapsed_s")
    return list(combine(in_turn, series(row, column), truediv).values.values())
