"""What is asked of the workload messages, and what is answered."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

TECHNIQUES = (
    "skip-locked",
    "statements",
    "function",
    "blocking",
    "advisory",
    "repeatable-read",
    "pgmq",
    "memory",
)
"""By what means a queue's messages are sent and taken; a queue has one, given when it is made."""
MEMORY = "memory"
NOBODY = 0
"""The receiver of a message that is addressed to nobody in particular."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagesRequest:
    """What all requests have: GET and DELETE no id."""

    request_id: str | int | None = None
    strategy: str = ""
    """Is named where it cannot have a queue's technique."""


@dataclass(frozen=True, slots=True)
class CreateQueue(MessagesRequest):
    """Or find it there already."""

    queue: str
    technique: str


@dataclass(frozen=True, slots=True)
class ListQueues(MessagesRequest):
    """Those whose names come after one, at most `limit`."""

    after: str
    limit: int


@dataclass(frozen=True, slots=True)
class CountMessages(MessagesRequest):
    """A queue, and how many messages are in it."""

    queue: str


@dataclass(frozen=True, slots=True)
class DeleteQueue(MessagesRequest):
    """With its messages."""

    queue: str


@dataclass(frozen=True, slots=True)
class Peek(MessagesRequest):
    """The oldest messages to one receiver, which stay."""

    queue: str
    receiver: int
    limit: int


@dataclass(frozen=True, slots=True)
class DeleteMessage(MessagesRequest):
    """Of this queue, to whatever receiver."""

    queue: str
    id: int


@dataclass(frozen=True, slots=True)
class Send(MessagesRequest):
    """A message for one queue. `client` is the sender, to whom the key belongs."""

    queue: str
    client: int
    receiver: int
    body: str
    key: str | None

    @property
    def fingerprint(self) -> bytes:
        """Equal for requests that ask for the same, from any client; also in the other service."""
        return _fingerprint("send", self.queue, self.receiver, self.body)


@dataclass(frozen=True, slots=True)
class Broadcast(MessagesRequest):
    """A message for each of several queues, or for none."""

    queues: tuple[str, ...]
    client: int
    body: str
    key: str | None
    receiver: int = NOBODY

    @property
    def fingerprint(self) -> bytes:
        """As of Send."""
        return _fingerprint("broadcast", ",".join(self.queues), NOBODY, self.body)


@dataclass(frozen=True, slots=True)
class Pop(MessagesRequest):
    """The oldest message to exactly one receiver."""

    queue: str
    client: int
    receiver: int
    key: str | None

    @property
    def fingerprint(self) -> bytes:
        """As of Send."""
        return _fingerprint("pop", self.queue, self.receiver, "")


Keyed = Send | Broadcast | Pop
"""What has one effect and one answer however often it is asked with the same key."""
Request = CreateQueue | ListQueues | CountMessages | DeleteQueue | Peek | DeleteMessage | Keyed


class Message(NamedTuple):
    """What the statements give of one, in their order; `sent_at` in microseconds since 1970."""

    id: int
    sender: int
    body: str
    sent_at: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a request: an id of a Send, ids of a Broadcast, a Message or None of a Pop,
    Messages of a Peek, names with techniques of a ListQueues, technique and number of a
    CountMessages; of the others whether something was made or deleted.
    """

    request: Request
    result: Any
    is_replay: bool
    """Whether it is that of an earlier request with the same key."""
    parts_ns: Mapping[str, int]
    """Of the time of computing: `connection`, the wait for one, and `database`, its answers."""


def _fingerprint(operation: str, queues: str, receiver: int, body: str) -> bytes:
    return hashlib.sha256(f"{operation}\n{queues}\n{receiver}\n{body}".encode()).digest()
