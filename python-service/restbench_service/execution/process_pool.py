"""A pool of processes for the service: a standard pool that is replaced when a process dies.

Neither standard pool survives the death of a process. multiprocessing.Pool replaces the process,
but loses the task of the dead one and keeps its lock locked; ProcessPoolExecutor breaks. So both
are watched from outside and replaced as a whole.
"""

import gc
import logging
import os
import select
import signal
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import resource_tracker
from threading import Condition, Thread, Timer
from time import monotonic
from typing import Any

from .faults import PoolClosedError, PoolFailedError, WorkerDiedError
from .standard_pools import Answer, Call, PoolKind, StandardPool
from .worker import begin_work

START_SECONDS = 30.0
"""Time in which all processes must become ready: it suffices to import numpy under load from a slow
disk."""
WARM_SECONDS = 0.5
RETRY_SECONDS = 1.0
REPLACE_SECONDS = 1.0
"""How long calls wait for a pool that is being replaced: their answers may be this much later."""
END_SECONDS = 5.0

_LOG = logging.getLogger(__name__)
Order = Callable[[StandardPool, Answer], None]


class ProcessPool:
    """A standard pool and the thread that replaces it when a process dies.

    Each accepted call is answered with its result, its own error, or an error of the pool
    (WorkerDiedError, PoolFailedError).
    """

    def __init__(
        self, kind: PoolKind, name: str, size: int, modules: tuple[str, ...], niceness: int = 0
    ) -> None:
        """The processes are `name-1`, `name-2`, ... in /proc, with at most 15 characters."""
        self.name, self.size = name, size
        self._kind, self._modules, self._niceness = kind, modules, niceness
        self._changed = Condition()
        self._pool: StandardPool | None = None
        self._heals_by = monotonic() + START_SECONDS
        self._is_ready = self._is_closed = False
        self._pending: set[Future[Any]] = set()
        self._waiting: list[tuple[Future[Any], Order]] = []
        self._wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._keeper = Thread(target=self._keep, name=f"keep-{name}", daemon=True)
        self._keeper.start()

    def submit(self, call: Call, *arguments: Any) -> "Future[Any]":
        """Run one call in one of the processes. While the pool is being replaced the call waits,
        but no longer than REPLACE_SECONDS after the loss. Raises PoolFailedError if it cannot.
        """
        future: Future[Any] = Future()

        def order(pool: StandardPool, answer: Answer) -> None:
            pool.submit(call, arguments, answer)

        with self._changed:
            if self._pool is None and not self._is_closed and self._healing_seconds() > 0:
                if not self._waiting:
                    self._refuse_later()
                self._waiting.append((future, order))
                return future
        self._give(future, order)
        return future

    def map(self, call: Call, units: range) -> None:
        """Run the call for each unit, each as one task; return when all are done."""
        with self._changed:
            self._changed.wait_for(lambda: self._pool or self._is_closed, self._healing_seconds())
        future: Future[None] = Future()
        self._give(future, lambda pool, answer: pool.map(call, units, answer))
        future.result()

    def await_ready(self) -> None:
        """Return when all processes are ready. Raises PoolFailedError after START_SECONDS."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_ready or self._is_closed, START_SECONDS)
            if not self._is_ready:
                raise PoolFailedError(f"{self.name} did not start within {START_SECONDS:.0f} s")

    def close(self) -> None:
        """Kill the processes; calls that are not answered fail."""
        with self._changed:
            if self._is_closed:
                return
            self._is_closed = True
        os.eventfd_write(self._wake, 1)
        self._keeper.join(END_SECONDS)
        if not self._keeper.is_alive():
            os.close(self._wake)

    def _give(self, future: "Future[Any]", order: Order) -> None:
        with self._changed:
            pool = self._pool
            self._pending.add(future)
        if self._is_closed:
            self._answer(future, pool, None, PoolClosedError(f"{self.name} is closed"))
            return
        if pool is None:
            self._answer(future, pool, None, PoolFailedError(f"{self.name} has no processes now"))
            return
        try:
            order(pool, partial(self._answer, future, pool))
        except Exception as error:  # the pool broke, or was given up, in this moment
            _LOG.warning("%s took no task: %s", self.name, type(error).__name__)
            self._answer(future, pool, None, WorkerDiedError(f"{self.name} took no task"))

    def _answer(
        self,
        future: "Future[Any]",
        pool: StandardPool | None,
        value: Any,
        error: BaseException | None,
    ) -> None:
        """Complete the future, unless _give_up() has. A broken pool gets no further calls."""
        with self._changed:
            if isinstance(error, WorkerDiedError) and pool is not None and self._pool is pool:
                self._lose()
                os.eventfd_write(self._wake, 1)
            if future not in self._pending:
                return
            self._pending.remove(future)
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)

    def _lose(self) -> None:
        if self._pool is not None:
            self._pool, self._heals_by = None, monotonic() + REPLACE_SECONDS

    def _healing_seconds(self) -> float:
        return max(0.0, self._heals_by - monotonic())

    def _without_a_pool(self) -> "set[Future[Any]]":
        """Remove and return the calls that wait for a pool."""
        waiting, self._waiting = self._waiting, []
        return {future for future, _ in waiting}

    def _refuse_later(self) -> None:
        """Let the waiting calls fail at the end of their wait, unless there is a pool by then. Each
        loss of a pool has its own timer. Raises PoolFailedError if the timer cannot start.
        """
        heals_by = self._heals_by

        def refuse() -> None:
            with self._changed:
                refused = self._without_a_pool() if self._heals_by == heals_by else set()
            _fail(refused, PoolFailedError(f"{self.name} has no processes now"))

        timer = Timer(self._healing_seconds(), refuse)
        timer.daemon = True
        try:
            timer.start()
        except RuntimeError:
            raise PoolFailedError(f"{self.name} has no processes now") from None

    def _keep(self) -> None:
        """The keeper thread: make a pool, watch it until a process dies, and repeat."""
        resource_tracker.ensure_running()  # its start would unblock the signals below
        # Stop signals go to the whole process group, but the service decides when to stop. The
        # fork server, which this thread starts, and its children inherit the blocked signals.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        while not self._is_closed:
            with suppress(Exception):  # out of memory once more, while that was handled
                self._keep_one()
        self._give_up(PoolClosedError(f"{self.name} is closed"))

    def _keep_one(self) -> None:
        """Make a pool and watch it until a process dies, or wait before the next attempt."""
        try:
            with self._running() as (pool, reports, processes):
                self._watch(pool, reports, processes)
            del pool
            gc.collect()  # frees the pool, a reference cycle, and its named semaphores
        except WorkerDiedError:  # at its start; at most one retry per WARM_SECONDS
            _LOG.error("a process of %s died as it began: it is made anew", self.name)
        except Exception:  # out of processes, memory or descriptors, maybe not for long
            _LOG.exception("%s cannot be started", self.name)
            self._give_up(PoolFailedError(f"{self.name} cannot be started"))
            select.select([self._wake], [], [], RETRY_SECONDS)

    @contextmanager
    def _running(self) -> Iterator[tuple[StandardPool, socket.socket, list[int]]]:
        """Make a new pool for the with-block; calls that are unanswered at its end fail. Yields the
        socket on which its processes report, too, and the descriptors of those that have."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with ours, theirs:
            for number in range(1, self.size + 1):
                ours.send(b"%d" % number)
            arguments = (self.name, theirs, os.getpid(), self._niceness, self._modules)
            pool, processes = self._kind(self.size, begin_work, arguments), list[int]()
            try:
                with self._changed:
                    with suppress(BlockingIOError):  # calls of the previous pool may fail late
                        os.eventfd_read(self._wake)
                    self._pool, waiting, self._waiting = pool, self._waiting, []
                    self._changed.notify_all()
                for future, order in waiting:
                    self._give(future, order)
                yield pool, ours, processes
            finally:
                self._give_up(WorkerDiedError(f"a process of {self.name} died"))
                pool.discard()
                for process in processes:
                    os.close(process)

    def _watch(self, pool: StandardPool, reports: socket.socket, processes: list[int]) -> None:
        """Return when a process has died, or on close. Raises PoolFailedError or WorkerDiedError if
        the processes do not start."""
        poll = select.poll()
        for descriptor in (reports.fileno(), self._wake):
            poll.register(descriptor, select.POLLIN)
        deadline = monotonic() + START_SECONDS
        while not self._is_closed:
            timeout_ms = None if self._is_ready else WARM_SECONDS * 1000
            events = [descriptor for descriptor, _ in poll.poll(timeout_ms)]
            if reports.fileno() in events:
                process = _descriptor_of(int(reports.recv(16)))
                processes.append(process)
                poll.register(process, select.POLLIN)
                with self._changed:
                    self._is_ready = len(processes) == self.size
                    self._changed.notify_all()
            elif events:
                if self._wake in events:
                    os.eventfd_read(self._wake)
                if not self._is_closed:
                    _LOG.error("a process of %s died: it is made anew", self.name)
                return
            elif not self._is_ready and monotonic() > deadline:
                raise PoolFailedError(f"{self.name} did not start within {START_SECONDS:.0f} s")
            elif not self._is_ready:
                pool.warm()

    def _give_up(self, error: Exception) -> None:
        """Drop the pool; its calls fail, and with PoolFailedError also the waiting calls."""
        with self._changed:
            self._lose()
            self._is_ready = False
            lost, self._pending = self._pending, set()
            if isinstance(error, PoolFailedError):
                lost |= self._without_a_pool()
            self._changed.notify_all()
        if lost:
            # Callbacks of the futures may take long, and this thread has a pool to make.
            try:
                Thread(target=_fail, args=(lost, error), name=f"fail-{self.name}").start()
            except (RuntimeError, MemoryError):  # no thread can be started: fail them on this one
                _fail(lost, error)


def _fail(lost: set[Future[Any]], error: Exception) -> None:
    for future in lost:
        future.set_exception(error)


def _descriptor_of(pid: int) -> int:
    """A descriptor that is readable once the process has ended, at once if it has already."""
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        return os.eventfd(1)
