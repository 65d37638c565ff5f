"""The techniques that treat all requests alike: where a request's stages and its loops run."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from functools import partial
from itertools import count
from typing import Any

from ..process import allowed_cores, set_name
from .faults import PoolClosedError, PoolFailedError
from .gate import Gate
from .job import InOrderLoop, Job, JobResult, Task, decode_task, run_task
from .process_pool import ProcessPool
from .shared_loop import SharedLoop
from .strategy import Strategy, completed, hand_over

MOST_DECODED_HERE_BYTES = 4 * 1024
"""The largest body that is decoded in this process to learn how much memory must be reserved. It is
fifty times a NAS request, and is decoded in less than a millisecond, in which others wait."""
BLOCKING_THREADS = 20
"""Threads for blocking workloads; other workloads have one thread per core."""


class Serial(Strategy):
    """PS: the request's own thread does everything, one request at a time."""

    def __init__(self, running: int | None) -> None:
        """`running` requests at once; by default one, since the GIL lets one compute at a time."""
        self.gate = Gate(running or 1)
        self.permits = self.gate.permits

    def execute(self, job: Job) -> "Future[bytes]":
        """See Strategy."""
        return completed(lambda: self._in_turn(job))

    def _in_turn(self, job: Job) -> bytes:
        with self.gate.entered(job):
            return job.run(InOrderLoop())


class _Pooled(Strategy):
    """A technique with a pool of processes, which is closed with it."""

    def __init__(self, pool: ProcessPool, gate: Gate) -> None:
        self._pool, self.gate, self.permits = pool, gate, gate.permits

    def await_ready(self) -> None:
        """See Strategy."""
        self._pool.await_ready()

    def close(self) -> None:
        """See Strategy."""
        self._pool.close()


class PerElement(_Pooled):
    """Each element of the result is a task for a process, with operands and product in shared
    memory; the request's own thread does the rest."""

    def __init__(self, pool: ProcessPool, running: int | None) -> None:
        """By default one request runs at a time, since the pool works for one request at a time
        anyway."""
        super().__init__(pool, Gate(running or 1))

    def execute(self, job: Job) -> "Future[bytes]":
        """See Strategy."""
        return completed(lambda: self._in_turn(job))

    def _in_turn(self, job: Job) -> bytes:
        with self.gate.entered(job), closing(SharedLoop(self._pool)) as loop:
            return job.run(loop, has_task_per_unit=True)


class PerRequest(_Pooled):
    """A process does all stages of a request; at most as many requests run as processes exist."""

    def __init__(self, pool: ProcessPool, running: int | None) -> None:
        """`running` is the setting; None: as many as processes."""
        super().__init__(pool, Gate(min(running or pool.size, pool.size), pool.size))

    def execute(self, job: Job) -> "Future[bytes]":
        """See Strategy. A request waits at the gate, without a thread, rather than in the pool,
        which does not check whether its client has gone."""
        return self.gate.enter_later(job, self._begin)

    def _begin(self, job: Job, answer: "Future[bytes]") -> None:
        if job.has_to_reserve and len(job.body) > MOST_DECODED_HERE_BYTES:
            decoded = self._submitted(decode_task, job)
            decoded.add_done_callback(partial(self._go_on, job, answer))
            return
        if job.has_to_reserve:
            job.decode_ahead()
        self._compute(job, answer)

    def _go_on(self, job: Job, answer: "Future[bytes]", decoded: "Future[JobResult]") -> None:
        """Compute a request that a process has decoded, unless decoding or reserving fails."""
        try:
            done = decoded.result()
            job.clock.add(done.elapsed_ns, done.ended_ns)
            job.accept(done.value)
            self._compute(job, answer)
        except Exception as error:  # the answer raises it
            self.gate.leave(job)
            answer.set_exception(error)

    def _compute(self, job: Job, answer: "Future[bytes]") -> None:
        done = self._submitted(run_task, job)
        done.add_done_callback(partial(self._end, job, answer))

    def _submitted(self, call: Callable[[Task], JobResult], job: Job) -> "Future[JobResult]":
        """Submit a call to the pool. Raises an error that is known at once, as when the pool has
        no processes: if a callback reported it, each job would start the next one from within its
        own callback until the stack overflows."""
        done = self._pool.submit(call, job.task())
        if done.done() and (error := done.exception()):
            raise error
        return done

    def _end(self, job: Job, answer: "Future[bytes]", future: "Future[JobResult]") -> None:
        self.gate.leave(job)

        def body() -> Any:
            done = future.result()
            job.clock.add(done.elapsed_ns, done.ended_ns)
            return done.value

        completed(body, answer)


class WorkerPool(Strategy):
    """A thread of a ThreadPoolExecutor does all stages of a request; the caller does not wait."""

    def __init__(self, threads: int | None, running: int | None) -> None:
        """`threads` each for computing and for blocking workloads; None: one per core, and
        BLOCKING_THREADS. Threads start when needed."""
        computing, waiting = threads or len(allowed_cores()), threads or BLOCKING_THREADS
        self._numbers, self._is_closed = count(1), False
        self._computing, self._waiting = (
            ThreadPoolExecutor(each, initializer=self._name_thread) for each in (computing, waiting)
        )
        self.gate = Gate(min(running or computing, computing), waiting)
        self.permits = self.gate.permits

    def execute(self, job: Job) -> "Future[bytes]":
        """See Strategy. A request waits at the gate rather than in the executor, which does not
        check whether its client has gone."""
        return self.gate.enter_later(job, self._begin)

    def close(self) -> None:
        """See Strategy. A thread cannot be ended: jobs that run end with the process."""
        self._is_closed = True
        for executor in (self._computing, self._waiting):
            executor.shutdown(wait=False)

    def _name_thread(self) -> None:
        """Set the name in /proc, where the names of Python's threads do not appear."""
        set_name(f"WP-{next(self._numbers)}")

    def _begin(self, job: Job, answer: "Future[bytes]") -> None:
        executor = self._waiting if job.workload.is_blocking else self._computing
        try:
            hand_over(executor, partial(self._run, job, answer))
        except RuntimeError:
            if self._is_closed:
                raise PoolClosedError("the threads are closed") from None
            raise PoolFailedError("no thread can be started") from None

    def _run(self, job: Job, answer: "Future[bytes]") -> None:
        done = completed(lambda: job.run(InOrderLoop()))
        self.gate.leave(job)
        completed(done.result, answer)
