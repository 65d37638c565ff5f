"""Batches of calls (`schedule.calls`): the least time that any client needs for them, from what one
call takes alone; rows of them, and their speed-ups over one call after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from operator import truediv

from restbench.analyse.comparison import combine, series
from restbench.analyse.measures import Row
from restbench.experiment.calls import CallWork, work_of

#: A measured time below the limit by more than this is a limit that was mismeasured.
MISMEASURED = 1.03
#: Calls in flight of a strategy that holds no thread while it waits, at most.
WINDOW = 100
#: The extras of a block by name: their heading, and what they are.
COLUMNS: dict[str, tuple[str, str]] = {
    "elapsed_s": ("Elapsed s", "from the batch's begin to its last outcome"),
    "limit_s": ("Limit s", "the least time that these calls need, from what one takes alone"),
    "calls": ("Calls", "in the batch"),
    "made": ("Made", "of them; in turn each takes as long as the other, so that time is scaled"),
    "in_flight": ("In flight", "calls between sending and answer, on average (Little's law)"),
    "client_threads": ("Threads used", "by the client's strategy"),
    "client_cpu_ms": ("Client CPU ms", "a call"),
    "service_cpu_ms": ("Service CPU ms", "a call"),
    "s_ms": ("S ms", "to make the message of a call"),
    "c_ms": ("C ms", "from sending to the last byte of the answer, the delay included"),
    "d_ms": ("D ms", "to read the answer"),
    "p_ms": ("P ms", "to compare the product with the expected one"),
}


@dataclass(frozen=True)
class OneCall:
    """Seconds of a call alone: S, C without the delay, the delay, D, P."""

    s: float
    r: float
    delay: float
    d: float
    p: float

    @property
    def whole(self) -> float:
        """From its begin to its end."""
        return sum(self.stages)

    @property
    def stages(self) -> tuple[float, float, float, float]:
        """S, C with the delay, D, P."""
        return self.s, self.r + self.delay, self.d, self.p


def least_s(  # noqa: PLR0913 - what a batch is made of
    strategy: str,
    threads: int,
    calls: int,
    one: OneCall,
    *,
    cpu_s: float,
    cores: int,
) -> float:
    """Seconds that so many calls take at least.

    `cpu_s` is the CPU time of a call on the cores that its client has, with the service where that
    has them too; never below S, D and P. In Python one core runs them. ValueError for a strategy
    that is not known.
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
    """S, C, D and P of a pipeline of so many threads in all. Where C holds none, it is WINDOW, and
    further threads go to S and D by the time that they take of a call; evenly, if that is unknown.
    """
    if strategy == "pipeline":
        return 1, max(1, threads - 3), 1, 1
    more, s_and_d = max(0, threads - 3), one.s + one.d if one else 0.0
    to_s = round(more * one.s / s_and_d) if one and s_and_d else more // 2
    return 1 + to_s, WINDOW, 1 + more - to_s, 1


def work(row: Row) -> CallWork:
    """What its batch is."""
    return work_of(row.cell.complexity)


def ranked(rows: Iterable[Row]) -> list[Row]:
    """By client, transport, delay and size, then strategy and threads."""
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
    """The least time over the measured one, the median over the blocks."""
    return combine(series(row, "limit_s"), series(row, "elapsed_s"), truediv).median


def gain(over: Row, of: Row, column: str = "elapsed_s") -> float | None:
    """The time of one batch over that of another, the median over the blocks; `limit_s` for what
    the model says."""
    return combine(series(over, column), series(of, column), truediv).median


def speed_ups(row: Row, rows: Sequence[Row], column: str = "elapsed_s") -> list[float]:
    """The time of calls in turn over the row's, a block each; `limit_s` for the highest possible.
    Without measured calls in turn, their time by what one takes alone."""
    of_calls_in_turn = replace(work(row), strategy="sequential")
    alone = next((each for each in rows if each.right and work(each) == of_calls_in_turn), None)
    in_turn = series(row, "alone_s") if alone is None else series(alone, "elapsed_s")
    return list(combine(in_turn, series(row, column), truediv).values.values())
