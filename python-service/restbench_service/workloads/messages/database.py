"""One process's access to the database: connections, statements, their errors, and free space.

The database's own error messages are never passed on, because they quote the data that was sent.
"""

import logging
import math
import os
import re
import shutil
import socket
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from threading import Event, Thread
from time import monotonic, perf_counter_ns
from typing import Any, Self

import psycopg
from psycopg.rows import TupleRow
from psycopg.types.numeric import Int8BinaryDumper
from psycopg_pool import ConnectionPool

from ...settings import Settings
from ..workload import InvalidRequestError

STATEMENTS = Path(__file__).parents[4] / "contract" / "database" / "statements"
"""The SQL texts, which the other service and pgbench use too."""
WAIT_SECONDS = 1.0
"""The longest wait for a connection; then the request fails with 014."""
RECONNECT_SECONDS = 0.5
"""Long enough for two attempts. The next request that needs a connection begins new ones."""
UP_CHECK_SECONDS = 0.25
"""A database that does not answer within this time counts as down."""
SILENT_SECONDS = 10.0
"""After so long without an answer a connection is cut off. TCP detects only a peer that is gone."""
SILENCE_CHECK_SECONDS = 1.0
"""The time between two checks for connections without an answer."""
NO_CONNECTION_WARNING_SECONDS = 60.0
"""The minimum time between two warnings that all connections are in use."""
SPACE_CHECK_SECONDS = 1.0
"""The minimum time between two checks of the free space."""
DISK_FULL = "53100"
"""disk_full: reported by the server, or raised here when free space is below the minimum."""
NO_CONNECTION, BROKEN = "08001", "08006"
"""The SQL standard's codes for connection failures, which a server cannot report."""
_CONNECTION: Mapping[str, Any] = {
    "application_name": "restbench-python",
    "autocommit": True,
    "prepare_threshold": 1,
    "client_encoding": "utf-8",
    "connect_timeout": 2,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
_PARAMETER = re.compile(r"(?<!:):([a-z_]+)")
_MEANINGS = {
    NO_CONNECTION: ": it gives no connection",
    **dict.fromkeys(("3F000", "42P01"), ": tables are missing: restbench database migrate"),
}
_BROKEN = (psycopg.OperationalError, psycopg.InterfaceError)
_LOG = logging.getLogger(__name__)

Connection = psycopg.Connection[TupleRow]
Rows = psycopg.Cursor[TupleRow]


class StatementError(Exception):
    """The database has refused a statement and undone its effects."""

    def __init__(self, sqlstate: str) -> None:
        """`sqlstate` is PostgreSQL's error code."""
        super().__init__(sqlstate)
        self.sqlstate = sqlstate


def not_done() -> InvalidRequestError:
    """Error 014: nothing was done, so the client may repeat the request."""
    return InvalidRequestError("014", "the database cannot do it now; it is not done")


def unknown() -> InvalidRequestError:
    """Error 015: the connection broke after the deciding statement was sent."""
    text = "the connection broke; whether it is done is unknown, ask again with the same key"
    return InvalidRequestError("015", text)


class Database:
    """The connections of this process. Call open() after any fork."""

    def __init__(self, settings: Settings, connections: int) -> None:
        """This process has `connections` at most."""
        self._url, self._size = settings.database_url or "", connections
        self._password_file = settings.database_password_file
        self._options: Mapping[str, Any] = _CONNECTION
        self._pool: ConnectionPool[Connection] | None = None
        self._answered_at = -math.inf
        self._failing: str | None = None
        self._warned_no_connection_at = -math.inf
        self._asked: Future[bool] | None = None
        self._awaited: dict[Connection, float] = {}
        """The connections that wait for an answer, each with the time at which it began to wait."""
        self._is_closed = Event()

    def open(self) -> None:
        """Begin to connect without waiting: the service also starts if its database is down."""
        logging.getLogger("psycopg").setLevel(logging.CRITICAL)  # it logs the server's messages
        if self._password_file:
            password = Path(self._password_file).read_text("utf-8").partition("\n")[0].strip()
            self._options = {**_CONNECTION, "password": password}
        self._pool = ConnectionPool(
            self._url,
            kwargs=dict(self._options),
            configure=_configure,
            min_size=self._size,
            max_size=self._size,
            open=True,
            name="database",
            timeout=WAIT_SECONDS,
            max_lifetime=math.inf,
            reconnect_timeout=RECONNECT_SECONDS,
            num_workers=min(3, self._size),
        )
        self.every(SILENCE_CHECK_SECONDS, self._end_silent)

    def close(self) -> None:
        """End all connections."""
        self._is_closed.set()
        if self._pool is not None:
            self._pool.close()

    def every(self, seconds: float, act: Callable[[], None]) -> None:
        """Call `act` periodically in a separate thread until close(), also after it has failed."""

        def run() -> None:
            while not self._is_closed.wait(seconds):
                try:
                    act()
                except Exception:  # out of memory, for example
                    _LOG.exception("what is done every %g s failed", seconds)

        Thread(target=run, name="database", daemon=True).start()

    def take(self) -> Connection:
        """A working connection. Raises InvalidRequestError 014 if none is free in WAIT_SECONDS."""
        assert self._pool is not None  # noqa: S101 - open() comes first
        deadline = monotonic() + WAIT_SECONDS
        try:
            while True:
                connection = self._pool.getconn(max(0.0, deadline - monotonic()))
                if _is_there(connection):
                    return connection
                connection.close()
                self._pool.putconn(connection)
        except psycopg.OperationalError:  # none was free in time
            self._report_no_connection()
            raise not_done() from None

    def give_back(self, connection: Connection) -> None:
        """Return a connection to the pool, which replaces a broken one."""
        assert self._pool is not None  # noqa: S101 - it was taken
        self._pool.putconn(connection)

    @contextmanager
    def awaiting(self, connection: Connection) -> Iterator[None]:
        """Cut the connection off if the with-block gets no answer within SILENT_SECONDS."""
        self._awaited[connection] = monotonic()
        try:
            yield
        finally:
            del self._awaited[connection]

    def _end_silent(self) -> None:
        latest = monotonic() - SILENT_SECONDS
        for connection, since in self._awaited.copy().items():
            if since < latest:
                _cut_off(connection)

    def has_answered(self) -> None:
        """To be called when the database has answered."""
        self._answered_at = monotonic()

    def report(self, sqlstate: str) -> None:
        """Log a failure, unless the previous failure had the same code."""
        if sqlstate != self._failing:
            self._failing = sqlstate
            meaning = _MEANINGS.get(sqlstate, "")
            _LOG.error("the database fails with SQLSTATE %s%s", sqlstate, meaning)

    def _report_no_connection(self) -> None:
        """Log that no connection was free. A database that has answered other requests meanwhile
        has not failed: all connections are in use."""
        now = monotonic()
        if now - self._answered_at > WAIT_SECONDS:
            self.report(NO_CONNECTION)
        elif now - self._warned_no_connection_at >= NO_CONNECTION_WARNING_SECONDS:
            self._warned_no_connection_at = now
            _LOG.warning("a request got no connection to the database: all are in use")

    def succeeded(self) -> None:
        """Log the end of failures, if there were any."""
        if self._failing is not None:
            self._failing = None
            _LOG.error("the database answers again")

    def is_up(self) -> bool:
        """Whether the database answers, or has answered within the last second. The check has its
        own connection, because those of the pool may all be in use. It takes UP_CHECK_SECONDS at
        most, so an event loop may call it."""
        if monotonic() - self._answered_at < 1:
            return True
        if self._asked is None or self._asked.done():
            asked = Future[bool]()
            Thread(target=self._ask, args=(asked,), name="is it up", daemon=True).start()
            self._asked = asked  # only now: without its thread it would stay pending
        try:
            return self._asked.result(UP_CHECK_SECONDS)
        except TimeoutError:
            return False

    def _ask(self, asked: "Future[bool]") -> None:
        try:
            psycopg.connect(self._url, **self._options).close()
            self.has_answered()
            asked.set_result(True)
        except Exception:  # not only the driver's: is_up() waits for a result
            asked.set_result(False)


def _configure(connection: Connection) -> None:
    """Send every integer as a bigint. By default the type depends on the integer's size, and each
    combination of types would be a separate prepared statement."""
    connection.adapters.register_dumper(int, Int8BinaryDumper)


def _cut_off(connection: Connection) -> None:
    """Shut the socket down, so that the thread that waits for an answer gets an error."""
    with (
        suppress(psycopg.Error, OSError),  # the connection has ended already
        socket.socket(fileno=os.dup(connection.fileno())) as end,
    ):
        end.shutdown(socket.SHUT_RDWR)


def _is_there(connection: Connection) -> bool:
    """Whether the server has not ended the idle connection. It is read twice, because the first
    read may only give the server's explanation."""
    try:
        connection.pgconn.consume_input()
        connection.pgconn.consume_input()
    except _BROKEN:
        return False
    return not connection.broken


@cache
def statements() -> Mapping[str, bytes]:
    """The SQL texts by the names of their files, with parameters in the driver's form."""
    files = STATEMENTS.glob("*.sql")
    return {path.stem: with_driver_parameters(path.read_text("utf-8")) for path in files}


def with_driver_parameters(text: str) -> bytes:
    """The text with `:name` as `%(name)s`. The driver sends values separately from the text."""
    return _PARAMETER.sub(r"%(\1)s", text.replace("%", "%%")).encode()


class Session:
    """The statements of one request. They run on one connection, which is taken when the first
    statement needs it and given back at the end of the with-block.

    A refused statement raises StatementError. A broken connection raises InvalidRequestError: 015
    if the statement decides, that is if it is a transaction by itself or the COMMIT of one, and
    014 for any other statement.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection: Connection | None = None
        self._has_begun = False
        self.parts_ns = {"connection": 0, "database": 0}

    def __enter__(self) -> Self:
        """The session, still without a connection."""
        return self

    def __exit__(self, failed: type[BaseException] | None, *_: object) -> None:
        """Give the connection back."""
        if self._connection is not None:
            self._database.give_back(self._connection)
            if failed is None:
                self._database.succeeded()

    def ask(self, name: str, values: Mapping[str, Any]) -> Rows:
        """Run a statement that changes nothing."""
        return self._run(statements()[name], values, decides=False)

    def do(self, name: str, values: Mapping[str, Any]) -> Rows:
        """Run a statement that changes something, by itself or in the current transaction."""
        return self._run(statements()[name], values, decides=not self._has_begun)

    @contextmanager
    def transaction(self, *begin: bytes) -> Iterator[None]:
        """Run the with-block as one transaction, unless `begin` is empty.

        `begin` is a BEGIN with its options, and any SET LOCAL statements after it.
        """
        if not begin:
            yield
            return
        self._has_begun = True
        try:
            for text in begin:
                self._run(text, None, decides=False)
            yield
        except BaseException:
            self._roll_back()
            raise
        finally:
            self._has_begun = False
        self._run(b"COMMIT", None, decides=True)

    def _run(self, text: bytes, values: Mapping[str, Any] | None, *, decides: bool) -> Rows:
        if self._connection is None:
            began_ns = perf_counter_ns()
            try:
                self._connection = self._database.take()
            finally:
                self.parts_ns["connection"] += perf_counter_ns() - began_ns
        began_ns = perf_counter_ns()
        try:
            # Without values the text is sent by the simple protocol: in binary form the server
            # would parse, plan and describe each BEGIN and COMMIT.
            with self._database.awaiting(self._connection):
                rows = self._connection.execute(
                    text, values, prepare=None if values else False, binary=bool(values)
                )
            self._database.has_answered()
        except psycopg.Error as error:
            if error.diag.severity_nonlocalized == "ERROR":
                raise StatementError(error.sqlstate or "") from None
            self._database.report(error.sqlstate or BROKEN)
            raise (unknown() if decides else not_done()) from None
        finally:
            self.parts_ns["database"] += perf_counter_ns() - began_ns
        return rows

    def _roll_back(self) -> None:
        """Use libpq: after a ROLLBACK by execute() the driver forgets all prepared statements."""
        if self._connection is not None:
            with (
                suppress(psycopg.Error),  # broken: the server rolls back by itself
                self._database.awaiting(self._connection),
            ):
                self._connection.pgconn.exec_(b"ROLLBACK")


def free_bytes(path: str) -> int:
    """Bytes that the path's file system has free for an ordinary user; 0 if that is unknown."""
    try:
        return shutil.disk_usage(path).free
    except OSError:
        return 0


class FreeSpace:
    """Free space of one file system. A full disk stops the whole database, so sends stop first."""

    def __init__(self, path: str | None, least_bytes: int) -> None:
        """Without a path, for a database on another machine, there is always enough space."""
        self._path, self._least_bytes = path, least_bytes
        self._looked_at, self._is_enough = -math.inf, True

    def is_enough(self) -> bool:
        """Whether the minimum is free, checked at most once per SPACE_CHECK_SECONDS."""
        now = monotonic()
        if self._path is not None and now - self._looked_at >= SPACE_CHECK_SECONDS:
            self._looked_at = now
            free = free_bytes(self._path)
            was, self._is_enough = self._is_enough, free >= self._least_bytes
            if was != self._is_enough:
                what = "messages are taken again" if self._is_enough else "no message is taken"
                text = "the database's file system has %d bytes free, the minimum is %d: %s"
                _LOG.error(text, free, self._least_bytes, what)
        return self._is_enough
