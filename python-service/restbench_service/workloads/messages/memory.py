"""Messages of the technique `memory`: in this process, as long as it lives."""

from collections import defaultdict, deque
from collections.abc import Callable
from itertools import count, islice
from threading import Lock
from time import time_ns

from .database import Session
from .requests import Message
from .techniques import Values

Lines = defaultdict[int, deque[Message]]
"""By receiver."""


class MemoryMessages:
    """Of all queues, by their ids; one lock for all. Works as a Technique, and asks no database."""

    def __init__(self) -> None:
        """Nothing is in any queue."""
        self._guard = Lock()
        self._ids = count(1)
        self._queues: defaultdict[int, Lines] = defaultdict(lambda: defaultdict(deque))

    def send_one(self, session: Session, values: Values) -> int:
        """See Technique."""
        return self.broadcast(session, values, [values["queue_id"]])[0]

    def broadcast(self, _session: Session, values: Values, queue_ids: list[int]) -> list[int]:
        """See Technique."""
        with self._guard:
            sender, body, sent_at = values["sender"], values["body"], time_ns() // 1000
            messages = [Message(next(self._ids), sender, body, sent_at) for _ in queue_ids]
            for queue, message in zip(queue_ids, messages, strict=True):
                self._queues[queue][values["receiver"]].append(message)
        return [message.id for message in messages]

    def pop_one(
        self, _session: Session, values: Values, _lost: Callable[[], None]
    ) -> Message | None:
        """See Technique."""
        with self._guard:
            line = self._queues[values["queue_id"]][values["receiver"]]
            return line.popleft() if line else None

    def peek(self, _session: Session, values: Values) -> list[Message]:
        """See Technique."""
        with self._guard:
            line = self._queues[values["queue_id"]][values["receiver"]]
            return list(islice(line, values["limit"]))

    def count(self, _session: Session, values: Values) -> int:
        """See Technique."""
        with self._guard:
            return sum(map(len, self._queues[values["queue_id"]].values()))

    def delete(self, _session: Session, values: Values) -> bool:
        """See Technique."""
        with self._guard:
            for line in self._queues[values["queue_id"]].values():
                for message in line:
                    if message.id == values["id"]:
                        line.remove(message)
                        return True
        return False

    def drop(self, queue: int) -> None:
        """The queue is no more."""
        with self._guard:
            self._queues.pop(queue, None)
