"""Proofs of queue techniques: does a technique do what its name says? Our own database session
locks the first message of a queue, or deletes it without a commit, while a pop goes through the
service's HTTP interface. How many connections and threads a strategy really uses is counted
while more requests than that all wait for our session."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, LiteralString, NamedTuple

import psycopg
from psycopg import sql

from restbench.deploy.database import Database
from restbench.deploy.service import Service
from restbench.drive.messages import Connection, queue_name
from restbench.drive.monitor import parse_metrics
from restbench.drive.queue_client import QueueCalls
from restbench.experiment.cell import PROVEN, Cell, Technique
from restbench.experiment.records import Proof
from restbench.failures import EnvironmentProblem, counted
from restbench.machine import clock
from restbench.observe import observe
from restbench.observe.evidence import WORKER_POOL, Verdict

#: The most that a pop may take that must not wait for our lock, and the timeout of any other wait.
AT_ONCE_S, PATIENCE_S = 2.0, 4.0
LOOK_S = 0.01
#: A pool's default size, and how many requests are sent beyond those that can be at work at once.
POOL, EXTRA_REQUESTS = 20, 3
#: How often the sessions are counted, at most, until there are as many as there should be.
ATTEMPTS = 3
#: By service and strategy: the name prefix of the pool's threads, or of virtual threads' carriers.
THREADS: Mapping[tuple[str, str], str] = {
    ("java", "worker-pool"): "worker-pool",
    ("python", "worker-pool"): WORKER_POOL,
    ("java", "virtual-thread-per-request"): "ForkJoi",
}
RETRIES = "restbench_database_retries_total"
How = Literal["locked", "deleted"]
_HOLD: Mapping[How, LiteralString] = {
    "locked": "SELECT FROM {} WHERE {} = %s FOR UPDATE",
    "deleted": "DELETE FROM {} WHERE {} = %s",
}


class Claim(NamedTuple):
    """A claim about a service, and the check that decides it."""

    name: str
    text: str
    check: Callable[[_Bench], Verdict]


@dataclass
class _Bench:
    """A queue of the technique on a service, with two messages in it, and our own session."""

    calls: QueueCalls
    technique: Technique
    database: Database
    ours: Connection
    clients: ThreadPoolExecutor
    queue_id: int = 0
    messages: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """The queue's name."""
        return f"proof-{queue_name(self.technique, 1)}"

    def fill(self, count: int = 2) -> None:
        """Create the queue anew, with `count` messages."""
        self.calls.delete(self.name)
        self.calls.create(self.name, self.technique)
        self.messages = tuple(self.send(f"message {number}") for number in range(count))
        if self.technique != "memory":
            query = "SELECT id FROM messages.queue WHERE name = %s"
            self.queue_id = int(self.value(query, self.name))

    def send(self, text: str) -> int:
        """Send a message; returns its id."""
        return self.calls.send(self.name, text)

    def pop(self) -> Future[int | None]:
        """Start a pop; its result is the message's id, or None where the queue is empty."""
        return self.clients.submit(lambda: self.calls.pop(self.name)["id"])

    def value(self, query: str, *values: object) -> Any:
        """The first value of the row that a query of our own session finds; 0 without a row."""
        found = self.ours.execute(query.encode(), values).fetchone()
        return found[0] if found else 0

    def waits_for(self, done: Future[int | None]) -> str:
        """The lock that a session of the service waits for, such as `Lock/transactionid`; empty
        where the pop is `done` first, or no session waits for a lock within PATIENCE_S."""
        query = (
            "SELECT coalesce(max(wait_event_type || '/' || wait_event), '') FROM pg_stat_activity "
            "WHERE application_name LIKE 'restbench-%%' AND wait_event_type = 'Lock'"
        )
        seen = ""

        def is_known() -> bool:
            nonlocal seen
            seen = str(self.value(query))
            return bool(seen) or done.done()

        clock.wait_until(is_known, PATIENCE_S, LOOK_S)
        return seen

    @contextmanager
    def first_held(self, how: How) -> Iterator[Connection]:
        """Lock or delete the first message; rolled back at the end unless the caller commits."""
        name, column = ("pgmq", f"q_q{self.queue_id}"), "msg_id"
        if self.technique != "pgmq":
            name, column = ("messages", "message"), "id"
        act = sql.SQL(_HOLD[how]).format(sql.Identifier(*name), sql.Identifier(column))
        with self.database.connect() as session:
            session.autocommit = False
            session.execute(act, (self.messages[0],))
            try:
                yield session
            finally:
                session.rollback()


def _passes_over_held_message(bench: _Bench) -> Verdict:
    """While we have locked or deleted the first message, a pop gets the second within AT_ONCE_S."""
    said = []
    for how in ("locked", "deleted"):
        bench.fill()
        with bench.first_held(how):
            begun = time.monotonic()
            try:
                found = bench.pop().result(AT_ONCE_S)
            except TimeoutError:
                return False, f"first message {how} by another session: the pop waited"
            took_ms = 1000 * (time.monotonic() - begun)
        if found != bench.messages[1]:
            return (
                False,
                f"first message {how} by another session: the pop did not return the second",
            )
        said.append(f"{how}: the second popped after {took_ms:.0f} ms")
    return True, f"first message {', '.join(said)}"


def _statement(bench: _Bench, pattern: str, what: str) -> Verdict:
    """As `_passes_over_held_message`; in addition, each pop raises the server's count of a
    statement by one. A server that does not count statements leaves open which one is sent."""
    does, seen = _passes_over_held_message(bench)
    bench.fill()
    query = "SELECT coalesce(sum(calls), 0) FROM pg_stat_statements WHERE query ~ %s"
    try:
        before = int(bench.value(query, pattern))
        for _ in bench.messages:
            bench.pop().result(PATIENCE_S)
        grown = int(bench.value(query, pattern)) - before
    except psycopg.Error:
        return None if does else False, f"{seen}; this server does not count statements"
    return does and grown == len(bench.messages), f"{seen}; {grown} {what} for 2 pops"


def _waits_for_held_message(bench: _Bench, retries: int) -> Verdict:
    """With the first message locked, a pop waits and then returns it. With the first message
    deleted, a pop waits, is retried `retries` times after the commit, and returns the second."""
    bench.fill()
    with bench.first_held("locked"):
        popped = bench.pop()
        seen = bench.waits_for(popped)
    first = popped.result(PATIENCE_S) == bench.messages[0]
    bench.fill()
    before = _retries(bench.calls.service)
    with bench.first_held("deleted") as session:
        popped = bench.pop()
        again = bench.waits_for(popped)
        session.commit()
    second = popped.result(PATIENCE_S) == bench.messages[1]
    retried = int(_retries(bench.calls.service) - before)
    return (
        seen == again == "Lock/transactionid" and first and second and retried == retries,
        f"first message locked: the pop waits for {seen or 'nothing'}; deleted: it waits for "
        f"{again or 'nothing'}, then returns {'the second' if second else 'not the second'} "
        f"message, retries: {retried}",
    )


def _advisory(bench: _Bench) -> Verdict:
    """A pop waits while our session holds the queue's advisory lock."""
    bench.fill()
    with bench.database.connect() as session:
        session.autocommit = False
        session.execute("SELECT pg_advisory_xact_lock(%s)", (bench.queue_id,))
        popped = bench.pop()
        seen = bench.waits_for(popped)
        session.rollback()
    first = popped.result(PATIENCE_S) == bench.messages[0]
    return (
        seen == "Lock/advisory" and first,
        f"the queue's lock held: the pop waits for {seen or 'nothing'}, then returns "
        f"{'the first' if first else 'not the first'} message",
    )


def _memory(bench: _Bench) -> Verdict:
    """No session of the service queries the database for a send or a pop. Creating the queue, which
    happens before sessions are counted, may cause queries."""
    bench.fill()
    begun = bench.value("SELECT clock_timestamp()")
    sent = (*bench.messages, bench.send("the last message"))
    popped = [bench.pop().result(PATIENCE_S) for _ in sent]
    query = (
        "SELECT count(*) FROM pg_stat_activity "
        "WHERE application_name LIKE 'restbench-%%' AND query_start > %s"
    )
    asked = int(bench.value(query, begun))
    in_order = sum(got == wanted for got, wanted in zip(popped, sent, strict=True))
    return (
        in_order == len(sent) and not asked,
        f"{in_order} of {len(sent)} messages popped in their order; {counted(asked, 'session')} "
        "queried the database meanwhile",
    )


_DELETE = r"^DELETE FROM messages\.message WHERE queue_id = \$1 AND receiver = \$2 AND id = \$3"
CLAIMS: Mapping[str, tuple[str, Callable[[_Bench], Verdict]]] = {
    "skip-locked": ("a pop skips a message that another session holds", _passes_over_held_message),
    "statements": (
        "a pop skips a message that another session holds, and runs one DELETE by id",
        partial(_statement, pattern=_DELETE, what="DELETEs by id"),
    ),
    "function": (
        "a pop skips a message that another session holds, and calls the function once",
        partial(_statement, pattern=r"messages\.pop\(", what="calls of the function"),
    ),
    "blocking": (
        "a pop waits for the session that holds the message",
        partial(_waits_for_held_message, retries=0),
    ),
    "advisory": ("a pop waits for the queue's lock", _advisory),
    "repeatable-read": (
        "a pop waits for a held message; where the message is gone then, the pop is retried",
        partial(_waits_for_held_message, retries=1),
    ),
    "pgmq": (
        "a pop skips a message that another session holds, by pgmq's own function",
        partial(_statement, pattern=r"pgmq\.pop\(", what="calls of pgmq.pop"),
    ),
    "memory": ("no request reaches the database", _memory),
}


def of(cell: Cell) -> list[Claim]:
    """The claims to prove of a cell: its technique, and for some strategies their connections."""
    found = [Claim(f"technique {cell.technique}", *CLAIMS[cell.technique])]
    if cell.strategy in _COUNTED and cell.technique != "memory":
        wanted, threads = connections(cell), cell.pool_threads or POOL
        name, text = counted(wanted, "connection"), f"{counted(wanted, 'session')} active at once"
        if cell.strategy == "worker-pool":
            name += f" and {counted(threads, 'thread')}"
            text += f", on {counted(threads, 'thread')}"
        found.append(Claim(f"{name} of {cell.strategy}", text, partial(_at_work, cell)))
    return found


def _at_work(cell: Cell, bench: _Bench) -> Verdict:
    """Under more requests than can be at work, the service uses as many sessions at once as the
    strategy allows, and the strategy's own threads. The threads of a pool that computes have the
    same name prefix, but none of them runs during this check."""
    wanted, asked, most = connections(cell), _requests(cell), 0
    pids, family = bench.calls.service.pids(), THREADS.get((cell.service, cell.strategy))
    bench.technique = "blocking"
    before = observe.threads(pids, family) if family else {}
    for _ in range(ATTEMPTS):  # a fresh pool may not have opened all its connections yet
        most = max(most, _sessions(bench, wanted, asked))
        if most >= wanted:
            break
    does, seen = most == wanted, f"{counted(most, 'session')} active at once"
    seen += f" under {counted(asked, 'request')}"
    if family is None:
        return does, seen
    ran = sum(ns > before.get(tid, 0) for tid, ns in observe.threads(pids, family).items())
    if cell.strategy == "worker-pool":
        return does and ran == (
            cell.pool_threads or POOL
        ), f"{seen}, on {counted(ran, 'thread')} of the pool"
    return does and 0 < ran < asked, f"{seen}, on {counted(ran, 'carrier thread')}"


def _sessions(bench: _Bench, wanted: int, asked: int) -> int:
    """The most sessions active at once while `asked` requests wait for one message: counted
    until there are `wanted`, and then a little longer to see whether more join."""
    query = "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s AND state = 'active'"
    most = 0

    def is_enough() -> bool:
        nonlocal most
        most = max(most, int(bench.value(query, f"restbench-{bench.calls.service.name}")))
        return most >= wanted

    bench.fill(1)
    with bench.first_held("locked"):
        pops = [bench.pop() for _ in range(asked)]
        clock.wait_until(is_enough, PATIENCE_S / 2, LOOK_S)
        clock.wait_until(lambda: is_enough() and most > wanted, 20 * LOOK_S, LOOK_S)
    for each in pops:
        with suppress(EnvironmentProblem):  # some were refused: all waited for one message
            each.result(PATIENCE_S)
    return most


#: The strategies that determine how many requests are worked on at once.
_COUNTED = ("pinned", "worker-pool", "virtual-thread-per-request")


def connections(cell: Cell) -> int:
    """How many database sessions of a cell's service can be at work at once."""
    pool = cell.connections or cell.pool_threads or POOL
    if cell.strategy == "pinned":
        return 1
    return min(pool, cell.pool_threads or POOL) if cell.strategy == "worker-pool" else pool


def _requests(cell: Cell) -> int:
    """How many requests to send: more than connections, pool threads or carriers (one per core)."""
    return max(connections(cell), cell.pool_threads or POOL, os.cpu_count() or 1) + EXTRA_REQUESTS


def proven(claim: Claim, service: Service, cell: Cell, database: Database) -> Proof:
    """Check a claim about a service; a check that cannot be made counts as a denial."""
    try:
        with database.connect() as ours, ThreadPoolExecutor(_requests(cell)) as clients:
            calls = QueueCalls(service, cell.strategy)
            bench = _Bench(calls, cell.technique, database, ours, clients)
            does, evidence = claim.check(bench)
            calls.delete(bench.name)
    except (EnvironmentProblem, TimeoutError, psycopg.Error) as error:
        does, evidence = False, f"the check could not be made: {error or type(error).__name__}"
    facts = {each: getattr(cell, each) for each in PROVEN} | {"strategy": claim.name}
    return Proof(**facts, does=does, claim=claim.text, evidence=evidence)


def _retries(service: Service) -> float:
    text = service.get("/metrics").text
    return sum(parse_metrics(text, lambda name: name.startswith(RETRIES)).values())
