"""A PostgreSQL for tests, and its statements as a service sends them."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row
from waiting import PATIENCE_S

from restbench.deploy.database import CONTRACT, Database
from tools.sql_queues import statement

#: A server that is not the package's: one of Debian's, where it is installed.
DEBIAN = next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"))), None)
STATEMENTS = {path.stem: path.read_text() for path in CONTRACT.glob("statements/*.sql")}


@dataclass
class Session:
    """A connection as a service has it: prepared statements, by the names of the contract."""

    connection: psycopg.Connection[dict[str, Any]]

    def all(self, name: str, **values: object) -> list[dict[str, Any]]:
        cursor = self.connection.execute(statement(name), values, prepare=True)
        return cursor.fetchall() if cursor.description else [{"rows": cursor.rowcount}]

    def one(self, name: str, **values: object) -> dict[str, Any] | None:
        rows = self.all(name, **values)
        assert len(rows) <= 1
        return rows[0] if rows else None

    def value(self, name: str, **values: object) -> Any:
        """The only column of the only row."""
        (row,) = self.all(name, **values)
        (value,) = row.values()
        return value

    def queue(self, technique: str = "skip-locked") -> int:
        """A new queue's number."""
        made = self.one("create-queue", queue=f"q{uuid.uuid4().hex}", technique=technique)
        assert made is not None and made["created"]
        return int(made["id"])

    def send(self, queue: int, body: str = "hello", receiver: int = 0, sender: int = 1) -> int:
        sent = self.value("send", queue_id=queue, receiver=receiver, sender=sender, body=body)
        return int(sent)

    @property
    def pid(self) -> int:
        return self.connection.info.backend_pid


@contextmanager
def session(database: Database, *, isolation: int | None = None) -> Iterator[Session]:
    """Of the role that services have, in autocommit; with an isolation in transactions."""
    with psycopg.connect(
        database.url("service"),
        password=database.password_file("service").read_text(),
        autocommit=isolation is None,
        row_factory=dict_row,
        prepare_threshold=1,
    ) as connection:
        if isolation is not None:
            connection.isolation_level = psycopg.IsolationLevel(isolation)
        yield Session(connection)


def wait_event(database: Database, pid: int, is_over: Callable[[], bool]) -> str:
    """What a session waits for, such as `Lock/transactionid`; empty where it is over before."""
    deadline = time.monotonic() + PATIENCE_S
    with database.connect("monitor") as monitor:
        while time.monotonic() < deadline and not is_over():
            rows = monitor.execute(
                "SELECT wait_event_type || '/' || wait_event FROM pg_stat_activity "
                "WHERE pid = %s AND wait_event_type = 'Lock'",
                [pid],
            ).fetchall()
            if rows:
                return str(rows[0][0])
            time.sleep(0.01)
    return ""
