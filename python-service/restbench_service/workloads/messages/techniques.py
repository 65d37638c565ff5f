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
"""Before another try, at random: who lost together does not meet again."""

Values = Mapping[str, Any]
"""By the names of the statements' parameters."""


@dataclass(frozen=True)
class QueueTechnique:
    """A row of the table. Values have a key that is None where the request has none."""

    send: str = "send"
    pop: str = "pop-skip-locked"
    key: Literal["with-key", "argument", "statement"] = "with-key"
    """How a receipt is kept: by a statement of this ending, by the same one, by one of its own."""
    send_in: tuple[bytes, ...] = ()
    pop_in: tuple[bytes, ...] = ()
    """What begins the transaction; nothing: the one statement is its own."""
    locks: bool = False
    """Whether whatever takes a message locks the queue before."""
    deletes: bool = False
    """Whether pop's statement only finds the message."""
    retries: int = 0
    """Of a pop that loses against another, at most."""
    has_receivers: bool = True
    has_keys: bool = True
    has_table: bool = False
    """Whether pgmq has a table for the queue, with statements of its own."""

    def send_one(self, session: Session, values: Values) -> int:
        """The id of the message."""
        with session.transaction(*self.send_in):
            ((sent,),) = session.do(self._form(self.send, values), values).fetchall()
            self._keep(session, values, {"id": sent})
        return int(sent)

    def broadcast(self, session: Session, values: Values, queue_ids: list[int]) -> list[int]:
        """The ids, in the order of the queues. Rows are locked in ascending order everywhere."""
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
        """The message, or None. `lost` is called when it is tried again."""
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
        """Whether the message was there."""
        if self.has_table:
            return bool(session.do("delete-pgmq", values).fetchall()[0][0])
        with session.transaction(*([b"BEGIN"] if self.locks else [])):
            if self.locks:
                session.do("lock-queue", values)
            return session.do("delete", values).rowcount > 0

    def peek(self, session: Session, values: Values) -> list[Message]:
        """The oldest first."""
        rows = session.ask("peek-pgmq" if self.has_table else "peek", values)
        return [Message(*row) for row in rows.fetchall()]

    def count(self, session: Session, values: Values) -> int:
        """All messages of the queue."""
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
"""By the name in requests.TECHNIQUES. How `memory` works is in memory.py."""
