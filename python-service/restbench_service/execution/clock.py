"""The time a request spends in each stage, measured in one place, while its client waits."""

from collections.abc import Mapping
from time import perf_counter_ns

STAGES = ("queue", "parse", "compute", "serialize")


class StageClock:
    """Nanoseconds a stage, from the moment it is made. What is no other stage is queue."""

    __slots__ = ("_current", "_since_ns", "elapsed_ns")

    def __init__(self) -> None:
        """Made when the whole request is there and is about to run."""
        self.elapsed_ns = dict.fromkeys(STAGES, 0)
        self._current, self._since_ns = "queue", perf_counter_ns()

    def switch(self, name: str) -> None:
        """Count for this stage from now on. What has ended one switches to the next or to queue;
        where an error has, the times are not asked for."""
        now_ns = perf_counter_ns()
        self.elapsed_ns[self._current] += now_ns - self._since_ns
        self._current, self._since_ns = name, now_ns

    def add(self, elsewhere_ns: Mapping[str, int]) -> None:
        """Take over what another process measured while it was queue here."""
        self.switch("queue")
        for name, value in elsewhere_ns.items():
            if name not in STAGES:
                self.add_parts({name: value})
            elif name != "queue":
                self.elapsed_ns[name] += value
                self.elapsed_ns["queue"] = max(0, self.elapsed_ns["queue"] - value)

    def add_parts(self, parts_ns: Mapping[str, int]) -> None:
        """What a stage has measured by itself. It is in the stage's time already."""
        for name, value in parts_ns.items():
            self.elapsed_ns[name] = self.elapsed_ns.get(name, 0) + value

    def server_timing(self) -> str:
        """The header's value: each stage in milliseconds, then the parts of stages."""
        return ", ".join([f"{name};dur={ns / 1e6:.3f}" for name, ns in self.elapsed_ns.items()])
