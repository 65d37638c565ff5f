"""Each technique of the queues, by two sessions: the first message is locked by another, or deleted
there and not committed. What a service sends for each is proven of it (restbench.prove.messages);
that defects which look like techniques are found, by the controls (tools.queue_controls)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any

import psycopg
import pytest
from database_server import Session, session, wait_event
from psycopg import IsolationLevel

from restbench.deploy.database import Database

pytestmark = pytest.mark.live
Row = dict[str, Any] | None
Pop = Callable[[Session, int], Row]


def by(name: str) -> Pop:
    """By one statement."""
    return lambda ours, queue: ours.one(name, queue_id=queue, receiver=0)


pop_skip_locked, pop_blocking, pop_plain = map(by, ("pop-skip-locked", "pop-blocking", "pop-plain"))


def pop_statements(ours: Session, queue: int) -> Row:
    with ours.connection.transaction():
        found = ours.one("pop-statements-select", queue_id=queue, receiver=0)
        if found:
            gone = ours.value("pop-statements-delete", queue_id=queue, receiver=0, id=found["id"])
            assert gone == 1
        return found


def pop_function(ours: Session, queue: int) -> Row:
    without_key = {"client": 1, "key": None, "fingerprint": None}
    return ours.one("pop-function", queue_id=queue, receiver=0, **without_key)


def pop_pgmq(ours: Session, queue: int) -> Row:
    return ours.one("pop-pgmq", pgmq_queue=f"q{queue}")


def pop_advisory(ours: Session, queue: int) -> Row:
    with ours.connection.transaction():
        ours.all("lock-queue", queue_id=queue)
        return pop_plain(ours, queue)


AT_ONCE: dict[str, Pop] = {
    "skip-locked": pop_skip_locked,
    "statements": pop_statements,
    "function": pop_function,
    "pgmq": pop_pgmq,
}


class Bench:
    """Two sessions of a service on a queue with two messages."""

    def __init__(self, database: Database, stack: ExitStack) -> None:
        self.database = database
        self.stack = stack
        self.ours, self.other = (stack.enter_context(session(database)) for _ in range(2))
        self.thread = stack.enter_context(ThreadPoolExecutor(1))
        self.technique = ""
        self.queue = 0
        self.messages: list[int] = []

    def fill(self, technique: str) -> None:
        self.technique = technique
        self.queue = self.ours.queue(technique)
        if technique == "pgmq":
            self.messages = [
                self.ours.value("send-pgmq", pgmq_queue=f"q{self.queue}", sender=1, body="hello")
                for _ in range(2)
            ]
        else:
            self.messages = [self.ours.send(self.queue) for _ in range(2)]

    @contextmanager
    def first_held(self, how: str) -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
        """By a transaction of the owner's, which is rolled back where it is not committed."""
        is_pgmq = self.technique == "pgmq"
        row = f"pgmq.q_q{self.queue} WHERE msg_id" if is_pgmq else "messages.message WHERE id"
        act = {"locked": f"SELECT FROM {row} = %s FOR UPDATE"}
        act["deleted"] = f"DELETE FROM {row} = %s"  # noqa: S608 - of the number of a queue
        with self.database.connect() as holder:
            holder.autocommit = False
            assert holder.execute(act[how].encode(), [self.messages[0]]).rowcount == 1
            yield holder
            holder.rollback()

    def repeatable(self) -> Session:
        """A third session, whose transactions see what was there when they began."""
        isolation = IsolationLevel.REPEATABLE_READ
        return self.stack.enter_context(session(self.database, isolation=isolation))

    def beside(self, pop: Pop, ours: Session | None = None) -> tuple[Future[Row], str]:
        """A pop in a thread, and what it waits for."""
        popping = self.thread.submit(pop, ours or self.ours, self.queue)
        return popping, wait_event(self.database, (ours or self.ours).pid, popping.done)

    def waiting(self, pop: Pop, how: str, ours: Session | None = None) -> Future[Row]:
        """A pop that waits for the first message: until it is let go, or really gone."""
        with self.first_held(how) as holder:
            popping, event = self.beside(pop, ours)
            assert event == "Lock/transactionid"
            if how == "deleted":
                holder.commit()
        return popping


@pytest.fixture
def bench(database: Database) -> Iterator[Bench]:
    with ExitStack() as stack:
        yield Bench(database, stack)


def id_of(row: Row) -> int | None:
    return row["id"] if row else None


@pytest.mark.parametrize("how", ["locked", "deleted"])
@pytest.mark.parametrize("technique", AT_ONCE)
def test_one_that_skips_what_is_locked_takes_the_second_at_once(
    bench: Bench, technique: str, how: str
) -> None:
    pop = AT_ONCE[technique]
    bench.fill(technique)
    with bench.first_held(how):
        assert id_of(pop(bench.ours, bench.queue)) == bench.messages[1]
        assert pop(bench.ours, bench.queue) is None
    assert id_of(pop(bench.ours, bench.queue)) == bench.messages[0]


def test_a_blocking_pop_waits_and_takes_the_first_when_the_lock_is_gone(bench: Bench) -> None:
    bench.fill("blocking")
    assert id_of(bench.waiting(pop_blocking, "locked").result()) == bench.messages[0]


def test_a_blocking_pop_takes_the_second_when_the_first_is_really_gone(bench: Bench) -> None:
    bench.fill("blocking")
    assert id_of(bench.waiting(pop_blocking, "deleted").result()) == bench.messages[1]


def test_an_advisory_pop_waits_for_the_lock_of_its_queue_and_of_no_other(bench: Bench) -> None:
    bench.fill("advisory")
    elsewhere, messages = bench.queue, bench.messages
    bench.fill("advisory")
    with bench.other.connection.transaction():
        bench.other.all("lock-queue", queue_id=bench.queue)
        assert id_of(pop_advisory(bench.ours, elsewhere)) == messages[0]
        popping, event = bench.beside(pop_advisory)
        assert event == "Lock/advisory"
    assert id_of(popping.result()) == bench.messages[0]


def test_an_advisory_pop_is_falsely_empty_where_another_removes_without_the_lock(
    bench: Bench,
) -> None:
    """Why every removal from such a queue takes the lock."""
    bench.fill("advisory")
    assert bench.waiting(pop_advisory, "deleted").result() is None
    assert id_of(pop_advisory(bench.ours, bench.queue)) == bench.messages[1]


def in_transaction(ours: Session, queue: int) -> Row:
    with ours.connection.transaction():
        return pop_plain(ours, queue)


def test_repeatable_read_waits_and_takes_the_first_when_the_lock_is_gone(bench: Bench) -> None:
    bench.fill("repeatable-read")
    popping = bench.waiting(in_transaction, "locked", bench.repeatable())
    assert id_of(popping.result()) == bench.messages[0]


def test_repeatable_read_refuses_what_another_took_and_takes_the_second_when_it_tries_again(
    bench: Bench,
) -> None:
    bench.fill("repeatable-read")
    ours = bench.repeatable()
    popping = bench.waiting(in_transaction, "deleted", ours)
    with pytest.raises(psycopg.errors.SerializationFailure) as refused:
        popping.result()
    assert refused.value.sqlstate == "40001"
    assert id_of(in_transaction(ours, bench.queue)) == bench.messages[1]


def pop_with_key(ours: Session, technique: str, queue: int, word: str) -> Row:
    asked = {"client": 1, "key": word, "fingerprint": b"of a pop"}
    if technique == "pgmq":
        return ours.one("pop-pgmq-with-key", pgmq_queue=f"q{queue}", **asked)
    name = "pop-function" if technique == "function" else "pop-skip-locked-with-key"
    return ours.one(name, queue_id=queue, receiver=0, **asked)


@pytest.mark.parametrize("technique", sorted({*AT_ONCE} - {"statements"}))
def test_who_repeats_a_key_waits_for_it_before_any_message_is_passed_over(
    bench: Bench, technique: str
) -> None:
    bench.fill(technique)
    word = f"{technique} {bench.queue}"
    with bench.other.connection.transaction():
        bench.other.all("lock-key", client=1, key=word)
        repeated = bench.thread.submit(pop_with_key, bench.ours, technique, bench.queue, word)
        event = wait_event(bench.database, bench.ours.pid, repeated.done)
        assert event == "Lock/advisory"
        first = pop_with_key(bench.other, technique, bench.queue, word)
        assert id_of(first) == bench.messages[0]
    with pytest.raises(psycopg.errors.UniqueViolation):
        repeated.result()
    assert id_of(AT_ONCE[technique](bench.ours, bench.queue)) == bench.messages[1]


def test_keys_of_others_do_not_wait(bench: Bench) -> None:
    bench.fill("skip-locked")
    with bench.other.connection.transaction():
        bench.other.all("lock-key", client=1, key="a")
        for client, word in ((1, "b"), (2, "a")):
            bench.ours.all("lock-key", client=client, key=word)
