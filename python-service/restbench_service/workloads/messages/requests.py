"""The requests and the results of the workload messages."""

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
"""The ways to send and take messages. A queue has one, chosen when the queue is created."""
MEMORY = "memory"
NOBODY = 0
"""The receiver of a message that is addressed to nobody in particular."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagesRequest:
    """What all requests have. Requests by GET and DELETE have no id."""

    request_id: str | int | None = None
    strategy: str = ""
    """The execution strategy, named in the error if it does not support a queue's technique."""


@dataclass(frozen=True, slots=True)
class QueueRequest(MessagesRequest):
    """A request for one queue."""

    queue: str


@dataclass(frozen=True, slots=True)
class CreateQueue(QueueRequest):
    """Create a queue, unless it exists already."""

    technique: str


@dataclass(frozen=True, slots=True)
class ListQueues(MessagesRequest):
    """List at most `limit` queues, those whose names come after `after`."""

    after: str
    limit: int


class CountMessages(QueueRequest):
    """Count the messages in a queue."""


class DeleteQueue(QueueRequest):
    """Delete a queue with its messages."""


@dataclass(frozen=True, slots=True)
class Peek(QueueRequest):
    """Read the oldest messages to one receiver without taking them."""

    receiver: int
    limit: int


@dataclass(frozen=True, slots=True)
class DeleteMessage(QueueRequest):
    """Delete a message of this queue, whatever its receiver."""

    id: int


@dataclass(frozen=True, slots=True)
class Send(QueueRequest):
    """Send a message to one queue. `client` is the sender, to whom the key belongs."""

    client: int
    receiver: int
    body: str
    key: str | None


@dataclass(frozen=True, slots=True)
class Broadcast(MessagesRequest):
    """Send a message to each of several queues, or to none of them."""

    queues: tuple[str, ...]
    client: int
    body: str
    key: str | None
    receiver: int = NOBODY


@dataclass(frozen=True, slots=True)
class Pop(QueueRequest):
    """Take the oldest message to exactly one receiver."""

    client: int
    receiver: int
    key: str | None


Keyed = Send | Broadcast | Pop
"""Requests that have one effect and one answer, however often they are sent with the same key."""
Request = CreateQueue | ListQueues | CountMessages | DeleteQueue | Peek | DeleteMessage | Keyed


class Message(NamedTuple):
    """A message, in the column order of the statements; `sent_at` is in microseconds since 1970."""

    id: int
    sender: int
    body: str
    sent_at: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a request: for a Send the id, for a Broadcast the ids, for a Pop a Message or
    None, for a Peek Messages, for a ListQueues names with techniques, for a CountMessages technique
    and number, for the others whether something was created or deleted.
    """

    request: Request
    result: Any
    is_replay: bool
    """Whether the result is that of an earlier request with the same key."""
    parts_ns: Mapping[str, int]
    """Parts of the compute time: waiting for a `connection`, and for answers of the `database`."""


def fingerprint(request: Keyed) -> bytes:
    """A hash of what is asked, without the client. Both services compute the same one."""
    operation = type(request).__name__.lower()
    queues = ",".join(request.queues) if isinstance(request, Broadcast) else request.queue
    body = "" if isinstance(request, Pop) else request.body
    return hashlib.sha256(f"{operation}\n{queues}\n{request.receiver}\n{body}".encode()).digest()
