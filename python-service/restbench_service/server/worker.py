"""gunicorn's threaded worker with a limit on everything a client can make it hold or wait for.

gunicorn's own gives a thread to each connection that has sent a byte, and waits in it for the rest
without end; and it closes connections, up to 2 s each, in the thread that also accepts. Here the
loop collects heads, ends connections and refuses what is too much, all without waiting; a thread
has a request only from its complete head on, with deadlines for the body and for the response.
"""

import errno
import logging
import os
import signal
from functools import partial
from time import monotonic, sleep
from typing import Any

from gunicorn import http
from gunicorn.workers.gthread import STOP_KEEPALIVE_LINGER, ThreadWorker

from ..settings import REFUSED_AT_ONCE, Settings
from . import refusal
from .connection import MAX_HEAD_BYTES, Connection, Head
from .constants import Constants
from .request_handler import RequestHandler
from .request_threads import RequestThreads
from .timed_socket import RECEIVE_TIMEOUT, TimedSocket
from .waiting_room import WaitingRoom

CLOSING_SECONDS = 1.0
"""At least, for a client to take its answer and close its end."""

_ACCEPTED_AT_ONCE = 64  # gunicorn's one a turn is slow where each turn waits for the GIL
_LOG = logging.getLogger(__name__)


class BoundedWorker(ThreadWorker):
    """gunicorn's run() is the loop, in the main thread; _serve() is what other threads do."""

    def __init__(self, *arguments: Any) -> None:
        """See gunicorn's Worker."""
        super().__init__(*arguments)
        self._settings = Settings.from_environment(os.environ)
        # run() accepts until there are so many; those above the limit it accepts to refuse them
        self.worker_connections = self._settings.max_connections + REFUSED_AT_ONCE
        self._constants = Constants(self.cfg)
        self._busy_threads = 0
        self.refused = 0
        """Requests and connections refused without asking the app."""

    def get_thread_pool(self) -> RequestThreads:
        """gunicorn's way to have its threads made by others."""
        return RequestThreads()

    def init_signals(self) -> None:
        """Ctrl-C reaches the whole process group: it must not cut requests off."""
        super().init_signals()
        signal.signal(signal.SIGINT, self.handle_exit)
        signal.siginterrupt(signal.SIGINT, False)

    def run(self) -> None:
        """Serve until told to stop, then finish what is in flight, within graceful_timeout."""
        self._waiting = WaitingRoom(self.poller, self._on_readable)
        self._handler = RequestHandler(
            self.wsgi,
            self._constants,
            self._settings,
            is_stopping=lambda: not self.alive,
            has_spare_threads=lambda: 2 * self._busy_threads < self.cfg.threads,
        )
        try:
            super().run()
        finally:  # however it ends, or the interpreter would wait for the threads
            self.tpool.shutdown(wait=False)

    # --- in the loop ---------------------------------------------------------------------------

    def set_accept_enabled(self, enabled: bool) -> None:
        """A worker that stops takes who has connected already and refuses all others."""
        if not self.alive:
            for listener in self.sockets:
                self.accept(listener)
        super().set_accept_enabled(enabled)
        if not self.alive:
            for listener in self.sockets:
                listener.close()

    def accept(self, listener: Any) -> None:
        """Take those who have connected."""
        for _ in range(_ACCEPTED_AT_ONCE):
            try:
                connection, client = listener.accept()
            except OSError as error:
                _accept_failed(error)
                return
            self.nr_conns += 1
            timed = TimedSocket(connection, self._settings.send_timeout_seconds)
            parser = http.get_parser(self._constants, timed, client)
            self._welcome(Connection(connection, timed, parser, client, listener.getsockname()))

    def _welcome(self, connection: Connection) -> None:
        self._expect_request(connection)
        if self.nr_conns <= self._settings.max_connections or self._displace_idle():
            self._wait(connection, connection.sock.receive_by)
        else:
            count = self._settings.max_connections
            limit = f"{count} connections are open already, the limit (RESTBENCH_MAX_CONNECTIONS)"
            self._refuse(connection, refusal.busy(limit))

    def _displace_idle(self) -> bool:
        idle = self._waiting.longest_idle()
        if idle is not None:
            self._waiting.leave(idle)
            self._close(idle)
        return idle is not None

    def _expect_request(self, connection: Connection) -> None:
        connection.sock.receive_within(self._settings.receive_timeout_seconds)

    def _on_readable(self, connection: Connection) -> None:
        if connection not in self._waiting:  # displaced in this same turn
            return
        if connection.lingers and connection.drop_what_comes():
            return
        self._waiting.leave(connection)
        if connection.lingers:
            self._close(connection)
            return
        if connection.is_idle:
            self._expect_request(connection)
        self._go_on(connection, connection.receive_head())

    def _go_on(self, connection: Connection, head: Head) -> None:
        connection.is_idle = head is Head.NOTHING
        if head is Head.WHOLE:
            self.enqueue_req(connection)
        elif head is Head.PART:
            self._wait(connection, connection.sock.receive_by)
        elif head is Head.NOTHING:
            self._wait(connection, monotonic() + self._settings.keep_alive_seconds)
        elif head is Head.TOO_LARGE:
            size = f"its head is larger than {MAX_HEAD_BYTES} bytes"
            self._refuse(connection, refusal.not_received(size))
        else:
            self._close(connection)

    def enqueue_req(self, connection: Connection) -> None:
        """Give the request to a thread; without a free one it would wait who knows how long."""
        if self._busy_threads >= self.cfg.threads:
            self._refuse(connection, refusal.busy(f"all {self.cfg.threads} threads are busy"))
            return
        try:
            self.tpool.run(partial(self._serve, connection), self._busy_threads + 1)
        except RuntimeError:
            self._refuse(connection, refusal.busy("no more threads can be started"))
        else:
            self._busy_threads += 1

    def finish_request(self, connection: Connection, head: Head | None) -> None:
        """What its thread has left: a connection to go on with, or None, to end it."""
        self._busy_threads -= 1
        if head is None:
            self._end(connection)
        else:
            self._expect_request(connection)
            self._go_on(connection, head)

    def murder_keepalived(self, force: bool = False) -> None:
        """Give up those who were waited for long enough; all of them by force."""
        for connection in self._waiting.everyone() if force else self._waiting.expired():
            self._waiting.leave(connection)
            if connection.has_begun:
                connection.offer(refusal.not_received(RECEIVE_TIMEOUT))
            self._close(connection)

    def murder_pending(self) -> None:
        """There is no second kind of waiting."""

    def _cap_keepalive(self, deadline: float) -> None:
        self._waiting.no_later_than(deadline)

    def _wait(self, connection: Connection, deadline: float) -> None:
        if not self.alive:
            deadline = min(deadline, monotonic() + STOP_KEEPALIVE_LINGER)
        self._waiting.enter(connection, deadline)

    def _refuse(self, connection: Connection, response: bytes) -> None:
        self.refused += 1
        connection.offer(response)
        self._end(connection)

    def _end(self, connection: Connection) -> None:
        if connection.end_sending():
            at_least = monotonic() + CLOSING_SECONDS
            self._wait(connection, max(connection.sock.receive_by, at_least))
        else:
            self._close(connection)

    def _close(self, connection: Connection) -> None:
        self.nr_conns -= 1
        connection.close()

    # --- in a thread ---------------------------------------------------------------------------

    def _serve(self, connection: Connection) -> None:
        head = None
        try:
            head = self._handler.serve(connection)
        finally:
            self.method_queue.defer(self.finish_request, connection, head)


def _accept_failed(error: OSError) -> None:
    if error.errno not in (errno.EAGAIN, errno.ECONNABORTED):
        _LOG.error("cannot accept a connection: %s", os.strerror(error.errno or 0))
        sleep(0.1)  # out of descriptors or memory: the connection stays in the kernel's queue
