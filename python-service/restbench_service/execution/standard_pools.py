"""The two process pools of Python's library behind one interface.

Only this module uses internals of the two: neither has a public way to end after one of its
processes was killed. The internal names below are the same from Python 3.9 to 3.14.
"""

import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from multiprocessing.pool import TERMINATE
from threading import Event
from typing import Any

from .faults import WorkerDiedError

Call = Callable[..., Any]
Arguments = tuple[Any, ...]
Answer = Callable[[Any, BaseException | None], None]
"""Called on any thread with a result and None, or with None and an error."""

JOIN_SECONDS, LOCK_SECONDS = 2.0, 0.1
WARM_TASK_SECONDS = 0.05
DEAD_CHECK_SECONDS = 1.0
TASKS_AT_ONCE = 1000
"""Tasks of a loop that are submitted at once. ProcessPoolExecutor.submit() writes to a pipe while
it holds a lock that the executor's manager thread needs to empty the pipe: with 16 384 tasks in the
pipe both wait forever (cpython gh-105829)."""
CONTEXT = get_context("forkserver")
"""`fork` would copy a process that has threads, `spawn` would import numpy in each process."""
MAX_FOLDER_CHARACTERS = 107 - len("/pymp-12345678/listener-12345678")


def prepare_fork_server(modules: Sequence[str]) -> None:
    """Set what the fork server imports and where it listens. To be called before the first pool.

    It listens on a socket in the folder for temporary files. As a socket's path has 107 characters
    at most (cpython gh-93852), /tmp replaces a folder with a longer path.
    """
    if len(tempfile.gettempdir()) > MAX_FOLDER_CHARACTERS:
        tempfile.tempdir = "/tmp"  # noqa: S108 - what is made there has a folder of its own
    CONTEXT.set_forkserver_preload([*modules])


class MultiprocessingPool:
    """multiprocessing.Pool. `submit` and `map` raise if the pool is broken."""

    def __init__(self, size: int, initializer: Call, arguments: Arguments) -> None:
        pool: Any = CONTEXT.Pool(size, initializer, arguments)
        self._pool, self._first = pool, [*pool._pool]

    def submit(self, call: Call, arguments: Arguments, answer: Answer) -> None:
        """Run one call in a process; `answer` gets the outcome."""
        self._pool.apply_async(call, arguments, {}, *_callbacks(answer))

    def map(self, call: Call, units: range, answer: Answer) -> None:
        """Run a call for each unit, each as a task: the default chunk size would put many into one.
        When `answer` is called no task runs any more, unless the pool is dead."""
        self._pool.map_async(call, units, 1, *_callbacks(answer))

    def warm(self) -> None:
        """Start processes that otherwise start when needed. Raises WorkerDiedError if one died. The
        constructor has started all; the pool replaces a dead one, but loses the task it had read.
        """
        if self._first != self._pool._pool:
            raise WorkerDiedError("a process of the pool died")

    def discard(self) -> None:
        """Kill the processes and end the threads, whatever state a dead process left them in.

        terminate() waits for a lock that a killed process may have held, and for the rest of a
        message that this process may have been reading or writing.
        """
        pool = self._pool
        threads = (pool._worker_handler, pool._task_handler, pool._result_handler)
        pool._terminate.cancel()
        pool._state = TERMINATE
        for thread in threads:
            thread._state = TERMINATE
        pool._change_notifier.put(None)
        pool._worker_handler.join(JOIN_SECONDS)  # or it would replace killed processes
        _kill(pool._pool)
        pool._inqueue._reader.close()  # a put that no process reads fails now
        pool._outqueue._wlock.acquire(timeout=LOCK_SECONDS)  # a later holder is dead
        pool._outqueue._wlock.release()
        pool._outqueue._writer.close()  # a get that no process answers ends now
        pool._taskqueue.put(None)
        for thread in threads:
            thread.join(JOIN_SECONDS)


class ExecutorPool:
    """concurrent.futures.ProcessPoolExecutor, with the methods of MultiprocessingPool."""

    def __init__(self, size: int, initializer: Call, arguments: Arguments) -> None:
        self._size = size
        self._executor: Any = ProcessPoolExecutor(size, CONTEXT, initializer, arguments)
        self._is_dead = Event()
        self.warm()

    def submit(self, call: Call, arguments: Arguments, answer: Answer) -> None:
        """See MultiprocessingPool."""

        def done(future: "Future[Any]") -> None:
            error = _error_of(future)
            answer(None if error else future.result(), error)

        self._executor.submit(call, *arguments).add_done_callback(done)

    def map(self, call: Call, units: range, answer: Answer) -> None:
        """Like Executor.map, but submits in parts and does not rely on an answer to each task.

        An executor that breaks during submission may lose tasks. No task is cancelled: the
        executor would stop at a cancelled task and never answer the tasks after it.
        """
        for start in range(0, len(units), TASKS_AT_ONCE):
            some = units[start : start + TASKS_AT_ONCE]
            futures = [self._executor.submit(call, unit) for unit in some]
            while wait(futures, DEAD_CHECK_SECONDS).not_done:
                if self._is_dead.is_set():
                    raise WorkerDiedError("the executor died")
            error = next(filter(None, map(_error_of, futures)), None)
            if error:
                break
        answer(None, error)

    def warm(self) -> None:
        """See MultiprocessingPool. The executor starts a process for a task if none is idle."""
        try:
            for _ in range(self._size):
                self._executor.submit(time.sleep, WARM_TASK_SECONDS)
        except BrokenProcessPool as error:
            raise WorkerDiedError("a process of the executor died") from error

    def discard(self) -> None:
        """See MultiprocessingPool. The processes are killed first, as they ignore SIGTERM."""
        manager = self._executor._executor_manager_thread
        _kill((self._executor._processes or {}).values())
        self._executor.shutdown(wait=False, cancel_futures=True)
        if manager is not None:
            manager.join(JOIN_SECONDS)
        self._is_dead.set()


StandardPool = MultiprocessingPool | ExecutorPool
PoolKind = Callable[[int, Call, Arguments], StandardPool]
"""Makes a pool from its size, an initializer for each process, and the initializer's arguments.
Raises if no process can be started."""


def _callbacks(answer: Answer) -> tuple[Call, Call]:
    """The callbacks for a result and for an error."""
    return (lambda value: answer(value, None)), (lambda error: answer(None, error))


def _error_of(future: "Future[Any]") -> BaseException | None:
    """Wait for a future. Returns the error it ended with, if any."""
    if future.cancelled() or isinstance(future.exception(), BrokenProcessPool):
        return WorkerDiedError("a process of the executor died")
    return future.exception()


def _kill(processes: Iterable[Any]) -> None:
    processes, deadline = list(processes), time.monotonic() + JOIN_SECONDS
    for process in processes:
        process.kill()
    for process in processes:
        process.join(max(0.0, deadline - time.monotonic()))
