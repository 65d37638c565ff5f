"""F1: each request is handled where that is best for it and for the others in flight."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from statistics import median
from threading import Lock
from time import perf_counter_ns
from typing import Any, Literal

from .job import InOrderLoop, Job
from .process_pool import ProcessPool
from .strategy import Strategy, completed
from .techniques import PerRequest, Serial

Decision = Literal["caller", "process", "low-priority"]
NICENESS = 10
"""Such a process gets a tenth of a normal one's share of a core while both want the core, and all
of the core otherwise (sched(7))."""
LONG_NS = 10_000_000.0
"""A request that is estimated to take this long or longer is long: others must not wait for it. Ten
of the study's small requests take about as long, so a small one waits no longer than in a queue of
ten."""
MIN_DISPATCHES = 5.0
"""Work goes to another process if it takes longer than this many dispatches of its body. A dispatch
is work for both sides and takes longer under load. Measured on one machine of two cores with ten
users: processes had 1.02 times the throughput of serial where the work took 4.3 dispatches, 1.2
times at 6.7 and 1.5 times at 20; with bodies of hundreds of kilobytes 0.6 at 2.6, 0.85 at 3.6."""
MOST_DECODED_HERE_BYTES = 64 * 1024
"""A longer body's cost is estimated from its length: decoding it here would keep others waiting."""
UNKNOWN_NS_PER_OPERATION, UNKNOWN_NS_PER_BYTE = 50.0, 1000.0
"""Estimates until the first request of a kind has ended: as slow as plain Python, so that no other
request waits for a long one."""
NEWEST_WEIGHT = 0.2
"""Weight of the newest request in the exponential moving average."""
DISPATCHES = 30
SENT_BYTE_NS = 5.0
"""What each byte of a body adds to its dispatch under load, when the threads at both ends of the
pipe wait for the interpreter and for a core: 3 to 8, measured on one machine with ten users. On an
idle machine it is a tenth, so it is not measured at the start."""


class Adaptive(Strategy):
    """Small requests on their own thread, others in processes, long ones at low priority."""

    permits = None

    def __init__(self, shared: ProcessPool, low_priority: ProcessPool, running: int | None) -> None:
        """The pools are closed with the strategy. `running` limits the requests in each place."""
        self._pool = shared
        caller = Serial(running)
        self._turns = caller.gate
        self._places: dict[Decision, Strategy] = {
            "caller": caller,
            "process": PerRequest(shared, running),
            "low-priority": PerRequest(low_priority, running),
        }
        self._guard = Lock()
        self._decisions: dict[str, int] = dict.fromkeys(self._places, 0)
        self._present = 0
        """Requests that are not answered yet, without those at low priority."""
        self._ns_per: dict[tuple[str, ...], float] = {}
        self._dispatch_ns = 300_000.0

    def execute(self, job: Job) -> "Future[bytes]":
        """See Strategy. A short body is decoded under the gate of `caller`: threads that decode at
        the same time would wait for the interpreter lock."""
        with self._guard:
            self._present += 1
        if len(job.body) > MOST_DECODED_HERE_BYTES:
            place, ended = self._decided(job)
            answer = self._places[place].execute(job)
        else:
            try:
                with self._turns.entered(job):
                    place, ended = self._decided(job)
                    if place == "caller":
                        answer = completed(lambda: job.run(InOrderLoop()))
            except Exception as error:  # the request is wrong, or too large, or its client is gone
                with self._guard:
                    self._present -= 1
                wrong: Future[bytes] = Future()
                wrong.set_exception(error)
                return wrong
            if place != "caller":
                answer = self._places[place].execute(job)
        answer.add_done_callback(ended)
        return answer

    def _decided(self, job: Job) -> tuple[Decision, Callable[["Future[bytes]"], None]]:
        """The place where the job runs, and the callback for the job's answer."""
        measure, amount, unknown_ns = self._size(job)
        with self._guard:
            place = self._place(amount * self._ns_per.get(measure, unknown_ns), len(job.body))
            self._decisions[place] += 1
            self._present -= place == "low-priority"

        def ended(answer: "Future[bytes]") -> None:
            is_byte = measure[0] == "byte of"
            stages = ("parse", "compute", "serialize") if is_byte else ("compute",)
            took_ns = sum(job.clock.elapsed_ns[stage] for stage in stages) / amount
            with self._guard:
                self._present -= place != "low-priority"
                if answer.exception() is None:
                    before = self._ns_per.get(measure, took_ns)
                    # It includes waits for a core, so a far longer one counts as twice the mean.
                    newest = NEWEST_WEIGHT * (min(took_ns, 2 * before) - before)
                    self._ns_per[measure] = before + newest

        return place, ended

    def facts(self) -> Mapping[str, Any]:
        """See Strategy. A unit is an operation of a kind, or a byte of a long body."""
        with self._guard:
            learnt = {" ".join(measure): ns for measure, ns in self._ns_per.items()}
        return {
            "dispatchMicros": self._dispatch_ns / 1e3,
            "longFromMicros": LONG_NS / 1e3,
            "nanosPerUnit": learnt,
        }

    def decisions(self) -> Mapping[str, int]:
        """See Strategy. A decision is the place where a request ran."""
        return self._decisions

    def await_ready(self) -> None:
        """See Strategy. Then measures how long a dispatch takes."""
        for place in self._places.values():
            place.await_ready()
        self._dispatch_ns = median(self._dispatched_ns() for _ in range(DISPATCHES))

    def close(self) -> None:
        """See Strategy."""
        for place in self._places.values():
            place.close()

    def _size(self, job: Job) -> tuple[tuple[str, ...], float, float]:
        """The unit of the estimate, how many there are, and the ns per unit while unknown."""
        if len(job.body) > MOST_DECODED_HERE_BYTES:
            measure = ("byte of", job.workload.name, job.codec.query_kind(job.query))
            return measure, float(len(job.body)), UNKNOWN_NS_PER_BYTE
        value = job.decode_ahead()
        operations = max(1.0, job.workload.operations(value))
        return ("operation of", job.workload.kind(value)), operations, UNKNOWN_NS_PER_OPERATION

    def _place(self, estimate_ns: float, body_bytes: int) -> Decision:
        if estimate_ns >= LONG_NS:
            return "low-priority"
        dispatch_ns = self._dispatch_ns + SENT_BYTE_NS * body_bytes
        if self._present > 1 and estimate_ns > MIN_DISPATCHES * dispatch_ns:
            return "process"
        return "caller"

    def _dispatched_ns(self) -> int:
        began_ns = perf_counter_ns()
        self._pool.submit(int).result()
        return perf_counter_ns() - began_ns
