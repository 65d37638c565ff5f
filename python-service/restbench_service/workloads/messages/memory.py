"""Messages of the technique `memory`: they are kept in this process until it ends."""

from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from itertools import count, islice
from threading import Lock
from time import time_ns

from ..workload import beyond_memory
from .database import Session
from .requests import Message
from .techniques import Values

Lines = defaultdict[int, deque[Message]]
"""Messages by receiver. No deque stays empty, or requests for many receivers would fill memory."""
_NONE: Mapping[int, deque[Message]] = {}
_BYTES, _BYTES_PER_CHARACTER = 300, 4
"""The most bytes of a message without its characters, and of each character."""
_MAX_REMEMBERED_DROPS = 10_000
"""Dropped queues that are remembered: far more than can be dropped during one send."""


class MemoryMessages:
    """The messages of all queues by queue id, under one lock. A QueueTechnique without database."""

    def __init__(self, most_bytes: int) -> None:
        """All queues are empty. All messages together may take `most_bytes`.

        `resize` is called with the bytes that they take, and raises if these are not free.
        """
        self.resize: Callable[[int], object] = lambda _: None
        self._guard = Lock()
        self._ids = count(1)
        self._queues: defaultdict[int, Lines] = defaultdict(lambda: defaultdict(deque))
        self._dropped: dict[int, None] = {}
        self._most_bytes, self._held_bytes = most_bytes, 0

    def send_one(self, session: Session, values: Values) -> int:
        """See QueueTechnique. Raises InvalidRequestError 010 if there is no room."""
        return self.broadcast(session, values, [values["queue_id"]])[0]

    def broadcast(self, _session: Session, values: Values, queue_ids: list[int]) -> list[int]:
        """See QueueTechnique. Raises InvalidRequestError 010 if there is no room for all.

        A message for a queue that was dropped meanwhile is discarded.
        """
        with self._guard:
            sender, body, sent_at = values["sender"], values["body"], time_ns() // 1000
            messages = [Message(next(self._ids), sender, body, sent_at) for _ in queue_ids]
            kept = [
                (queue, message)
                for queue, message in zip(queue_ids, messages, strict=True)
                if queue not in self._dropped
            ]
            self._hold(sum(_size(message) for _, message in kept))
            for queue, message in kept:
                self._queues[queue][values["receiver"]].append(message)
        return [message.id for message in messages]

    def pop_one(
        self, _session: Session, values: Values, _lost: Callable[[], None]
    ) -> Message | None:
        """See QueueTechnique."""
        with self._guard:
            line = self._lines(values).get(values["receiver"])
            return self._taken(line[0], values) if line else None

    def peek(self, _session: Session, values: Values) -> list[Message]:
        """See QueueTechnique."""
        with self._guard:
            return list(islice(self._lines(values).get(values["receiver"], ()), values["limit"]))

    def count(self, _session: Session, values: Values) -> int:
        """See QueueTechnique."""
        with self._guard:
            return sum(map(len, self._lines(values).values()))

    def delete(self, _session: Session, values: Values) -> bool:
        """See QueueTechnique."""
        with self._guard:
            for receiver, line in self._lines(values).items():
                for message in line:
                    if message.id == values["id"]:
                        self._taken(message, {**values, "receiver": receiver})
                        return True
        return False

    def drop(self, queue: int) -> None:
        """Discard the messages of a queue that no longer exists."""
        with self._guard:
            self._dropped[queue] = None
            if len(self._dropped) > _MAX_REMEMBERED_DROPS:
                del self._dropped[next(iter(self._dropped))]
            for line in self._queues.pop(queue, _NONE).values():
                self._hold(-sum(map(_size, line)))

    def _hold(self, size_bytes: int) -> None:
        """Reserve so many bytes more, or fewer if negative. Raises InvalidRequestError 010."""
        held_bytes = self._held_bytes + size_bytes
        if held_bytes > self._most_bytes:
            raise beyond_memory("the request", held_bytes, self._most_bytes)
        self.resize(held_bytes)
        self._held_bytes = held_bytes

    def _lines(self, values: Values) -> Mapping[int, deque[Message]]:
        return self._queues.get(values["queue_id"], _NONE)

    def _taken(self, message: Message, values: Values) -> Message:
        lines = self._queues[values["queue_id"]]
        lines[values["receiver"]].remove(message)
        if not lines[values["receiver"]]:
            del lines[values["receiver"]]
        self._hold(-_size(message))
        return message


def _size(message: Message) -> int:
    return _BYTES + _BYTES_PER_CHARACTER * len(message.body)
