"""The time a request spends in each stage, measured in one place, while its client waits."""

from collections.abc import Callable
from time import perf_counter_ns

STAGES = ("queue", "parse", "compute", "serialize")


class StageClock:
    """Nanoseconds a stage. Each moment counts for one stage at most.

    A stage inside another interrupts it: a loop's wait for its processes is queue, not compute.
    """

    def __init__(
        self,
        is_wanted: Callable[[], bool] = lambda: True,
        now_ns: Callable[[], int] = perf_counter_ns,
    ) -> None:
        """No time is counted outside of a stage. `is_wanted` tells whether the client waits.

        `now_ns` is the clock, of the wall if no other is given.
        """
        self.is_wanted = is_wanted
        self._now_ns = now_ns
        self.elapsed_ns = dict.fromkeys(STAGES, 0)
        self._current: str | None = None
        self._since_ns = 0

    def stage(self, name: str) -> "Stage":
        """Count the time of the with-block for the stage of this name."""
        return Stage(self, name)

    def add(self, elapsed_ns: dict[str, int]) -> None:
        """Take over what another clock measured, in another process."""
        for name, value in elapsed_ns.items():
            self.elapsed_ns[name] += value

    def server_timing(self) -> str:
        """The header's value: each stage in milliseconds."""
        return ", ".join(f"{name};dur={ns / 1e6:.3f}" for name, ns in self.elapsed_ns.items())

    def switch(self, name: str | None) -> str | None:
        """Count for this stage from now on, for none if None; which one it was before."""
        now_ns = self._now_ns()
        if self._current is not None:
            self.elapsed_ns[self._current] += now_ns - self._since_ns
        previous, self._current, self._since_ns = self._current, name, now_ns
        return previous


class Stage:
    """A with-block that counts: a class, because each request enters five, one in another."""

    __slots__ = ("_clock", "_name", "_outer")

    def __init__(self, clock: StageClock, name: str) -> None:
        """Made by StageClock.stage."""
        self._clock, self._name = clock, name
        self._outer: str | None = None

    def __enter__(self) -> None:
        """From here."""
        self._outer = self._clock.switch(self._name)

    def __exit__(self, *_: object) -> None:
        """To here."""
        self._clock.switch(self._outer)
