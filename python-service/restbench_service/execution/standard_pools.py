"""The two pools of processes of Python's library, under one interface.

This is the one place that knows what is inside them: neither has a public way to end after one of
its processes was killed. The names below are the same from Python 3.9 to 3.14.
"""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from multiprocessing.pool import TERMINATE
from typing import Any, Protocol

from .faults import WorkerDiedError

Succeeded = Callable[[Any], None]
Failed = Callable[[BaseException], None]

JOIN_SECONDS, LOCK_SECONDS = 2.0, 0.1
PAUSE_SECONDS = 0.05
CONTEXT = get_context("forkserver")
"""`fork` would copy a process that has threads, `spawn` would import numpy once a process."""


class StandardPool(Protocol):
    """Processes that calls are given to. `submit` and `map` raise where the pool is broken."""

    def submit(
        self,
        call: Callable[..., Any],
        arguments: tuple[Any, ...],
        succeeded: Succeeded,
        failed: Failed,
    ) -> None:
        """One call; one of the two is called with what came of it, on whatever thread."""

    def map(
        self, call: Callable[[int], None], units: range, succeeded: Succeeded, failed: Failed
    ) -> None:
        """Each unit a task. No task runs any more when `failed` is called, or the pool is dead."""

    def warm(self) -> None:
        """Start processes that are started when they are needed."""

    def discard(self) -> None:
        """Kill the processes and end the threads, whatever state a dead process has left."""


PoolKind = Callable[[int, Callable[..., None], tuple[Any, ...]], StandardPool]
"""Size, what each process calls first, and with what."""


class MultiprocessingPool:
    """multiprocessing.Pool."""

    def __init__(
        self, size: int, initializer: Callable[..., None], arguments: tuple[Any, ...]
    ) -> None:
        """Raises OSError or EOFError where no process can be started."""
        self._pool: Any = CONTEXT.Pool(size, initializer, arguments)

    def submit(
        self,
        call: Callable[..., Any],
        arguments: tuple[Any, ...],
        succeeded: Succeeded,
        failed: Failed,
    ) -> None:
        """See StandardPool."""
        self._pool.apply_async(call, arguments, callback=succeeded, error_callback=failed)

    def map(
        self, call: Callable[[int], None], units: range, succeeded: Succeeded, failed: Failed
    ) -> None:
        """See StandardPool."""
        self._pool.map_async(call, units, 1, callback=succeeded, error_callback=failed)

    def warm(self) -> None:
        """They were started at once."""

    def discard(self) -> None:
        """As Pool.terminate() does, but without what may never come.

        That waits for a lock that a killed process may have held, and for the rest of a message
        that it may have been reading or writing.
        """
        pool = self._pool
        threads = (pool._worker_handler, pool._task_handler, pool._result_handler)
        pool._terminate.cancel()
        pool._state = TERMINATE
        for thread in threads:
            thread._state = TERMINATE
        pool._change_notifier.put(None)
        pool._worker_handler.join(JOIN_SECONDS)  # or it would replace who is killed
        _kill(pool._pool)
        pool._inqueue._reader.close()  # a put of a body that nobody reads fails
        pool._outqueue._wlock.acquire(timeout=LOCK_SECONDS)  # who still has it then is dead
        pool._outqueue._wlock.release()
        pool._outqueue._writer.close()  # a get of an answer that nobody writes ends
        pool._taskqueue.put(None)
        for thread in threads:
            thread.join(JOIN_SECONDS)


class ExecutorPool:
    """concurrent.futures.ProcessPoolExecutor."""

    def __init__(
        self, size: int, initializer: Callable[..., None], arguments: tuple[Any, ...]
    ) -> None:
        """Raises OSError or EOFError where no process can be started."""
        self._size = size
        self._executor: Any = ProcessPoolExecutor(size, CONTEXT, initializer, arguments)
        self.warm()

    def submit(
        self,
        call: Callable[..., Any],
        arguments: tuple[Any, ...],
        succeeded: Succeeded,
        failed: Failed,
    ) -> None:
        """See StandardPool."""

        def answer(future: "Future[Any]") -> None:
            error = None if future.cancelled() else future.exception()
            if future.cancelled() or isinstance(error, BrokenProcessPool):
                failed(WorkerDiedError("a process of the executor died"))
            elif error is not None:
                failed(error)
            else:
                succeeded(future.result())

        self._executor.submit(call, *arguments).add_done_callback(answer)

    def map(
        self, call: Callable[[int], None], units: range, succeeded: Succeeded, failed: Failed
    ) -> None:
        """Executor.map with chunks of one is this, but that it does not wait after an error."""
        futures = [self._executor.submit(call, unit) for unit in units]
        try:
            for future in futures:
                future.result()
        except BrokenProcessPool:
            failed(WorkerDiedError("a process of the executor died"))
        except Exception as error:  # of a task, carried to who wants the loop
            for future in futures:
                future.cancel()
            wait(futures)
            failed(error)
        else:
            succeeded(None)

    def warm(self) -> None:
        """It starts a process when a task comes while none is idle."""
        for _ in range(self._size):
            self._executor.submit(time.sleep, PAUSE_SECONDS)

    def discard(self) -> None:
        """Killed first: what a signal to terminate asks for, the processes do not listen to."""
        processes = list((self._executor._processes or {}).values())
        manager = self._executor._executor_manager_thread
        _kill(processes)
        self._executor.shutdown(wait=False, cancel_futures=True)
        if manager is not None:
            manager.join(JOIN_SECONDS)


def _kill(processes: Iterable[Any]) -> None:
    processes = list(processes)
    for process in processes:
        process.kill()
    for process in processes:
        process.join(JOIN_SECONDS)
