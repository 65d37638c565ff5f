"""A PostgreSQL for the tests, started by the harness's own command, and connections to it."""

import os
import re
import socket
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from restbench_service.settings import Settings

RESTBENCH = Path(sys.executable).with_name("restbench")
# Connections here, and those of services started here, offer no encryption: a cutting proxy would
# have to understand the offer.
os.environ |= {"PGSSLMODE": "disable", "PGGSSENCMODE": "disable"}


@dataclass(frozen=True)
class LiveDatabase:
    """As a service knows it."""

    url: str
    password_file: Path

    @property
    def variables(self) -> dict[str, str]:
        """Without the RESTBENCH_ before them."""
        return {"DATABASE_URL": self.url, "DATABASE_PASSWORD_FILE": str(self.password_file)}

    def at(self, port: int) -> "LiveDatabase":
        """By way of another port."""
        return LiveDatabase(re.sub(r":\d+/", f":{port}/", self.url), self.password_file)

    def settings(self, **others: Any) -> Settings:
        return Settings(
            database_url=self.url, database_password_file=str(self.password_file), **others
        )

    def connect(self) -> "psycopg.Connection[tuple[Any, ...]]":
        """As the service's own role, which may lock rows and end its own backends."""
        password = self.password_file.read_text().strip()
        return psycopg.connect(self.url, password=password, autocommit=True)

    def value(self, text: str, *values: Any) -> Any:
        """Of a query with one row of one column."""
        with self.connect() as connection:
            ((value,),) = connection.execute(text.encode(), values).fetchall()
            return value

    def waiting(self, event: str = "%") -> int:
        """Backends of the service that wait for a lock, of one kind or of any."""
        text = (
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'restbench-python' "
            "AND state = 'active' AND wait_event_type = 'Lock' AND wait_event LIKE %s"
        )
        return int(self.value(text, event))

    @contextmanager
    def locked_head(self, queue: str, *, delete: bool) -> Iterator[Any]:
        """Another session has the first message's row, or has deleted it and not committed."""
        number = self.value("SELECT id FROM messages.queue WHERE name = %s", queue)
        rows = (
            "messages.message WHERE queue_id = %s "
            "AND id = (SELECT min(id) FROM messages.message WHERE queue_id = %s)"
        )
        text = f"DELETE FROM {rows}" if delete else f"SELECT 1 FROM {rows} FOR UPDATE"  # noqa: S608 - of the test
        with self.connect() as other:
            other.execute("BEGIN")
            other.execute(text.encode(), [number, number])
            yield other
            other.execute("COMMIT")


@contextmanager
def started_database(folder: Path) -> Iterator[LiveDatabase]:
    command = [str(RESTBENCH), "database"]
    place = ["--folder", str(folder)]
    try:
        done = subprocess.run(
            [*command, "start", *place], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        found = re.search(r"postgresql://\S+", done.stdout)
        assert found, done.stdout
        yield LiveDatabase(found[0], folder / "service.password")
    finally:
        subprocess.run([*command, "stop", *place], capture_output=True, check=True)


_NOBODYS = socket.socket()
"""It has a port and does not listen: nobody else can, as long as the tests last."""
_NOBODYS.bind(("127.0.0.1", 0))


def unused_address() -> LiveDatabase:
    """Where nobody listens."""
    port = _NOBODYS.getsockname()[1]
    return LiveDatabase(f"postgresql://nobody@127.0.0.1:{port}/none", Path("/dev/null"))


def fresh_name() -> str:
    return f"x{uuid.uuid4().hex[:12]}"
