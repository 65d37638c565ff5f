"""A client's way to queues without a service: the contract's statements, sent by psycopg. Two
defects can be planted, which the checker of queues must find."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

import psycopg
from psycopg.rows import dict_row

from restbench.analyse.queue_history import Address
from restbench.deploy.migrations import CONTRACT, Connection
from restbench.drive.queue_client import Answer, NotSent
from restbench.failures import EnvironmentProblem

#: `skip-locked` is sound. The others: a select and then a delete, each a transaction of its own,
#: which pops twice; and a delete whose inner select locks nothing, which says empty of what is not.
Pop = Literal["skip-locked", "select-then-delete", "plain"]
_OK, _REFUSED = 200, 503


@cache
def statement(name: str) -> str:
    """A text of the contract, with psycopg's form of its parameters."""
    text = (CONTRACT / "statements" / f"{name}.sql").read_text("utf-8")
    return re.sub(r"(?<!:):([a-z_]+)", r"%(\1)s", text)


@dataclass
class SqlQueues:
    """One connection; a new one where it broke (queue_client.Queues)."""

    connect: Callable[[], Connection]
    how: Pop = "skip-locked"
    connection: Connection | None = None
    numbers: dict[str, int] = field(default_factory=dict)
    """Of the queues, by name."""

    def create(self, queue: str) -> None:
        """Make a queue."""
        asked = {"queue": queue, "technique": "skip-locked"}
        self._connected().execute(statement("create-queue"), asked)

    def send(self, sender: int, to: Address, body: str, key: str | None) -> Answer:
        """(Queues)."""
        given = {"sender": sender, "body": body, "client": sender, "key": key}
        return self._asked("send", to, given, body)

    def pop(self, client: int, of: Address, key: str | None) -> Answer:
        """(Queues)."""
        return self._asked("pop", of, {"client": client, "key": key}, "")

    def close(self) -> None:
        """(Queues)."""
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def _asked(self, what: str, address: Address, given: dict[str, Any], text: str) -> Answer:
        queue, receiver = address
        named = f"{what}\n{queue}\n{receiver}\n{text}"
        connection = self._connected()
        try:
            if queue not in self.numbers:
                row = _row(connection, "find-queue", {"queue": queue})
                if row is None:
                    return Answer(404, "012")
                self.numbers[queue] = row["id"]
            given |= {"queue_id": self.numbers[queue], "receiver": receiver}
            given |= {"fingerprint": hashlib.sha256(named.encode()).digest()}
            return self._done(connection, what, given)
        except psycopg.Error as error:
            if connection.closed:
                self.close()
                return Answer(_REFUSED, "015", says_when=True)
            if isinstance(error, psycopg.errors.UniqueViolation):
                return self._replayed(connection, given) or Answer(_REFUSED, "014", says_when=True)
            return Answer(_REFUSED, "014", says_when=True)

    def _done(self, connection: Connection, what: str, given: dict[str, Any]) -> Answer:
        suffix = "-with-key" if given["key"] else ""
        if what == "pop" and self.how == "select-then-delete":
            row = _row(connection, "peek", given | {"limit": 1})
            if row is not None:
                connection.execute(statement("delete"), given | {"id": row["id"]})
        else:
            name = "send" if what == "send" else f"pop-{self.how}"
            row = _row(connection, f"{name}{suffix}", given)
        if row is None:
            return (given["key"] and self._replayed(connection, given)) or Answer(_OK)
        return Answer(_OK, id=row["id"], body=row.get("body"))

    def _replayed(self, connection: Connection, given: dict[str, Any]) -> Answer | None:
        """None where nothing is remembered of the key."""
        row = _row(connection, "read-receipt", given)
        if row is None:
            return None
        if bytes(row["fingerprint"]) != given["fingerprint"]:
            return Answer(409, "013")
        kept = row["answer"]
        members = json.loads(kept) if isinstance(kept, str) else kept
        return Answer(_OK, id=members["id"], body=members.get("body"), replayed=True)

    def _connected(self) -> Connection:
        if self.connection is None:
            try:
                self.connection = self.connect()
            except EnvironmentProblem as error:
                raise NotSent from error
        return self.connection


def _row(connection: Connection, name: str, given: Mapping[str, Any]) -> dict[str, Any] | None:
    """The first row of a statement's answer, by the names of its columns."""
    return connection.cursor(row_factory=dict_row).execute(statement(name), given).fetchone()
