"""The database as one process sees it: its connections, and what came of a statement.

What the database said is never passed on: its messages quote what was sent.
"""

import logging
import math
import os
import re
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

from ...settings import DatabaseSettings
from ..workload import InvalidRequestError

STATEMENTS = Path(__file__).parents[4] / "contract" / "database" / "statements"
"""The SQL texts, which the other service and pgbench use too."""
WAIT_SECONDS = 1.0
"""For a connection; then 014."""
RECONNECT_SECONDS = 0.5
"""Two attempts; the next request that needs a connection begins others."""
ANSWER_SECONDS = 0.25
"""Within which a database that is up answers whether it is."""
SILENT_SECONDS = 10.0
"""Of a server that was asked something; TCP only finds out that a peer is gone."""
LOOK_SECONDS = 1.0
"""Between two looks for a silent one."""
NONE_FREE_TOLD_SECONDS = 60.0
"""Between two lines of the log that say so."""
DISK_FULL = "53100"
"""disk_full, of the server, or where there would soon be no room."""
NO_CONNECTION, BROKEN = "08001", "08006"
"""As the standard names what no server could say."""
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
    """The database has refused a statement, and undone what it had done."""

    def __init__(self, sqlstate: str) -> None:
        """As PostgreSQL names its errors."""
        super().__init__(sqlstate)
        self.sqlstate = sqlstate


def not_done() -> InvalidRequestError:
    """It may be asked again."""
    return InvalidRequestError("014", "the database cannot do it now; it is not done")


def unknown() -> InvalidRequestError:
    """The connection broke behind the statement that decides."""
    text = "the connection broke; whether it is done is unknown, ask again with the same key"
    return InvalidRequestError("015", text)


class Database:
    """The connections of this process; to be opened after any fork."""

    def __init__(self, settings: DatabaseSettings) -> None:
        self._settings = settings
        self._options: Mapping[str, Any] = _CONNECTION
        self._pool: ConnectionPool[Connection] | None = None
        self._answered_at = -math.inf
        self._failing: str | None = None
        self._none_free_told_at = -math.inf
        self._asked: Future[bool] | None = None
        self._awaited: dict[Connection, float] = {}
        """Since when each connection has owed an answer."""
        self._is_closed = Event()

    def open(self) -> None:
        """Begin to connect, and wait for nothing: the service starts without its database."""
        if self._pool is not None:
            return
        logging.getLogger("psycopg").setLevel(logging.CRITICAL)  # it tells what the server said
        file, size = self._settings.password_file, self._settings.connections
        if file:
            password = Path(file).read_text("utf-8").partition("\n")[0].strip()
            self._options = {**_CONNECTION, "password": password}
        self._pool = ConnectionPool(
            self._settings.url,
            kwargs=dict(self._options),
            configure=_configure,
            min_size=size,
            max_size=size,
            open=True,
            name="database",
            timeout=WAIT_SECONDS,
            max_lifetime=math.inf,
            reconnect_timeout=RECONNECT_SECONDS,
            num_workers=min(3, size),
        )
        self.every(LOOK_SECONDS, self._end_silent)

    def close(self) -> None:
        """End all connections."""
        self._is_closed.set()
        if self._pool is not None:
            self._pool.close()

    def every(self, seconds: float, act: Callable[[], None]) -> None:
        """Until it is closed, from a thread of its own, each time whatever became of it before."""

        def run() -> None:
            while not self._is_closed.wait(seconds):
                try:
                    act()
                except Exception:  # want of memory, say
                    _LOG.exception("what is done every %g s failed", seconds)

        Thread(target=run, name="database", daemon=True).start()

    def take(self) -> Connection:
        """A connection that is there. Raises InvalidRequestError 014."""
        assert self._pool is not None  # noqa: S101 - open() comes first
        deadline = monotonic() + WAIT_SECONDS
        try:
            while True:
                connection = self._pool.getconn(max(0.0, deadline - monotonic()))
                if _is_there(connection):
                    return connection
                connection.close()
                self._pool.putconn(connection)
        except psycopg.OperationalError:  # none came in time
            self._report_no_connection()
            raise not_done() from None

    def give_back(self, connection: Connection) -> None:
        """One that is broken is replaced."""
        assert self._pool is not None  # noqa: S101 - it was taken
        self._pool.putconn(connection)

    @contextmanager
    def awaiting(self, connection: Connection) -> Iterator[None]:
        """What is sent in the with-block is answered, or the connection ends after a while."""
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
        """To be called when it has."""
        self._answered_at = monotonic()

    def report(self, sqlstate: str) -> None:
        """For the log: a line when requests begin to fail so."""
        if sqlstate != self._failing:
            self._failing = sqlstate
            meaning = _MEANINGS.get(sqlstate, "")
            _LOG.error("the database fails with SQLSTATE %s%s", sqlstate, meaning)

    def _report_no_connection(self) -> None:
        """A database that has answered others meanwhile has not failed."""
        now = monotonic()
        if now - self._answered_at > WAIT_SECONDS:
            self.report(NO_CONNECTION)
        elif now - self._none_free_told_at >= NONE_FREE_TOLD_SECONDS:
            self._none_free_told_at = now
            _LOG.warning("a request got no connection to the database: all are in use")

    def succeeded(self) -> None:
        """For the log, too: a line when they no longer do."""
        if self._failing is not None:
            self._failing = None
            _LOG.error("the database answers again")

    def is_up(self) -> bool:
        """Whether it answers, or has done so within the last second. It is asked on a connection of
        its own: those of the pool may all be in use. Who asks waits hardly for it: an event loop
        may ask."""
        if monotonic() - self._answered_at < 1:
            return True
        if self._asked is None or self._asked.done():
            asked = Future[bool]()
            Thread(target=self._ask, args=(asked,), name="is it up", daemon=True).start()
            self._asked = asked  # now: where no thread can be started nobody would answer it
        try:
            return self._asked.result(ANSWER_SECONDS)
        except TimeoutError:
            return False

    def _ask(self, asked: "Future[bool]") -> None:
        try:
            psycopg.connect(self._settings.url, **self._options).close()
            self.has_answered()
            asked.set_result(True)
        except Exception:  # also one that is not the driver's: who waits is answered
            asked.set_result(False)


def _configure(connection: Connection) -> None:
    """Every integer is a bigint: by default its size would be part of a statement's type, and each
    size of each parameter a prepared statement of its own."""
    connection.adapters.register_dumper(int, Int8BinaryDumper)


def _cut_off(connection: Connection) -> None:
    """Whoever waits for an answer finds that the connection has ended."""
    with (
        suppress(psycopg.Error, OSError),  # it has ended by itself
        socket.socket(fileno=os.dup(connection.fileno())) as end,
    ):
        end.shutdown(socket.SHUT_RDWR)


def _is_there(connection: Connection) -> bool:
    """False where the server has ended an idle connection, which it may have explained before."""
    try:
        connection.pgconn.consume_input()
        connection.pgconn.consume_input()
    except _BROKEN:
        return False
    return not connection.broken


@cache
def statements() -> Mapping[str, bytes]:
    """By the names of their files, with the driver's form of parameters."""
    files = STATEMENTS.glob("*.sql")
    return {path.stem: in_driver_s_form(path.read_text("utf-8")) for path in files}


def in_driver_s_form(text: str) -> bytes:
    """`:name` as `%(name)s`: the driver sends values apart from the text."""
    return _PARAMETER.sub(r"%(\1)s", text.replace("%", "%%")).encode()


class Session:
    """What one request does on the database, until it is closed: on one connection at most, which
    is taken when the first statement needs it.

    A statement that is refused raises StatementError. Where the connection breaks, it is
    InvalidRequestError: 015 behind the statement that decides, which is the only one or the COMMIT
    of a transaction, else 014.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection: Connection | None = None
        self._has_begun = False
        self.parts_ns = {"connection": 0, "database": 0}

    def __enter__(self) -> Self:
        """As it is."""
        return self

    def __exit__(self, failed: type[BaseException] | None, *_: object) -> None:
        """The connection is for others."""
        if self._connection is not None:
            self._database.give_back(self._connection)
            if failed is None:
                self._database.succeeded()

    def ask(self, name: str, values: Mapping[str, Any]) -> Rows:
        """A statement that changes nothing."""
        return self._run(statements()[name], values, decides=False)

    def do(self, name: str, values: Mapping[str, Any]) -> Rows:
        """A statement that changes something, by itself or in the transaction that has begun."""
        return self._run(statements()[name], values, decides=not self._has_begun)

    @contextmanager
    def transaction(self, *begin: bytes) -> Iterator[None]:
        """What is done in the with-block is done as a whole; without a text it is no transaction.

        `begin` is BEGIN with what follows it, and what is to be set.
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
            # What has no values is sent as it is: in binary form the server would parse, plan and
            # describe each BEGIN and COMMIT.
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
        """Below the driver's statements: it would forget all that is prepared."""
        if self._connection is not None:
            with (
                suppress(psycopg.Error),  # broken: the server does it by itself
                self._database.awaiting(self._connection),
            ):
                self._connection.pgconn.exec_(b"ROLLBACK")
