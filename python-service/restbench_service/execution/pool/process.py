"""One place in a pool and the process that holds it: started, watched, replaced, ended."""

import logging
import os
import select
import socket
import subprocess
import sys
from pathlib import Path
from threading import Condition, Thread
from time import sleep
from typing import NamedTuple

from .fault import PoolFailedError

START_SECONDS = 30.0
"""A process that is not ready by then has failed: it imports numpy, under load, on a slow disk."""
END_SECONDS = 5.0
RETRY_SECONDS = 1.0

_SOURCE_ROOT = Path(__file__).parents[3]
_LOG = logging.getLogger(__name__)


class Living(NamedTuple):
    """A process that lives, and our end of its socket."""

    pid: int
    channel: socket.socket


class CoreTime(NamedTuple):
    """How long a thread has had a core, and how long it was ready and others had it."""

    used_ns: int
    waited_ns: int


class PooledProcess:
    """A process that serves on a socket.

    A thread starts it and then only waits for its end: an end not asked for is logged and the
    process replaced at once; what cannot be started is tried again. When that thread ends with
    the service, the kernel kills the process.
    """

    def __init__(
        self, kind: str, name: str, socket_type: socket.SocketKind, modules: tuple[str, ...]
    ) -> None:
        """`kind` is what it serves, `name` (at most 15 characters) what /proc calls it."""
        self._kind, self.name, self._modules = kind, name, modules
        self._socket_type = socket_type
        self._changed = Condition()
        self._channel: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._closing = False
        self._keeper = Thread(target=self._keep, name=f"keep-{name}", daemon=True)
        self._keeper.start()

    def channel(self) -> socket.socket:
        """Our end of the socket of a process that lives; waits while it is replaced."""
        with self._changed:
            if not self._changed.wait_for(self._is_alive, START_SECONDS) or self._channel is None:
                raise PoolFailedError(f"{self.name} did not start within {START_SECONDS:.0f} s")
            return self._channel

    def if_ready(self) -> Living | None:
        """The process without a wait for it: None while it is replaced."""
        with self._changed:
            if self._channel is None or self._process is None or not self._is_alive():
                return None
            return Living(self._process.pid, self._channel)

    def core_time(self) -> CoreTime:
        """Of its main thread; nothing if it is gone, or the kernel does not count."""
        process = self._process
        try:
            text = Path(f"/proc/{process.pid}/schedstat").read_text("ascii") if process else ""
        except OSError:
            text = ""
        return CoreTime(*map(int, text.split()[:2])) if text else CoreTime(0, 0)

    def close(self) -> None:
        """End the process by closing its socket, with force if it does not listen."""
        with self._changed:
            self._closing = True
            if self._channel is not None:
                self._channel.shutdown(socket.SHUT_RDWR)
        self._keeper.join(END_SECONDS)
        if self._keeper.is_alive() and self._process is not None:
            self._process.kill()
            self._keeper.join(END_SECONDS)

    def _is_alive(self) -> bool:
        return self._channel is not None and not _is_hung_up(self._channel)

    def _keep(self) -> None:
        while not self._closing:
            try:
                channel = self._start()
            except OSError as error:  # out of processes, memory or descriptors, maybe not for long
                _LOG.error("%s cannot be started: %s", self.name, error)
                sleep(RETRY_SECONDS)
                continue
            ready = _is_ready(channel)
            self._publish(channel if ready else None)
            status = self._end(ready)
            if not self._closing:
                _LOG.error("%s ended with status %d, starting another", self.name, status)
                sleep(0 if ready else RETRY_SECONDS)

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, self._socket_type)
        try:
            with theirs:
                self._process = self._start_on(theirs)
        except OSError:
            ours.close()
            raise
        return ours

    def _start_on(self, channel: socket.socket) -> "subprocess.Popen[bytes]":
        program = [sys.executable, "-m", __package__, self._kind, self.name]
        return subprocess.Popen(
            [*program, str(channel.fileno()), *self._modules],
            pass_fds=[channel.fileno()],
            stdin=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": _search_path()},
        )

    def _publish(self, channel: socket.socket | None) -> None:
        with self._changed:
            self._channel = channel
            if self._closing and channel is not None:
                channel.shutdown(socket.SHUT_RDWR)
            self._changed.notify_all()

    def _end(self, ready: bool) -> int:
        """Wait for the end. The channel is only let go: a request may still be reading from it."""
        assert self._process is not None  # noqa: S101 - started by this thread
        if not ready:
            self._process.kill()
        status = self._process.wait()
        self._publish(None)
        return status


def _is_ready(channel: socket.socket) -> bool:
    """Whether the process has said so: nothing comes if it failed, its text is on stderr."""
    channel.settimeout(START_SECONDS)
    try:
        return channel.recv(1) != b""
    except OSError:
        return False
    finally:
        channel.settimeout(None)


def _is_hung_up(channel: socket.socket) -> bool:
    """Whether the process has died and its keeper has not noticed yet."""
    poll = select.poll()
    poll.register(channel, 0)
    return bool(poll.poll(0))


def _search_path() -> str:
    inherited = os.environ.get("PYTHONPATH")
    return str(_SOURCE_ROOT) if not inherited else f"{_SOURCE_ROOT}{os.pathsep}{inherited}"
