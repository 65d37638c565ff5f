"""Messages of the technique `memory`: in this process, as long as it lives."""

from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from itertools import count, islice
from threading import Lock
from time import time_ns

from ..workload import InvalidRequestError
from .database import Session
from .requests import Message
from .techniques import Values

Lines = defaultdict[int, deque[Message]]
"""By receiver; none is empty, or who asks for many receivers would fill the memory."""
_NONE: Mapping[int, deque[Message]] = {}
_BYTES, _BYTES_PER_CHARACTER, _MEBIBYTE = 300, 4, 1 << 20
"""Of a message without its characters, and of each of them, at most."""
_DROPPED_KNOWN = 10_000
"""Far more than can be dropped while one send is under way."""


class MemoryMessages:
    """Of all queues, by their ids; one lock for all. A QueueTechnique that asks no database."""

    def __init__(self, most_bytes: int) -> None:
        """Nothing is in any queue. All messages together may have so many bytes.

        `resize` is told how many they have, and raises where those are not free.
        """
        self.resize: Callable[[int], object] = lambda _: None
        self._guard = Lock()
        self._ids = count(1)
        self._queues: defaultdict[int, Lines] = defaultdict(lambda: defaultdict(deque))
        self._dropped: dict[int, None] = {}
        self._most_bytes, self._held_bytes = most_bytes, 0

    def send_one(self, session: Session, values: Values) -> int:
        """See QueueTechnique. Raises InvalidRequestError 010 where there is no room."""
        return self.broadcast(session, values, [values["queue_id"]])[0]

    def broadcast(self, _session: Session, values: Values, queue_ids: list[int]) -> list[int]:
        """See QueueTechnique. Raises InvalidRequestError 010 where there is no room for all.

        A message for a queue that was dropped meanwhile is gone with it.
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
        """The queue is no more."""
        with self._guard:
            self._dropped[queue] = None
            if len(self._dropped) > _DROPPED_KNOWN:
                del self._dropped[next(iter(self._dropped))]
            for line in self._queues.pop(queue, _NONE).values():
                self._hold(-sum(map(_size, line)))

    def _hold(self, size_bytes: int) -> None:
        """So many more, or fewer."""
        held_bytes = self._held_bytes + size_bytes
        if held_bytes > self._most_bytes:
            needed, most = -(-held_bytes // _MEBIBYTE), self._most_bytes // _MEBIBYTE
            text = f"the request needs {needed} MiB of memory, the limit is {most} MiB"
            raise InvalidRequestError("010", text)
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
