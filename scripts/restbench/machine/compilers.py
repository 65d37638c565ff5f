"""Whether a JVM is warm: whether its compilers still have much to do.

They are threads like any other. On cores that a load keeps busy they get a share and no more, and
what takes a core four seconds takes fifteen to twenty: with ten users on two cores the throughput
of a fresh process was up to a third lower for so long. So a warm-up waits for them, as far as its
profile lets it (`cutting`), and a window in which they had much to do is marked (`audit`).
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field

from restbench.machine import process

#: What the names of such threads begin with in HotSpot, Graal and OpenJ9; the kernel keeps 15
#: characters of a name.
THREADS = ("C1 Compiler", "C2 Compiler", "JVMCI Compiler", "JIT Compilation")
#: Up to this share of the service's CPU time is no longer warming up: one method now and then.
QUIET_SHARE = 0.02
#: A look back as far as this; CPU times are known in steps of 10 ms, a third of the share of one
#: busy core.
LOOK_BACK_S = 1.0


def cpu_ms(pids: tuple[int, ...]) -> float:
    """CPU time in milliseconds of the compilers of these processes; 0 where there are none."""
    return process.threads_cpu_ms(pids, THREADS)


@dataclass(frozen=True)
class _Mark:
    at_s: float
    compilers_ms: float
    service_ms: float


@dataclass
class Compilers:
    """Those of a service's processes under load, looked at again and again."""

    pids: tuple[int, ...]
    marks: deque[_Mark] = field(default_factory=deque)

    def quiet(self) -> bool:
        """Whether they had little to do lately; not known before looks reach back far enough."""
        now = _Mark(time.monotonic(), cpu_ms(self.pids), process.cpu_ms(self.pids))
        self.marks.append(now)
        while len(self.marks) > 1 and now.at_s - self.marks[1].at_s >= LOOK_BACK_S:
            self.marks.popleft()
        then = self.marks[0]
        if now.compilers_ms == 0:
            return True
        known = now.at_s - then.at_s >= LOOK_BACK_S
        worked_ms = now.compilers_ms - then.compilers_ms
        return known and worked_ms <= QUIET_SHARE * (now.service_ms - then.service_ms)
