"""What the current cell is doing right now, from what is there anyway: the JTL and `/proc`."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from restbench.machine import process

Phase = Literal["warm-up", "window"]

#: How often a cell is looked at. Oftener would cost CPU time that the service needs.
LOOK_EVERY_S = 1.0


@dataclass(frozen=True)
class Live:
    """The last second of a cell: for watching, never for the record."""

    throughput_per_s: float
    """Correct responses a second since the look before."""
    mean_ms: float | None
    """Their mean response time; None where there was none."""
    errors: int
    """Samples of the whole load, warm-up included, that were not correct."""
    service_cpu_pct: float | None
    """CPU time of the service since the look before, percent of one core; None where it cannot be
    looked at."""
    phase: Phase
    elapsed_s: float
    """Since the phase began."""


class Followed(Protocol):
    """What has been read of a growing JTL (`follower.Follower`)."""

    correct: int
    """All correct completions so far."""
    correct_ms: int
    """Their response times together, milliseconds."""
    others: int

    def poll(self) -> None:
        """Take in what is new."""


@dataclass
class Gauge:
    """Looks at one cell about once a second; each look tells what is new since the one before.

    `pids` are the service's processes, none where others run it.
    """

    followed: Followed
    pids: tuple[int, ...]
    clock: Callable[[], float] = time.monotonic
    _seen: tuple[int, int] = (0, 0)
    """Correct completions, and their response times together, at the last look."""
    _cpu_ms: float = field(init=False)
    _looked_s: float = field(init=False)

    def __post_init__(self) -> None:
        """The first look is a second from now."""
        self._cpu_ms = process.cpu_ms(self.pids)
        self._looked_s = self.clock()

    def look(self, phase: Phase, elapsed_s: float) -> Live | None:
        """What came since the last look; None when that is less than a second ago."""
        now_s = self.clock()
        since_s = now_s - self._looked_s
        if since_s < LOOK_EVERY_S:
            return None
        self._looked_s = now_s
        new, new_ms = self._new()
        return Live(
            throughput_per_s=new / since_s,
            mean_ms=new_ms / new if new else None,
            errors=self.followed.others,
            service_cpu_pct=self._cpu_pct(since_s),
            phase=phase,
            elapsed_s=elapsed_s,
        )

    def _new(self) -> tuple[int, int]:
        self.followed.poll()
        before, before_ms = self._seen
        self._seen = self.followed.correct, self.followed.correct_ms
        return self.followed.correct - before, self.followed.correct_ms - before_ms

    def _cpu_pct(self, since_s: float) -> float | None:
        if not self.pids:
            return None
        before_ms, self._cpu_ms = self._cpu_ms, process.cpu_ms(self.pids)
        return (self._cpu_ms - before_ms) / (10 * since_s)
