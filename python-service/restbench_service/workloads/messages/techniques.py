"""How a queue's messages are sent and taken: by which statements, in which transaction."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import uniform
from time import sleep
from typing import Any, Literal

from .database import Session, StatementError
from .requests import MEMORY, Message

SERIALIZATION_FAILURE = "40001"
MOST_PAUSE_SECONDS = 0.002
"""The longest pause before a retry. It is random, so that requests do not conflict again."""

Values = Mapping[str, Any]
"""The statements' parameters by name."""


@dataclass(frozen=True)
class QueueTechnique:
    """A row of QUEUE_TECHNIQUES. `values["key"]` is None for a request without a key."""

    send: str = "send"
    pop: str = "pop-skip-locked"
    key: Literal["with-key", "argument", "statement"] = "with-key"
    """How a receipt is stored: by the `-with-key` variant of the statement, by an argument of the
    statement, or by a separate statement."""
    send_in: tuple[bytes, ...] = ()
    pop_in: tuple[bytes, ...] = ()
    """What begins the transaction. If empty, the single statement is a transaction by itself."""
    locks: bool = False
    """Whether pop and delete lock the queue before they take a message."""
    deletes: bool = False
    """Whether pop's statement only selects the message, which another statement then deletes."""
    retries: int = 0
    """The maximum number of retries of a pop that conflicts with another transaction."""
    has_receivers: bool = True
    has_keys: bool = True
    has_table: bool = False
    """Whether the queue is a table of pgmq, which needs separate statements."""

    def send_one(self, session: Session, values: Values) -> int:
        """Send a message. The result is its id."""
        with session.transaction(*self.send_in):
            ((sent,),) = session.do(self._form(self.send, values), values).fetchall()
            self._keep(session, values, {"id": sent})
        return int(sent)

    def broadcast(self, session: Session, values: Values, queue_ids: list[int]) -> list[int]:
        """Send a message to each queue. The result is the ids, in the order of the queues.

        To avoid deadlocks, every broadcast locks the queues in ascending order.
        """
        if not self.has_table:
            ids = {"asked_ids": queue_ids, "ascending_ids": sorted(queue_ids)}
            name = "broadcast-with-key" if values["key"] else "broadcast"
            ((sent,),) = session.do(name, {**values, **ids}).fetchall()
            return list(sent)
        with session.transaction(b"BEGIN"):
            sent_to = {
                each: session.do(self.send, {**values, "pgmq_queue": f"q{each}"}).fetchall()[0][0]
                for each in sorted(queue_ids)
            }
            sent = [sent_to[each] for each in queue_ids]
            if values["key"]:
                _keep_receipt(session, values, {"ids": sent})
        return sent

    def pop_one(self, session: Session, values: Values, lost: Callable[[], None]) -> Message | None:
        """Take the oldest message; None if there is none. `lost` is called before each retry."""
        for _ in range(self.retries):
            try:
                return self._popped(session, values)
            except StatementError as error:
                if error.sqlstate != SERIALIZATION_FAILURE:
                    raise
            lost()
            sleep(uniform(0, MOST_PAUSE_SECONDS))  # noqa: S311 - no secret
        return self._popped(session, values)

    def _popped(self, session: Session, values: Values) -> Message | None:
        with session.transaction(*self.pop_in):
            if self.locks:
                session.do("lock-queue", values)
            elif values["key"] and self.key == "statement":
                session.do("lock-key", values)
            rows = session.do(self._form(self.pop, values), values).fetchall()
            if not rows:
                return None
            message = Message(*rows[0])
            if self.deletes:
                session.do("pop-statements-delete", {**values, "id": message.id})
            self._keep(session, values, message._asdict())
        return message

    def delete(self, session: Session, values: Values) -> bool:
        """Delete a message. The result is whether it was there."""
        if self.has_table:
            return bool(session.do("delete-pgmq", values).fetchall()[0][0])
        with session.transaction(*([b"BEGIN"] if self.locks else [])):
            if self.locks:
                session.do("lock-queue", values)
            return session.do("delete", values).rowcount > 0

    def peek(self, session: Session, values: Values) -> list[Message]:
        """The messages, oldest first. They stay in the queue."""
        rows = session.ask("peek-pgmq" if self.has_table else "peek", values)
        return [Message(*row) for row in rows.fetchall()]

    def count(self, session: Session, values: Values) -> int:
        """The number of messages in the queue."""
        rows = session.ask("count-pgmq" if self.has_table else "count", values)
        return int(rows.fetchall()[0][0])

    def _form(self, statement: str, values: Values) -> str:
        return f"{statement}-with-key" if values["key"] and self.key == "with-key" else statement

    def _keep(self, session: Session, values: Values, answer: Mapping[str, Any]) -> None:
        if values["key"] and self.key == "statement":
            _keep_receipt(session, values, answer)


def _keep_receipt(session: Session, values: Values, answer: Mapping[str, Any]) -> None:
    session.do("keep-receipt", {**values, "answer": json.dumps(answer)})


QUEUE_TECHNIQUES: Mapping[str, QueueTechnique] = {
    "skip-locked": QueueTechnique(),
    "statements": QueueTechnique(
        pop="pop-statements-select",
        key="statement",
        send_in=(b"BEGIN",),
        pop_in=(b"BEGIN",),
        deletes=True,
    ),
    "function": QueueTechnique("send-function", "pop-function", key="argument"),
    "blocking": QueueTechnique(pop="pop-blocking"),
    "advisory": QueueTechnique(pop="pop-plain", pop_in=(b"BEGIN",), locks=True),
    "repeatable-read": QueueTechnique(
        pop="pop-plain", pop_in=(b"BEGIN ISOLATION LEVEL REPEATABLE READ",), retries=50
    ),
    "pgmq": QueueTechnique("send-pgmq", "pop-pgmq", has_receivers=False, has_table=True),
    MEMORY: QueueTechnique(has_keys=False),
}
"""The techniques by their names in requests.TECHNIQUES. `memory` is implemented in memory.py."""
