"""A request is done from its bytes to its bytes in one process of a pool."""

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial

from .gate import Gate
from .job import Done, Job, Task, decode_task, run_task
from .strategy import Strategy
from .worker_pool import WorkerPool

MOST_DECODED_HERE_BYTES = 4 * 1024
"""Of a request that says only when decoded what memory it needs, which is reserved here: fifty
times what a kernel's request needs, and read in less than a millisecond, in which others wait."""


class PerRequest(Strategy):
    """As many requests at once as there are processes, each from its bytes to its bytes."""

    def __init__(self, pool: WorkerPool, running: int | None) -> None:
        """The pool is closed with the strategy."""
        self._pool, self.gate = pool, Gate(min(running or pool.size, pool.size), pool.size)
        self.permits = self.gate.permits

    def execute(self, job: Job) -> "Future[bytes]":
        """See Strategy. No thread waits, nor a request in the pool, which asks no client."""
        return self.gate.enter_later(job, self._begin)

    def await_ready(self) -> None:
        """See Strategy."""
        self._pool.await_ready()

    def close(self) -> None:
        """See Strategy."""
        self._pool.close()

    def _begin(self, job: Job, answer: "Future[bytes]") -> None:
        if job.has_to_reserve and len(job.body) > MOST_DECODED_HERE_BYTES:
            decoded = self._submitted(decode_task, job)
            decoded.add_done_callback(partial(self._go_on, job, answer))
            return
        if job.has_to_reserve:
            job.decode_ahead()
        self._compute(job, answer)

    def _go_on(self, job: Job, answer: "Future[bytes]", decoded: "Future[Done]") -> None:
        """The rest of a request that was decoded elsewhere, unless there is none for it."""
        try:
            done = decoded.result()
            job.clock.add(done.elapsed_ns)
            job.accept(done.value)
            self._compute(job, answer)
        except Exception as error:  # carried to who waits for the answer
            self.gate.leave(job)
            answer.set_exception(error)

    def _compute(self, job: Job, answer: "Future[bytes]") -> None:
        done = self._submitted(run_task, job)
        done.add_done_callback(partial(self._end, job, answer))

    def _submitted(self, call: Callable[[Task], Done], job: Job) -> "Future[Done]":
        """Raises what is known at once, as of a pool that is not back: a callback would let the
        next one in on top of this one, and so on until the stack is full."""
        done = self._pool.submit(call, job.task())
        if done.done() and (error := done.exception()):
            raise error
        return done

    def _end(self, job: Job, answer: "Future[bytes]", future: "Future[Done]") -> None:
        self.gate.leave(job)
        error = future.exception()
        if error is not None:
            answer.set_exception(error)
            return
        done = future.result()
        job.clock.add(done.elapsed_ns)
        answer.set_result(done.value)
