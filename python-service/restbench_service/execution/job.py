"""The work of one request as a strategy sees it, in the service or sent to another process."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from ..codec.codec import Codec
from ..workloads.workload import Body, InvalidRequestError, ParallelLoop, Workload, beyond_memory
from .faults import carries_errors

STAGES = ("queue", "parse", "compute", "serialize")


@dataclass(frozen=True)
class WorkLimits:
    """Limits on the work of one request."""

    working_bytes: int | None = None
    """Memory in addition to body and answer, in bytes (error 010); None: no limit."""
    operations: Mapping[str, int] = field(default_factory=dict)
    """Operations by kind of workload (error 011); a kind that is not listed has no limit."""
    tasks: int | None = None
    """Tasks that are made for a request's loops (error 011); None: no limit."""


UNLIMITED = WorkLimits()


class StageClock:
    """Counts the nanoseconds of each stage. Time outside the other stages belongs to `queue`."""

    __slots__ = ("_current", "_since_ns", "elapsed_ns")

    def __init__(self) -> None:
        """Starts to count; made when the request is complete and about to run."""
        self.elapsed_ns = dict.fromkeys(STAGES, 0)
        self._current, self._since_ns = "queue", perf_counter_ns()

    def switch(self, name: str, at_ns: int | None = None) -> None:
        """Count for this stage from now on, or from `at_ns` of perf_counter_ns(). The code that
        ends a stage switches to the next stage or to queue; after an error the times are not used.
        """
        now_ns = perf_counter_ns() if at_ns is None else at_ns
        self.elapsed_ns[self._current] += now_ns - self._since_ns
        self._current, self._since_ns = name, now_ns

    def add(self, elsewhere_ns: Mapping[str, int], ended_ns: int) -> None:
        """Add the times of another process, and subtract them from queue, which counted here.

        They end at `ended_ns`, by perf_counter_ns(), which all processes of a machine share. The
        way back counts only if another stage follows.
        """
        self.switch("queue", ended_ns)
        for name, value in elsewhere_ns.items():
            if name not in STAGES:
                self.add_parts({name: value})
            elif name != "queue":
                self.elapsed_ns[name] += value
                self.elapsed_ns["queue"] = max(0, self.elapsed_ns["queue"] - value)

    def add_parts(self, parts_ns: Mapping[str, int]) -> None:
        """Add parts that a stage measured. The time of the stage already includes them."""
        for name, value in parts_ns.items():
            self.elapsed_ns[name] = self.elapsed_ns.get(name, 0) + value

    def server_timing(self) -> str:
        """The Server-Timing header: each stage in milliseconds, then the parts of stages."""
        return ", ".join([f"{name};dur={ns / 1e6:.3f}" for name, ns in self.elapsed_ns.items()])


class Task(NamedTuple):
    """A job in the form that is sent to another process, which cannot reserve memory."""

    workload: Workload[Any, Any]
    codec: Codec[Any, Any]
    body: bytes
    query: str
    limits: WorkLimits
    decoded: Any


class JobResult(NamedTuple):
    """The result of a Task: the answer or the decoded input, the times of the stages, and when the
    last of them ended, by perf_counter_ns()."""

    value: Any
    elapsed_ns: Mapping[str, int]
    ended_ns: int


class Job:
    """One request: its stages, and whether its client still waits."""

    def __init__(  # noqa: PLR0913 - all that a request is
        self,
        workload: Workload[Any, Any],
        codec: Codec[Any, Any],
        body: bytes,
        query: str = "",
        limits: WorkLimits = UNLIMITED,
        *,
        reserve: Callable[[int], object] = lambda _: None,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> None:
        """The clock starts here.

        `reserve` is called once with the bytes that computing needs; it raises if they are not
        free.
        """
        self.clock = StageClock()
        self.workload, self.codec, self.body, self.query = workload, codec, body, query
        self.limits, self.is_wanted = limits, is_wanted
        self._reserve = reserve
        self._decoded: Any = None

    def run(self, loop: ParallelLoop, *, has_task_per_unit: bool = False) -> bytes:
        """Run the three stages in order and return the response body. `has_task_per_unit`: the loop
        makes a task of each unit.

        Raises InvalidRequestError for an invalid request, and what `reserve` raises.
        """
        value, clock = self.decode(has_task_per_unit=has_task_per_unit), self.clock
        clock.switch("compute")
        try:
            output = self.workload.compute(value, loop)
        except InvalidRequestError as error:
            raise InvalidRequestError(error.code, error.message, value.request_id) from None
        del value  # frees its memory before the answer is encoded
        clock.add_parts(self.workload.parts_ns(output))
        clock.switch("serialize")
        body = self.codec.encode(output)
        clock.switch("queue")
        return body

    @property
    def has_to_reserve(self) -> bool:
        """Whether this process must get the input, to reserve memory, before another computes."""
        return self.workload.holds_memory and self._decoded is None

    def decode_ahead(self) -> Any:
        """Decode the input and keep it: the next decode() returns it again."""
        self._decoded = self.decode()
        return self._decoded

    def decode(self, *, has_task_per_unit: bool = False) -> Any:
        """The decoded input, after reserving the memory that computing needs.

        Raises InvalidRequestError in the order of the codes, and last what `reserve` raises.
        """
        value, self._decoded = self._decoded, None
        if value is None:
            self.clock.switch("parse")
            value = self.codec.decode(self.body, self.query)
            self._admit(value, has_task_per_unit)
            self.clock.switch("queue")
        return value

    def accept(self, value: Any) -> None:
        """Use an input that another process has decoded. Raises as decode() does."""
        self._admit(value)
        self._decoded = value

    def task(self) -> Task:
        """The job for another process. The body is left out if the input is already decoded."""
        body = self.body if self._decoded is None else b""
        return Task(self.workload, self.codec, body, self.query, self.limits, self._decoded)

    def _admit(self, value: Any, has_task_per_unit: bool = False) -> None:
        workload, limits = self.workload, self.limits
        needed_bytes = workload.working_bytes(value)
        if limits.working_bytes is not None and needed_bytes > limits.working_bytes:
            subject = workload.subject(value)
            raise beyond_memory(subject, needed_bytes, limits.working_bytes, value.request_id)
        if limits.operations:
            operations = workload.operations(value)
            _require("operations", operations, limits.operations.get(workload.kind(value)), value)
        if has_task_per_unit:
            _require("tasks", workload.units(value), limits.tasks, value)
        if needed_bytes:
            self._reserve(needed_bytes)


def _require(what: str, number: float, most: int | None, value: Any) -> None:
    """Raises InvalidRequestError 011 if the number is above the limit; None: no limit."""
    if most is not None and number > most:
        text = f"{what}: {number:.0f}, the limit is {most}"
        raise InvalidRequestError("011", text, value.request_id)


class InOrderLoop:
    """Runs all units with one call on the calling thread; arrays are ordinary memory."""

    def array(self, shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray[Any, Any]:
        """See ParallelLoop."""
        return np.empty(shape, dtype)

    def for_each(self, units: int, units_per_task: int, body: Body, *arguments: Any) -> None:  # noqa: ARG002 - uncut
        """See ParallelLoop."""
        body(0, units, *arguments)


@carries_errors
def run_task(task: Task) -> JobResult:
    """Run all stages of a job in this process, with the loop in order."""
    job = _job(task)
    return JobResult(job.run(InOrderLoop()), job.clock.elapsed_ns, perf_counter_ns())


@carries_errors
def decode_task(task: Task) -> JobResult:
    """Run only the first stage of a job, which decodes the input."""
    job = _job(task)
    return JobResult(job.decode(), job.clock.elapsed_ns, perf_counter_ns())


def _job(task: Task) -> Job:
    workload = _OPEN.get(task.workload)
    if workload is None:
        task.workload.open()
        workload = _OPEN[task.workload] = task.workload
    job = Job(workload, task.codec, task.body, task.query, task.limits)
    if task.decoded is not None:
        job.accept(task.decoded)
    return job


_OPEN: dict[Workload[Any, Any], Workload[Any, Any]] = {}
"""In a process of a pool: the opened workloads, by value, as each task brings a copy."""
