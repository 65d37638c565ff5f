"""Messages of the technique `memory`: in this process, as long as it lives."""

from collections import defaultdict, deque
from itertools import count, islice
from threading import Lock
from time import time_ns

from .requests import Message

Lines = defaultdict[int, deque[Message]]
"""By receiver."""


class MemoryMessages:
    """Of all queues, by their ids; one lock for all."""

    def __init__(self) -> None:
        """Nothing is in any queue."""
        self._guard = Lock()
        self._ids = count(1)
        self._queues: defaultdict[int, Lines] = defaultdict(lambda: defaultdict(deque))

    def send(self, queue_ids: list[int], receiver: int, sender: int, body: str) -> list[int]:
        """To each of the queues, or to none."""
        with self._guard:
            sent_at = time_ns() // 1000
            messages = [Message(next(self._ids), sender, body, sent_at) for _ in queue_ids]
            for queue, message in zip(queue_ids, messages, strict=True):
                self._queues[queue][receiver].append(message)
        return [message.id for message in messages]

    def pop(self, queue: int, receiver: int) -> Message | None:
        """The oldest."""
        with self._guard:
            line = self._queues[queue][receiver]
            return line.popleft() if line else None

    def peek(self, queue: int, receiver: int, limit: int) -> list[Message]:
        """The oldest, in their order."""
        with self._guard:
            return list(islice(self._queues[queue][receiver], limit))

    def count(self, queue: int) -> int:
        """To whatever receiver."""
        with self._guard:
            return sum(map(len, self._queues[queue].values()))

    def delete(self, queue: int, message_id: int) -> bool:
        """Whether it was there."""
        with self._guard:
            for line in self._queues[queue].values():
                for message in line:
                    if message.id == message_id:
                        line.remove(message)
                        return True
        return False

    def drop(self, queue: int) -> None:
        """The queue is no more."""
        with self._guard:
            self._queues.pop(queue, None)
