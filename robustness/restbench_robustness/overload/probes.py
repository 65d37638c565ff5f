"""Normal requests, one after the other in steady time, while something goes wrong elsewhere."""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Self

from restbench_robustness.overload.answers import Verdict

PERIOD_S = 0.3
#: Enough for every probe that may wait for its answer at once.
THREADS = 32


@dataclass(frozen=True)
class Probe:
    """One normal request; moments of the monotonic clock."""

    began_s: float
    ended_s: float
    verdict: Verdict


class Probes:
    """Asks every PERIOD_S from threads of its own until the block ends; `seen` is what came."""

    def __init__(self, ask: Callable[[int], Verdict]) -> None:
        """`ask(number)` sends one request and says what became of it, in bounded time."""
        self._ask = ask
        self._stop = threading.Event()
        self._threads = ThreadPoolExecutor(THREADS)
        self._clock = threading.Thread(target=self._until_stopped, daemon=True)
        self.seen: list[Probe] = []

    def __enter__(self) -> Self:
        """Begin to ask."""
        self._clock.start()
        return self

    def __exit__(self, *_raised: object) -> None:
        """Ask no more; all answers are in `seen` then."""
        self._stop.set()
        self._clock.join()
        self._threads.shutdown(wait=True)

    def back_after(self, moment_s: float) -> float | None:
        """Seconds from the moment to the first right answer since when all were right.

        None where the last one was not, or none has come.
        """
        later = sorted((p for p in self.seen if p.ended_s >= moment_s), key=lambda p: p.began_s)
        back: float | None = None
        for probe in later:
            if probe.verdict is not Verdict.RIGHT:
                back = None
            elif back is None:
                back = probe.ended_s - moment_s
        return back

    def counts(self) -> Counter[Verdict]:
        """How many ended in which way."""
        return Counter(probe.verdict for probe in self.seen)

    def slowest_s(self) -> float:
        """The longest that one took."""
        return max((probe.ended_s - probe.began_s for probe in self.seen), default=0.0)

    def sentence(self) -> str:
        """All counts and the slowest, in a line."""
        counted = ", ".join(f"{number} {verdict}" for verdict, number in self.counts().items())
        return f"{counted or 'none asked'}, the slowest in {self.slowest_s():.1f} s"

    def _until_stopped(self) -> None:
        for number in itertools.count(1):
            self._threads.submit(self._one, number)
            if self._stop.wait(PERIOD_S):
                return

    def _one(self, number: int) -> None:
        began = time.monotonic()
        verdict = self._ask(number)
        self.seen.append(Probe(began, time.monotonic(), verdict))
