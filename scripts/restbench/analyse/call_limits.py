"""The best possible of many calls: the least time that any client needs for them, from what one
call takes alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

#: A measured time below the limit by more than this is a limit that was mismeasured.
MISMEASURED = 1.03
#: Calls in flight of a strategy that holds no thread while it waits, at most.
WINDOW = 100


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
    window: int = WINDOW,
    teams: Sequence[int] = (),
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
            of_stages = zip(teams or teams_of(strategy, threads, window), one.stages, strict=True)
            own = max(ceil(calls / of) * each + one.whole - each for of, each in of_stages)
        case "async" | "virtual-threads" | "adaptive":
            own = s + ceil(calls / window) * waits + d + p
        case _:
            raise ValueError(f"strategy: '{strategy}' has no limit")
    return max(*any_strategy, own)


def teams_of(strategy: str, threads: int, window: int = WINDOW) -> tuple[int, int, int, int]:
    """S, C, D and P of a pipeline of so many threads in all; where C holds none, the window is."""
    if strategy == "pipeline":
        return 1, max(1, threads - 3), 1, 1
    more = max(0, threads - 3)
    return 1 + more // 2, window, 1 + (more + 1) // 2, 1


def highest_speed_up(least: float, calls: int, one: OneCall) -> float:
    """Over one call after the other."""
    return calls * one.whole / least if least else 1.0
