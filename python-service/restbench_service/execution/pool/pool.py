"""Processes of one kind, handed out one by one or all together."""

import socket
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from ..clock import StageClock
from ..gate import Gate
from .messages import MAX_DESCRIPTORS
from .process import CoreTime, Living, PooledProcess


class ProcessPool:
    """`size` processes, started together; who asks for one waits until it is ready.

    An idle process sleeps in a read and costs no time.
    """

    def __init__(
        self,
        kind: str,
        name: str,
        socket_type: socket.SocketKind,
        size: int,
        modules: tuple[str, ...],
    ) -> None:
        """Processes are named restbench-<name>-0 and so on."""
        names = [f"restbench-{name}-{number}" for number in range(size)]
        self._processes = [PooledProcess(kind, n, socket_type, modules) for n in names]
        self._idle = deque(self._processes)
        self._one = Gate(size)
        self._all = Gate(1)

    @property
    def size(self) -> int:
        """How many processes there are."""
        return len(self._processes)

    @property
    def has_idle(self) -> bool:
        """Whether there is a process that nobody uses or waits for."""
        return self._one.is_free

    def core_time(self) -> CoreTime:
        """Of the processes' main threads since they started."""
        times = [process.core_time() for process in self._processes]
        return CoreTime(*map(sum, zip(*times, strict=True)))

    def await_ready(self) -> None:
        """Return when all processes are ready. Raises PoolFailedError."""
        for process in self._processes:
            process.channel()

    @contextmanager
    def one(self, clock: StageClock) -> Iterator[socket.socket]:
        """A process for the with-block, the wait for it is queue. Not to be mixed with all()."""
        with self._one.entered(clock):
            process = self._idle.popleft()
            try:
                yield _channel(process, clock)
            finally:
                self._idle.append(process)

    @contextmanager
    def idle(self, at_most: int) -> Iterator[list[Living]]:
        """Processes that nobody uses or waits for, for the with-block; maybe none."""
        at_most = min(at_most, MAX_DESCRIPTORS)
        taken: list[PooledProcess] = []
        while len(taken) < at_most and self._one.try_enter():
            taken.append(self._idle.popleft())
        try:
            found = [process.if_ready() for process in taken]
            yield [living for living in found if living is not None]
        finally:
            for process in taken:
                self._idle.append(process)
                self._one.leave()

    @contextmanager
    def all(self, clock: StageClock) -> Iterator[list[socket.socket]]:
        """All processes for the with-block, one caller at a time, the wait is queue."""
        with self._all.entered(clock):
            yield [_channel(process, clock) for process in self._processes]

    @contextmanager
    def between_loops(self) -> Iterator[None]:
        """Nobody is inside all() during the with-block."""
        with self._all.entered(StageClock()):
            yield

    def close(self) -> None:
        """End all processes."""
        for process in self._processes:
            process.close()


def _channel(process: PooledProcess, clock: StageClock) -> socket.socket:
    with clock.stage("queue"):
        return process.channel()
