"""Clients that send and pop messages, and record each request with its answer.
`analyse.queue_checker` checks this history.

A body is its token, a space, random filler, and the CRC-32 of all before, which shows a change.
"""

from __future__ import annotations

import json
import random
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import psycopg

from restbench.analyse.queue_history import Address, RemainingMessage, Request
from restbench.drive import messages
from restbench.drive.queue_client import Answer, NotSent, Queues
from restbench.machine import storage

#: Pause between a request that failed and the next attempt: the resolution of an outage.
BETWEEN_S = 0.05
#: A request with a key that has no answer so long after the end of the load is given up.
SETTLED_S = 20.0
#: A queue is drained after so many empty answers in a row.
EMPTIES = 3
_CRC_CHARACTERS = 8


@dataclass(frozen=True)
class Clients:
    """The clients of a load, and the messages that they send and pop."""

    name: str
    """All tokens begin with this name."""
    number: int
    addresses: Sequence[Address]
    characters: int
    """Length of a body."""
    have_keys: bool
    """Whether requests have keys, and are retried with them until they are answered."""
    filled: int = 0
    """How many messages each client sends before its first pop."""


def body(token: str, characters: int, filler: random.Random) -> str:
    """A body of so many characters. Its filler is random: a repeated letter would compress."""
    room = characters - len(messages.body(token, ""))
    return messages.body(token, "".join(filler.choices(messages.LETTERS, k=room)))


def checked_token(text: str, characters: int) -> tuple[str, bool]:
    """A body's token, and whether the body was altered (length or CRC-32)."""
    kept, crc = text[:-_CRC_CHARACTERS], text[-_CRC_CHARACTERS:]
    is_whole = len(text) == characters and f"{zlib.crc32(kept.encode()):08x}" == crc
    return text.partition(" ")[0], not is_whole


@dataclass
class Record:
    """The requests of all clients, a line each in a file."""

    path: Path
    requests: list[Request] = field(default_factory=list)
    wrongly_refused: list[str] = field(default_factory=list)
    """Answers with a status of 5xx, except 503 with `Retry-After`."""
    unconnected: list[tuple[int, int]] = field(default_factory=list)
    """Begin and end of each attempt to connect that failed, in ns of the monotonic clock. The file
    has none of them, as no request was sent."""
    unanswered: list[str] = field(default_factory=list)
    """Requests that had no answer SETTLED_S after the end of the load."""

    def add(self, request: Request, answer: Answer) -> None:
        """Record a request and its answer."""
        status = answer.status or 0
        self.requests.append(request)
        if status >= 500 and not (status == 503 and answer.says_when):
            self.wrongly_refused.append(f"{request.op}: {status} {answer.code}")

    def write(self, left: Sequence[RemainingMessage] = ()) -> None:
        """Write the file: requests in the order of their answers, then messages that were left."""
        with storage.writing(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("w", encoding="utf-8") as file:
                for each in self.requests:
                    file.write(json.dumps(each._asdict()) + "\n")
                for message in left:
                    file.write(json.dumps({"op": "left", **message._asdict()}) + "\n")


@contextmanager
def running(clients: Clients, ways: Callable[[], Queues], record: Record) -> Iterator[None]:
    """Run the clients while the context lasts, each in a thread and with a connection of its own;
    at the end none of their requests is in flight. A client sends to a random address, then pops
    from it: the number of messages stays the same.
    """
    over = threading.Event()
    each = [
        _Client(number, clients, ways(), record, over) for number in range(1, clients.number + 1)
    ]
    with ThreadPoolExecutor(clients.number) as working:
        works = [working.submit(client.work) for client in each]
        try:
            yield
        except BaseException:
            for client in each:
                client.gives_up = 0.0
            raise
        finally:
            over.set()
        for work in works:
            work.result()  # raises a client's own exception
    record.unanswered += [client.lacks for client in each if client.lacks]


def drain(clients: Clients, way: Queues, record: Record) -> None:
    """Pop all messages that are left, until each address has been empty EMPTIES times in a row."""
    client = _Client(clients.number + 1, clients, way, record, threading.Event())
    client.over.set()
    for address in clients.addresses:
        empties = 0
        while empties < EMPTIES and not client.lacks:
            came = client.pop(address)
            empties = empties + 1 if came is None else 0
    record.unanswered += [client.lacks] if client.lacks else []
    way.close()


@dataclass
class _Client:
    number: int
    clients: Clients
    way: Queues
    record: Record
    over: threading.Event
    lacks: str = ""
    """The request that was given up without an answer, in words."""
    made: int = 0
    unsure: dict[Address, str] = field(default_factory=dict)
    """By address, the key of a pop of unknown outcome: it may still take a message."""

    def __post_init__(self) -> None:
        self.random = random.Random(f"{self.clients.name} {self.number}")  # noqa: S311
        self.gives_up = float("inf")

    def work(self) -> None:
        """Send and pop until the load is over."""
        for _ in range(self.clients.filled):
            self.send(self.random.choice(self.clients.addresses))
        while not self.over.is_set() and not self.lacks:
            address = self.random.choice(self.clients.addresses)
            self.send(address)
            self.pop(address)
        for address in [*self.unsure]:
            self.pop(address)
        self.way.close()

    def send(self, to: Address) -> None:
        """Send a new message."""
        token = self._name()
        text = body(token, self.clients.characters, self.random)
        asked = self._request("send", to, token, token)
        self._until_answered(asked, lambda: self.way.send(self.number, to, text, asked.key))

    def pop(self, of: Address) -> str | None:
        """Pop a message; returns its token, None where none came. Where the outcome of an
        earlier pop of this address is unknown, its key is used again."""
        asked = self._request("pop", of, self.unsure.get(of) or self._name(), None)
        came = self._until_answered(asked, lambda: self.way.pop(self.number, of, asked.key))
        if came is not None:
            self.unsure.pop(of, None)
        return came

    def _name(self) -> str:
        self.made += 1
        return f"{self.clients.name}-{self.number}-{self.made}"

    def _request(
        self, op: Literal["send", "pop"], to: Address, key: str, token: str | None
    ) -> Request:
        known = key if self.clients.have_keys else None
        return Request(op, self.number, known, *to, token, None, 0, None, None)

    def _until_answered(self, asked: Request, ask: Callable[[], Answer]) -> str | None:
        """Make a request, with a key until it is answered; returns the token of its message."""
        while True:
            began_ns = time.monotonic_ns()
            try:
                answer = ask()
            except NotSent:
                request = None
                self.record.unconnected.append((began_ns, time.monotonic_ns()))
            else:
                request = self._noted(asked._replace(invoked_ns=began_ns), answer)
                if request.status is not None and request.status < 500:
                    return request.token
                if asked.op == "pop" and asked.key and request.outcome == "unknown":
                    self.unsure[asked.address] = asked.key
            if self.over.is_set() and self.gives_up == float("inf"):
                self.gives_up = time.monotonic() + SETTLED_S
            if time.monotonic() > self.gives_up:
                name = asked.key or asked.token or "a client"
                self.lacks = f"{asked.op} of {name}: {request or 'no connection'}"
            time.sleep(BETWEEN_S)
            if asked.key is None or self.lacks:
                return None

    def _noted(self, asked: Request, answer: Answer) -> Request:
        token, altered = asked.token, False
        if asked.op == "pop" and answer.body is not None:
            token, altered = checked_token(answer.body, self.clients.characters)
        request = asked._replace(
            token=token,
            id=answer.id,
            returned_ns=None if answer.status is None else time.monotonic_ns(),
            status=answer.status,
            code=answer.code,
            altered=altered,
            replayed=answer.replayed,
        )
        self.record.add(request, answer)
        return request


def left(database: psycopg.Connection[Any], clients: Clients) -> list[RemainingMessage]:
    """The messages in the clients' queues in the database, whatever the technique."""
    found: list[RemainingMessage] = []
    for queue in dict.fromkeys(queue for queue, _ in clients.addresses):
        ((number, technique),) = database.execute(_FIND, (queue,)).fetchall()
        query = _LEFT_OF_PGMQ if technique == "pgmq" else _LEFT
        for receiver, message, text in database.execute(query, (number,)).fetchall():
            found.append(
                RemainingMessage(queue, receiver, message, *checked_token(text, clients.characters))
            )
    return found


_FIND = "SELECT id, technique FROM messages.queue WHERE name = %s"
_LEFT = "SELECT receiver, id, body FROM messages.message WHERE queue_id = %s"
_LEFT_OF_PGMQ = "SELECT 0, id, body FROM messages.peek_pgmq(%s, 9223372036854775807)"
