"""F1: each request is handled where that is best for it and for the others in flight."""

from collections.abc import Mapping
from concurrent.futures import Future
from functools import partial
from statistics import median
from threading import Lock
from time import perf_counter_ns
from typing import Any, Literal

from .job import Job
from .per_request import PerRequest
from .serial import Serial
from .strategy import Strategy, completed
from .worker_pool import WorkerPool

Decision = Literal["caller", "process", "low-priority"]
NICENESS = 10
"""A tenth of a normal process's share of a core where both want it (sched(7)); all of it else."""
LONG_NS = 10_000_000.0
"""From here on a request is long: others must not wait for it. About what ten of the study's small
requests take, so a small one never waits longer than it would in a queue of ten."""
WORTH_DISPATCHES = 5.0
"""Work goes to another process when it takes so many times as long as the dispatch of its body,
which is work for both sides and takes longer under load. Measured on one machine of two cores, ten
users: processes against serial had 1.02 of the throughput at 4.3 dispatches, 1.2 at 6.7 and 1.5 at
20; with bodies of hundreds of kilobytes 0.6 at 2.6 and 0.85 at 3.6."""
MOST_DECODED_HERE_BYTES = 64 * 1024
"""A longer body's cost is estimated from its length: decoding it here would keep others waiting."""
UNKNOWN_NS_PER_OPERATION, UNKNOWN_NS_PER_BYTE = 50.0, 1000.0
"""Until the first of its kind has ended: as plain Python, so that nobody waits for it."""
MOST_KINDS = 64
"""Queries are the clients' to choose: of more, the estimates are forgotten."""
WEIGHT = 0.2
"""Of the newest request in the exponential mean."""
DISPATCHES = 30
SENT_BYTES = 256 * 1024
"""Of the body whose dispatch is measured: longer than the pipe to the processes holds at once."""


class Adaptive(Strategy):
    """Small requests on their own thread, others in processes, long ones at low priority."""

    name = "adaptive"
    key = "F1"
    description = (
        "Each request runs where its estimated cost and those in flight suggest: on its own thread "
        "as serial, in a process as process-per-request or, if it is long, in one of low priority."
    )
    permits = None

    def __init__(self, shared: WorkerPool, low_priority: WorkerPool, running: int | None) -> None:
        """The pools are closed with the strategy. `running` limits those in each place."""
        self._pool = shared
        self._places: dict[Decision, Serial | PerRequest] = {
            "caller": Serial(running),
            "process": PerRequest("", None, "", shared, running),
            "low-priority": PerRequest("", None, "", low_priority, running),
        }
        self._guard = Lock()
        self._decisions: dict[str, int] = dict.fromkeys(self._places, 0)
        self._in_flight: dict[str, int] = dict.fromkeys(self._places, 0)
        self._ns_per: dict[tuple[str, ...], float] = {}
        self._dispatch_ns, self._sent_byte_ns = 300_000.0, 5.0

    def execute(self, job: Job) -> "Future[bytes]":
        """See Strategy."""
        try:
            measure, amount, unknown = self._size(job)
        except Exception as error:  # the request is wrong, or too large
            return completed(partial(_raise, error))
        with self._guard:
            place = self._place(amount * self._ns_per.get(measure, unknown), len(job.body))
            self._decisions[place] += 1
            self._in_flight[place] += 1
        answer = self._places[place].execute(job)
        answer.add_done_callback(partial(self._ended, place, job, measure, amount))
        return answer

    def facts(self) -> Mapping[str, Any]:
        """What it decides by; a unit is an operation of a kind, or a byte of a long body."""
        with self._guard:
            learnt = {" ".join(measure): ns for measure, ns in self._ns_per.items()}
        return {
            "dispatchMicros": self._dispatch_ns / 1e3,
            "dispatchNanosPerByte": self._sent_byte_ns,
            "longFromMicros": LONG_NS / 1e3,
            "nanosPerUnit": learnt,
        }

    def decisions(self) -> Mapping[str, int]:
        """Requests by where they were handled."""
        return self._decisions

    def await_ready(self) -> None:
        """See Strategy. What a dispatch takes is measured then, with and without a body."""
        for place in self._places.values():
            place.await_ready()
        bodies = (b"", bytes(SENT_BYTES))
        for body in bodies * DISPATCHES:  # the first ones are slower
            self._dispatched_ns(body)
        pairs = [[self._dispatched_ns(body) for body in bodies] for _ in range(DISPATCHES)]
        empty_ns, sent_ns = map(median, zip(*pairs, strict=True))
        self._dispatch_ns, self._sent_byte_ns = empty_ns, max(0.0, sent_ns - empty_ns) / SENT_BYTES

    def close(self) -> None:
        """See Strategy."""
        for place in self._places.values():
            place.close()

    def _size(self, job: Job) -> tuple[tuple[str, ...], float, float]:
        """What the estimate is learnt for, how much of it, and what one takes while unknown."""
        if len(job.body) > MOST_DECODED_HERE_BYTES:
            return (
                ("byte of", job.workload.name, job.query),
                float(len(job.body)),
                UNKNOWN_NS_PER_BYTE,
            )
        value = job.decode_ahead()
        operations = max(1.0, job.workload.operations(value))
        return ("operation of", job.workload.kind(value)), operations, UNKNOWN_NS_PER_OPERATION

    def _place(self, estimate_ns: float, body_bytes: int) -> Decision:
        if estimate_ns >= LONG_NS:
            return "low-priority"
        has_company = self._in_flight["caller"] + self._in_flight["process"] > 0
        dispatch_ns = self._dispatch_ns + self._sent_byte_ns * body_bytes
        if has_company and estimate_ns > WORTH_DISPATCHES * dispatch_ns:
            return "process"
        return "caller"

    def _ended(
        self,
        place: Decision,
        job: Job,
        measure: tuple[str, ...],
        amount: float,
        answer: "Future[bytes]",
    ) -> None:
        is_byte = measure[0] == "byte of"
        stages = ("parse", "compute", "serialize") if is_byte else ("compute",)
        took_ns = sum(job.clock.elapsed_ns[stage] for stage in stages) / amount
        with self._guard:
            self._in_flight[place] -= 1
            if answer.exception() is None:
                if measure not in self._ns_per and len(self._ns_per) >= MOST_KINDS:
                    self._ns_per.clear()
                before = self._ns_per.get(measure, took_ns)
                # A wait for a core looks like work: one that took far longer says little.
                self._ns_per[measure] = before + WEIGHT * (min(took_ns, 2 * before) - before)

    def _dispatched_ns(self, body: bytes) -> int:
        began_ns = perf_counter_ns()
        self._pool.submit(len, body).result()
        return perf_counter_ns() - began_ns


def _raise(error: Exception) -> bytes:
    raise error
