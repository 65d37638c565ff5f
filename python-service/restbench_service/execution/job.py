"""The work of one request, as an execution strategy sees it, here and on its way to a process."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from ..codec.codec import Codec
from ..workloads.workload import Body, InvalidRequestError, ParallelLoop, Workload
from .faults import carries_errors

MEBIBYTE = 2**20
STAGES = ("queue", "parse", "compute", "serialize")


@dataclass(frozen=True)
class WorkLimits:
    """What no request may exceed."""

    working_bytes: int | None = None
    """Of memory in addition to body and answer (error 010); None: any."""
    operations: Mapping[str, int] = field(default_factory=dict)
    """By kind (error 011); of a kind that is not in it, any number."""


UNLIMITED = WorkLimits()


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


class Task(NamedTuple):
    """A job on its way to another process. The memory it needs is reserved before."""

    workload: Workload[Any, Any]
    codec: Codec[Any, Any]
    body: bytes
    query: str
    limits: WorkLimits
    decoded: Any


class JobResult(NamedTuple):
    """What comes back from there: the answer, or the input that was decoded; the stages' times."""

    value: Any
    elapsed_ns: Mapping[str, int]


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

        `reserve` takes the bytes that computing needs, once, and raises where they are not free.
        """
        self.clock = StageClock()
        self.workload, self.codec, self.body, self.query = workload, codec, body, query
        self.limits, self.is_wanted = limits, is_wanted
        self._reserve = reserve
        self._decoded: Any = None

    def run(self, loop: ParallelLoop) -> bytes:
        """The response body, by the three stages one after the other.

        Raises InvalidRequestError where there is none.
        """
        value, clock = self.decode(), self.clock
        clock.switch("compute")
        try:
            output = self.workload.compute(value, loop)
        except InvalidRequestError as error:
            raise InvalidRequestError(error.code, error.message, value.request_id) from None
        del value  # what it takes is free while the answer is written
        clock.add_parts(self.workload.parts_ns(output))
        clock.switch("serialize")
        body = self.codec.encode(output)
        clock.switch("queue")
        return body

    @property
    def has_to_reserve(self) -> bool:
        """Whether it has to be decoded where memory is counted: in the service's own process."""
        return self.workload.holds_memory and self._decoded is None

    def decode_ahead(self) -> Any:
        """The input, which decode() will give again."""
        self._decoded = self.decode()
        return self._decoded

    def decode(self) -> Any:
        """The input, for which memory is reserved then.

        Raises InvalidRequestError, in the order of the codes; what `reserve` raises comes last.
        """
        value, self._decoded = self._decoded, None
        if value is None:
            self.clock.switch("parse")
            value = self.codec.decode(self.body, self.query)
            self._admit(value)
            self.clock.switch("queue")
        return value

    def accept(self, value: Any) -> None:
        """Go on with an input that was decoded elsewhere, or ahead of its turn."""
        self._admit(value)
        self._decoded = value

    def task(self) -> Task:
        """What another process needs. The body is not sent where the input is there already."""
        body = self.body if self._decoded is None else b""
        return Task(self.workload, self.codec, body, self.query, self.limits, self._decoded)

    def _admit(self, value: Any) -> None:
        workload, limits = self.workload, self.limits
        needed_bytes = workload.working_bytes(value)
        if limits.working_bytes is not None and needed_bytes > limits.working_bytes:
            needed, most = -(-needed_bytes // MEBIBYTE), limits.working_bytes // MEBIBYTE
            subject = workload.subject(value)
            text = f"{subject} needs {needed} MiB of memory, the limit is {most} MiB"
            raise InvalidRequestError("010", text, value.request_id)
        if limits.operations:
            operations = workload.operations(value)
            most_operations = limits.operations.get(workload.kind(value), operations)
            if operations > most_operations:
                text = f"operations: {operations:.0f}, the limit is {most_operations}"
                raise InvalidRequestError("011", text, value.request_id)
        if needed_bytes:
            self._reserve(needed_bytes)


class InOrderLoop:
    """Units one after the other, uncut, in the caller; arrays are ordinary memory."""

    def array(self, shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray[Any, Any]:
        """See ParallelLoop."""
        return np.empty(shape, dtype)

    def for_each(self, units: int, units_per_task: int, body: Body, *arguments: Any) -> None:  # noqa: ARG002 - uncut
        """See ParallelLoop."""
        body(0, units, *arguments)


@carries_errors
def run_task(task: Task) -> JobResult:
    """The whole job, in order, in the process that has it."""
    job = _job(task)
    return JobResult(job.run(InOrderLoop()), job.clock.elapsed_ns)


@carries_errors
def decode_task(task: Task) -> JobResult:
    """The first stage alone."""
    job = _job(task)
    return JobResult(job.decode(), job.clock.elapsed_ns)


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
"""In a process of a pool: the workloads it has had requests of."""
