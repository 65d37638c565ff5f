"""A request is done on one of a fixed number of threads, which the service has for all of them."""

from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import count

from ..process import allowed_cores, set_name
from .faults import PoolFailedError
from .gate import Gate
from .job import InOrderLoop, Job
from .strategy import Strategy

THREADS_THAT_WAIT = 20
"""For workloads that wait for other things than a core; for the others a thread a core."""


class PoolThreads(Strategy):
    """concurrent.futures.ThreadPoolExecutor. Who hands a request over does not wait."""

    def __init__(self, threads: int | None, running: int | None) -> None:
        """`threads` for each kind of workload, None: see above; threads start when needed."""
        computing, waiting = threads or len(allowed_cores()), threads or THREADS_THAT_WAIT
        self._numbers = count(1)
        self._computing, self._waiting = (
            ThreadPoolExecutor(each, initializer=self._name_thread) for each in (computing, waiting)
        )
        self.gate = Gate(min(running or computing, computing), waiting)
        self.permits = self.gate.permits

    def execute(self, job: Job) -> "Future[bytes]":
        """See Strategy. Nothing waits in an executor's queue, which asks no client."""
        return self.gate.enter_later(job, self._begin)

    def close(self) -> None:
        """See Strategy. A thread cannot be ended: what runs is cut off with the process."""
        for executor in (self._computing, self._waiting):
            executor.shutdown(wait=False, cancel_futures=True)

    def _name_thread(self) -> None:
        """For /proc: the interpreter's own names do not reach it."""
        set_name(f"WP-{next(self._numbers)}")

    def _begin(self, job: Job, answer: "Future[bytes]") -> None:
        executor = self._waiting if job.workload.is_blocking else self._computing
        try:
            done = executor.submit(job.run, InOrderLoop())
        except RuntimeError:  # it is closed, or there is no thread to be had
            raise PoolFailedError("there is no thread to be had") from None
        done.add_done_callback(partial(self._end, job, answer))

    def _end(self, job: Job, answer: "Future[bytes]", done: "Future[bytes]") -> None:
        self.gate.leave(job)
        if done.cancelled():
            answer.set_exception(PoolFailedError("the threads are closed"))
        elif (error := done.exception()) is not None:
            answer.set_exception(error)
        else:
            answer.set_result(done.result())
