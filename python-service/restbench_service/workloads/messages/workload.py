"""The workload messages: each request is one operation on queues, done by the queue's technique."""

import fcntl
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, TypeVar

from ...settings import Settings
from ..workload import Count, InvalidRequestError, ParallelLoop, Workload
from .database import DISK_FULL, Database, FreeSpace, Session, StatementError, not_done
from .memory import MemoryMessages
from .receipts import PURGE_SECONDS, once, purge
from .requests import (
    MEMORY,
    NOBODY,
    Broadcast,
    CountMessages,
    CreateQueue,
    DeleteMessage,
    DeleteQueue,
    Keyed,
    ListQueues,
    Message,
    Outcome,
    Peek,
    Pop,
    Request,
    Send,
    fingerprint,
)
from .techniques import QUEUE_TECHNIQUES, QueueTechnique, Values

QUEUE_GONE_SQLSTATES = ("23503", "42P01")
"""foreign_key_violation, and undefined_table of pgmq: the remembered queue no longer exists."""
TECHNIQUE_UNFIT_CODES = ("003", "013")
"""The technique of the remembered queue cannot do the request. The name may have a new queue."""
MOST_KNOWN = 10_000
"""When so many queues are remembered, all are forgotten."""
BYTES_PER_CHARACTER = 8
"""Bytes of an answer for a character of a message: an escape takes six."""
_COUNT_BYTES = 8
Means = QueueTechnique | MemoryMessages
Found = TypeVar("Found")


class SharedCount:
    """A counter in memory of the process that created it. Processes of pools open its `path`."""

    def __init__(self, path: str | None = None) -> None:
        """Open the counter at a path, or create one with the value 0."""
        self._file = os.memfd_create("count") if path is None else os.open(path, os.O_RDWR)
        self.path = path or f"/proc/{os.getpid()}/fd/{self._file}"

    @property
    def value(self) -> int:
        """The count of all processes together."""
        return int.from_bytes(os.pread(self._file, _COUNT_BYTES, 0), "little")

    def add(self) -> None:
        """Add 1 under a lock, which each call has from an opening of its own."""
        with Path(self.path).open("rb") as opened:
            fcntl.flock(opened, fcntl.LOCK_EX)
            os.pwrite(self._file, (self.value + 1).to_bytes(_COUNT_BYTES, "little"), 0)


class Queue(NamedTuple):
    """A row of the table of queues."""

    id: int
    technique: str


class QueueSnapshot(NamedTuple):
    """What this process knew of a name before it asked the database."""

    deletions: int
    in_memory: int | None
    """The id of the queue whose messages may be in this process. If the database then has no queue
    of this name, or one with another id, that queue is gone for good."""


class MessagesWorkload(Workload[Request, Outcome]):
    """Operations on queues. In a process of a pool it has one connection and no queue in memory."""

    name = "messages"
    is_blocking = True

    def __init__(self, settings: Settings, count_path: str | None = None) -> None:
        """`count_path` is the path of the service process's SharedCount; None in that process."""
        self._settings, self._is_copy = settings, count_path is not None
        self._retries = SharedCount(count_path)
        connections = 1 if self._is_copy else settings.database_connections_a_worker
        self._database = Database(settings, connections)
        self._memory = MemoryMessages(settings.request_memory_bytes // 4)
        self._space = FreeSpace(settings.database_free_path, settings.database_min_free_bytes)
        self._queues: dict[str, Queue] = {}
        self._in_memory: dict[str, int] = {}
        """By name the id of the latest queue whose messages this process may still have."""
        self._deletions, self._guard = 0, Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        """The copy for a process of a pool, which makes it once."""
        return _copy, (self._settings, self._retries.path)

    def open(self) -> None:
        """See Workload. The database may be down."""
        self._database.open()
        if not self._is_copy:
            seconds = self._settings.receipt_seconds
            forget = partial(purge, self._database, seconds)
            self._database.every(min(PURGE_SECONDS, seconds), forget)

    def keep_within(self, resize: Callable[[int], object]) -> None:
        """See Workload. The memory is that of messages of the technique `memory`."""
        self._memory.resize = resize

    def close(self) -> None:
        """See Workload."""
        self._database.close()

    def facts(self) -> Mapping[str, Any]:
        """See Workload."""
        return {"database": {"up": self._database.is_up()}}

    def counts(self) -> Mapping[str, Count]:
        """See Workload."""
        text = "Transactions that were begun again after a conflict with another one."
        return {"database_retries": Count(text, lambda: {(): self._retries.value})}

    def operations(self, value: Request) -> float:  # noqa: ARG002
        """See Workload."""
        return 1.0

    def working_bytes(self, value: Request) -> int:
        """See Workload. A pop needs no room: its one message is answered in any case."""
        messages = value.limit if isinstance(value, Peek) else 0
        return messages * BYTES_PER_CHARACTER * self._settings.max_message_characters

    def parts_ns(self, output: Outcome) -> Mapping[str, int]:
        """See Workload."""
        return output.parts_ns

    def compute(self, value: Request, loop: ParallelLoop) -> Outcome:  # noqa: ARG002 - one operation
        """See Workload. Raises InvalidRequestError 003, 010, 012, 013, 014, 015."""
        with Session(self._database) as session:
            try:
                act = partial(_ACTIONS[type(value)], self, session, value)
                if isinstance(value, Keyed):
                    result, is_replay = once(session, value, act)
                else:
                    result, is_replay = act(), False
            except StatementError as error:
                if error.sqlstate != DISK_FULL or self._space.is_enough():  # else it is logged
                    self._database.report(error.sqlstate)
                raise not_done() from None
            return Outcome(value, result, is_replay, session.parts_ns)

    # --- messages -------------------------------------------------------------------------------

    def _pop(self, session: Session, pop: Pop) -> Message | None:
        return self._on_queue(
            session, pop, lambda means, values: means.pop_one(session, values, self._retries.add)
        )

    def _send(self, session: Session, send: Send) -> int | None:
        return self._on_queue(session, send, lambda means, values: means.send_one(session, values))

    def _peek(self, session: Session, peek: Peek) -> list[Message]:
        return (
            self._on_queue(session, peek, lambda means, it: means.peek(session, it) or None) or []
        )

    def _delete_message(self, session: Session, delete: DeleteMessage) -> bool:
        return bool(
            self._on_queue(session, delete, lambda means, it: means.delete(session, it) or None)
        )

    def _count(self, session: Session, count: CountMessages) -> tuple[str, int]:
        queue = self._queues.get(count.queue)
        if queue is None or queue.technique != MEMORY or not self._is_alone:
            queue = self._find(session, count.queue)
        means = self._means(queue, count)
        try:
            return queue.technique, means.count(session, {"queue_id": queue.id})
        except StatementError as error:
            if (
                error.sqlstate not in QUEUE_GONE_SQLSTATES
                or self._find(session, count.queue) == queue
            ):
                raise
        return self._count(session, count)

    def _broadcast(self, session: Session, broadcast: Broadcast) -> list[int]:
        try:
            return self._sent_to_all(session, broadcast)
        except StatementError as error:
            if error.sqlstate not in QUEUE_GONE_SQLSTATES:
                raise
        except InvalidRequestError as error:
            # 012 names the first queue that is gone, which may be an earlier, remembered one.
            if error.code not in ("012", *TECHNIQUE_UNFIT_CODES):
                raise
        for name in broadcast.queues:
            self._queues.pop(name, None)
        return self._sent_to_all(session, broadcast)

    def _sent_to_all(self, session: Session, broadcast: Broadcast) -> list[int]:
        queues = [
            self._queues.get(name) or self._find(session, name, f"queues[{place}]")
            for place, name in enumerate(broadcast.queues)
        ]
        if len({queue.technique for queue in queues}) > 1:
            raise InvalidRequestError("013", "queues: must be of one technique")
        means = self._means(queues[0], broadcast)
        ids = [queue.id for queue in queues]
        return means.broadcast(session, _values(queues[0], broadcast), ids)

    # --- queues ---------------------------------------------------------------------------------

    def _list(self, session: Session, wanted: ListQueues) -> list[Any]:
        values = {"after": wanted.after, "limit": wanted.limit}
        return session.ask("list-queues", values).fetchall()

    def _create(self, session: Session, create: CreateQueue) -> bool:
        if create.technique == MEMORY:
            self._require_memory(create)
        values = {"queue": create.queue, "technique": create.technique}
        seen = self._seen(create.queue)
        ((number, technique, is_made),) = session.do("create-queue", values).fetchall()
        self._remember(create.queue, Queue(number, technique), seen)
        if technique == MEMORY:
            self._require_memory(create)
        if technique != create.technique:
            raise InvalidRequestError("013", f"queue: exists with the technique {technique}")
        return bool(is_made)

    def _delete_queue(self, session: Session, delete: DeleteQueue) -> bool:
        try:
            queue = self._find(session, delete.queue)
        except InvalidRequestError as error:
            if error.code != "012":
                raise
            return False
        if queue.technique == MEMORY:
            self._require_memory(delete)
        try:
            ((is_deleted,),) = session.do("delete-queue", {"queue": delete.queue}).fetchall()
        finally:  # also after an error: it may be deleted
            with self._guard:
                self._deletions += 1
                self._queues.pop(delete.queue, None)
        self._drop(delete.queue, queue.id)
        if delete.queue in self._in_memory:  # a newer one, which may be the deleted one
            with suppress(InvalidRequestError, StatementError):
                self._find(session, delete.queue)
        return bool(is_deleted)

    def _on_queue(
        self,
        session: Session,
        request: Pop | Send | Peek | DeleteMessage,
        attempt: Callable[[Means, Values], Found | None],
    ) -> Found | None:
        """The result of the attempt on the remembered queue.

        If that finds nothing, the database is asked whether the name has another queue by now, on
        which the attempt is repeated; this is not done for a queue in memory. It is also asked if
        the queue is gone, as often as that happens, or if its technique cannot do the request.
        """
        known = self._queues.get(request.queue)
        queue = known or self._find(session, request.queue)
        while True:
            refusal: StatementError | InvalidRequestError | None = None
            try:
                found = attempt(self._means(queue, request), _values(queue, request))
                if found is not None or known is None or queue.technique == MEMORY:
                    return found
            except StatementError as error:
                if error.sqlstate not in QUEUE_GONE_SQLSTATES:
                    raise
                refusal = error
            except InvalidRequestError as error:
                if error.code not in TECHNIQUE_UNFIT_CODES or known is None:
                    raise
                refusal = error
            now, known = self._find(session, request.queue), None
            if now == queue:
                if refusal:
                    raise refusal
                return None
            queue = now

    def _find(self, session: Session, name: str, place: str = "queue") -> Queue:
        """The queue as it is in the database now. Raises InvalidRequestError 012."""
        seen = self._seen(name)
        row = session.ask("find-queue", {"queue": name}).fetchone()
        if row is None:
            self._queues.pop(name, None)
            if seen.in_memory:
                self._drop(name, seen.in_memory)
            raise InvalidRequestError("012", f"{place}: does not exist")
        return self._remember(name, Queue(*row), seen)

    def _seen(self, name: str) -> QueueSnapshot:
        """A snapshot, to be taken before the database is asked for a queue of this name."""
        return QueueSnapshot(self._deletions, self._in_memory.get(name))

    def _remember(self, name: str, queue: Queue, seen: QueueSnapshot) -> Queue:
        """Remember a queue that the database reported after the snapshot `seen`, unless a queue was
        deleted meanwhile: the database is never asked again for a queue in memory."""
        if seen.in_memory and seen.in_memory != queue.id:
            self._drop(name, seen.in_memory)
        with self._guard:
            if len(self._queues) >= MOST_KNOWN:
                self._queues.clear()
            if seen.deletions == self._deletions:
                self._queues[name] = queue
            if queue.technique == MEMORY:  # ids ascend, and answers may arrive out of order
                self._in_memory[name] = max(queue.id, self._in_memory.get(name, 0))
        return queue

    def _drop(self, name: str, number: int) -> None:
        """Discard this process's messages of a queue that the database no longer has."""
        with self._guard:
            if self._in_memory.get(name) == number:
                del self._in_memory[name]
        self._memory.drop(number)

    def _means(self, queue: Queue, request: Request) -> Means:
        """The implementation of the queue's technique. Raises InvalidRequestError 003 or 013 if the
        technique cannot do the request, StatementError if there is no free space."""
        if queue.technique == MEMORY:
            self._require_memory(request)
        technique = QUEUE_TECHNIQUES[queue.technique]
        if not technique.has_keys and getattr(request, "key", None):
            text = f"key: the technique {queue.technique} has no keys"
            raise InvalidRequestError("013", text)
        if not technique.has_receivers and getattr(request, "receiver", NOBODY) != NOBODY:
            text = f"receiver: the technique {queue.technique} has no receivers"
            raise InvalidRequestError("013", text)
        if queue.technique == MEMORY:
            return self._memory
        if isinstance(request, Send | Broadcast) and not self._space.is_enough():
            raise StatementError(DISK_FULL)
        return technique

    @property
    def _is_alone(self) -> bool:
        """Whether no other process gets requests, so that queues can be in memory."""
        return self._settings.workers == 1 and not self._is_copy

    def _require_memory(self, request: Request) -> None:
        if not self._is_alone:
            text = f"technique: {MEMORY} is not offered under {request.strategy}"
            raise InvalidRequestError("003", text)


@cache
def _copy(settings: Settings, count_path: str) -> MessagesWorkload:
    return MessagesWorkload(settings, count_path)


def _values(queue: Queue, request: Keyed | Peek | DeleteMessage) -> Values:
    """All parameters that the statements for messages may name."""
    fields = ("receiver", "client", "body", "key", "fingerprint", "limit", "id")
    values = {name: getattr(request, name, None) for name in fields}
    values |= {"queue_id": queue.id, "pgmq_queue": f"q{queue.id}", "sender": values["client"]}
    if isinstance(request, Keyed) and request.key:
        values["fingerprint"] = fingerprint(request)
    return values


_ACTIONS: Mapping[type, Callable[[MessagesWorkload, Session, Any], Any]] = {
    Pop: MessagesWorkload._pop,
    Send: MessagesWorkload._send,
    Broadcast: MessagesWorkload._broadcast,
    Peek: MessagesWorkload._peek,
    DeleteMessage: MessagesWorkload._delete_message,
    CreateQueue: MessagesWorkload._create,
    DeleteQueue: MessagesWorkload._delete_queue,
    ListQueues: MessagesWorkload._list,
    CountMessages: MessagesWorkload._count,
}
