"""A workload that tells who ran it: which process did what, when, and on which cores it might."""

import json
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from restbench_service.execution.job import Job
from restbench_service.execution.strategy import Strategy
from restbench_service.workloads.workload import ParallelLoop, Workload

MEETING_SECONDS = 60.0
START_NS, END_NS, PID, UNITS, CORES, NICE = range(6)
"""Columns of the record of a unit."""


class UnpicklableError(Exception):
    def __init__(self, a: int, b: int) -> None:
        super().__init__(f"{a} and {b}")


@dataclass(frozen=True)
class Meeting:
    """A folder in which tasks of any process wait until so many have come: proves that so many can
    run at once."""

    folder: str
    size: int

    def attend(self) -> None:
        descriptor, _ = tempfile.mkstemp(dir=self.folder)
        os.close(descriptor)
        deadline = time.monotonic() + MEETING_SECONDS
        while len(list(Path(self.folder).iterdir())) < self.size:
            assert time.monotonic() < deadline, "more tasks should run at once"
            time.sleep(0.002)


class Units(dict[str, Any]):
    request_id = "observed"


@dataclass(frozen=True)
class Observed(Workload[Any, Any]):
    """decode reads the number of units, compute runs them, encode gives the records."""

    unit_seconds: float = 0.0
    failing_unit: int = -1
    meeting: Meeting | None = None

    name = "observed"

    def operations(self, value: "Units") -> float:
        return float(value["units"])

    def decode(self, body: bytes, query: str) -> "Units":  # noqa: ARG002
        return Units({"units": int(body), "parse": os.getpid()})

    def compute(self, value: Units, loop: ParallelLoop) -> dict[str, Any]:
        records = loop.array((value["units"], 6), np.int64)
        records[...] = 0
        loop.for_each(value["units"], 10, observe, self, records)
        return {**value, "compute": os.getpid(), "records": records.tolist()}

    def encode(self, output: dict[str, Any]) -> bytes:
        return json.dumps({**output, "serialize": os.getpid()}).encode()

    def query_kind(self, query: str) -> str:  # noqa: ARG002
        return ""

    def identify(self, body: bytes) -> str | int | None:
        return body.decode()

    def job(self, units: int, **options: Any) -> Job:
        """It is its own codec."""
        return Job(self, self, b"%d" % units, **options)

    def run(self, strategy: Strategy, units: int) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(strategy.execute(self.job(units)).result())
        return answer


@dataclass(frozen=True)
class Held(Observed):
    """Is computed until a file is there; `held` tells how many tasks wait for it."""

    until: str = ""

    def compute(self, value: Units, loop: ParallelLoop) -> dict[str, Any]:
        loop.for_each(value["units"], 10, wait_for, self.until)
        return {**value, "records": []}


@dataclass(frozen=True)
class Waiting(Observed):
    """Waits for other things than a core."""

    is_blocking = True


@dataclass(frozen=True)
class Verbose(Observed):
    """Fails with a text that fits no message."""

    def compute(self, value: Units, loop: ParallelLoop) -> dict[str, Any]:
        loop.for_each(value["units"], 1, fail_with_a_long_text)
        return value


@dataclass(frozen=True)
class Copied(Observed):
    """Gives the tasks an array that is not the loop's."""

    def compute(self, value: Units, loop: ParallelLoop) -> dict[str, Any]:
        loop.for_each(value["units"], 1, fail_with_a_long_text, np.zeros(3))
        return value


def held(signal: Path) -> int:
    """How many tasks have begun to wait for this file."""
    return len(list(signal.parent.glob(f"{signal.name}.*")))


def wait_for(_start: int, _stop: int, path: str) -> None:
    descriptor, _ = tempfile.mkstemp(prefix=f"{Path(path).name}.", dir=Path(path).parent)
    os.close(descriptor)
    deadline = time.monotonic() + 60
    while not Path(path).exists():
        if time.monotonic() > deadline:
            raise TimeoutError(path)
        time.sleep(0.01)


def fail_with_a_long_text(_start: int, _stop: int, *_arguments: Any) -> None:
    raise ValueError("x" * 100_000)


def observe(start: int, stop: int, told: Observed, records: Any) -> None:
    began_ns = time.monotonic_ns()
    if start <= told.failing_unit < stop:
        raise UnpicklableError(told.failing_unit, 7)
    time.sleep(told.unit_seconds)
    if told.meeting is not None:
        told.meeting.attend()
    mask = sum(1 << core for core in os.sched_getaffinity(0))
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    records[start:stop] = (began_ns, time.monotonic_ns(), os.getpid(), stop - start, mask, nice)
