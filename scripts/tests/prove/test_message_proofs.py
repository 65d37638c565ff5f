"""What is proven of queues, on a bench whose service and database a test states: each check says
DOES where it is as the name says, and DOES NOT where it is otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, cast

import psycopg
import pytest

from restbench.experiment.cell import Cell
from restbench.observe import observe
from restbench.prove import messages
from restbench.prove.messages import CLAIMS, EXTRA_REQUESTS, POOL, RETRIES, _Bench, of

TRANSACTION, ADVISORY = "Lock/transactionid", "Lock/advisory"


class Bench(_Bench):
    """Pops answer what is stated of them, one after the other; the last of it again and again."""

    def __init__(
        self,
        *pops: int | str | None,
        waits: tuple[str, ...] = (),
        values: tuple[object, ...] = (0,),
        retries: tuple[int, ...] = (0,),
    ) -> None:
        self.messages = (1, 2)
        self.stated = {"pops": pops, "waits": waits, "values": values, "retries": retries}
        self.told = dict.fromkeys(self.stated, 0)
        self.database = cast(Any, SimpleNamespace(connect=self._connected))
        service = SimpleNamespace(name="java", get=lambda _path: self._metrics(), pids=lambda: (1,))
        self.calls = cast(Any, SimpleNamespace(service=service))

    def _next(self, what: str) -> Any:
        stated, place = self.stated[what], self.told[what]
        self.told[what] += 1
        return stated[min(place, len(stated) - 1)]

    def _metrics(self) -> SimpleNamespace:
        return SimpleNamespace(text=f"{RETRIES} {self._next('retries')}\n")

    @contextmanager
    def _connected(self) -> Iterator[Any]:
        yield SimpleNamespace(execute=lambda *_: None, rollback=lambda: None, autocommit=True)

    def fill(self, count: int = 2) -> None:
        pass

    def send(self, _text: str) -> int:
        return 3

    def pop(self) -> Future[int | None]:
        answer: Future[int | None] = Future()
        if (found := self._next("pops")) != "a wait":
            answer.set_result(found)
        return answer

    def value(self, _query: str, *_values: object) -> Any:
        if isinstance(found := self._next("values"), Exception):
            raise found
        return found

    def waits_for(self, _done: Future[int | None]) -> str:
        return str(self._next("waits"))

    @contextmanager
    def first_held(self, _how: str) -> Iterator[Any]:
        yield SimpleNamespace(commit=lambda: None)


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "AT_ONCE_S", 0.01)
    monkeypatch.setattr(messages, "PATIENCE_S", 0.01)
    monkeypatch.setattr(messages, "LOOK_S", 0.001)


def says(technique: str, bench: Bench) -> bool | None:
    return CLAIMS[technique][1](bench)[0]


COUNTED = ("statements", "function", "pgmq")
GOOD = {
    "skip-locked": Bench(2),
    **{each: Bench(2, values=(5, 7)) for each in COUNTED},
    "blocking": Bench(1, 2, waits=(TRANSACTION,)),
    "repeatable-read": Bench(1, 2, waits=(TRANSACTION,), retries=(4, 5)),
    "advisory": Bench(1, waits=(ADVISORY,)),
    "memory": Bench(1, 2, 3),
}


@pytest.mark.parametrize("technique", CLAIMS)
def test_a_technique_that_does_what_its_name_says_is_proven(technique: str) -> None:
    assert says(technique, GOOD[technique])


@pytest.mark.parametrize("technique", ["skip-locked", *COUNTED])
@pytest.mark.parametrize("answer", [1, None, "a wait"], ids=["first", "nothing", "wait"])
def test_what_does_not_pass_over_a_held_message_is_refuted(
    technique: str, answer: int | str | None
) -> None:
    assert not says(technique, Bench(answer, 2, values=(5, 7)))
    assert not says(technique, Bench(2, answer, 2, values=(5, 7))), "of a deleted one alone"


@pytest.mark.parametrize("technique", COUNTED)
def test_a_statement_that_is_not_sent_for_each_pop_is_refuted(technique: str) -> None:
    assert not says(technique, Bench(2, values=(5, 5)))
    assert not says(technique, Bench(2, values=(5, 6)))


@pytest.mark.parametrize("technique", COUNTED)
def test_where_the_server_counts_no_statements_it_is_not_proven_which_one_is_sent(
    technique: str,
) -> None:
    assert says(technique, Bench(2, values=(psycopg.Error(),))) is None
    assert says(technique, Bench(1, values=(psycopg.Error(),))) is False


@pytest.mark.parametrize(("technique", "retries"), [("blocking", 0), ("repeatable-read", 1)])
def test_what_does_not_wait_for_a_held_message_or_tries_another_number_of_times_is_refuted(
    technique: str, retries: int
) -> None:
    tried = (4, 4 + retries)
    assert not says(technique, Bench(1, 2, waits=("",), retries=tried))
    assert not says(technique, Bench(1, 2, waits=(TRANSACTION, ""), retries=tried))
    assert not says(technique, Bench(1, 2, waits=(ADVISORY,), retries=tried))
    assert not says(technique, Bench(2, 2, waits=(TRANSACTION,), retries=tried))
    assert not says(technique, Bench(1, None, waits=(TRANSACTION,), retries=tried))
    assert not says(technique, Bench(1, 2, waits=(TRANSACTION,), retries=(4, 5 - retries)))


def test_a_pop_that_asks_for_no_lock_of_its_queue_is_refuted() -> None:
    assert not says("advisory", Bench(1, waits=("",)))
    assert not says("advisory", Bench(1, waits=(TRANSACTION,)))
    assert not says("advisory", Bench(2, waits=(ADVISORY,)))


def test_a_queue_in_memory_that_asks_the_database_or_loses_a_message_is_refuted() -> None:
    assert not says("memory", Bench(1, 2, 3, values=(0, 1)))
    assert not says("memory", Bench(1, 2, None))
    assert CLAIMS["memory"][1](Bench(1, 2, None))[1].startswith("2 of 3 messages popped")


# --- connections and threads ----------------------------------------------------------------------
USUAL = {"complexity": "200", "users": 1, "technique": "function"}


def at_work(
    monkeypatch: pytest.MonkeyPatch, ran: int, sessions: int, service: str = "java", **of_cell: Any
) -> bool | None:
    """What the proof says where so many sessions are at work, and so many threads of the family."""
    cell = Cell.model_validate({**USUAL, "service": service, **of_cell})
    idle = {1000 + tid: 5 for tid in range(8)}
    looks = iter([{0: 7, **idle}, {**dict.fromkeys(range(ran), 8), **idle}])
    monkeypatch.setattr(observe, "threads", lambda _pids, _family: next(looks))
    _, claim = of(cell)
    return claim.check(Bench(None, values=(sessions,)))[0]


@pytest.mark.parametrize("service", ["java", "python"])
@pytest.mark.parametrize(
    ("ran", "sessions", "does"),
    [(8, 3, True), (0, 3, False), (7, 3, False), (9, 3, False), (8, 2, False), (8, 4, False)],
)
def test_a_worker_pool_has_its_sessions_and_its_threads_at_work(
    monkeypatch: pytest.MonkeyPatch, service: str, ran: int, sessions: int, *, does: bool
) -> None:
    """Its connections alone would be those of `serial`, too."""
    pool = {"strategy": "worker-pool", "pool_threads": 8, "connections": 3}
    assert at_work(monkeypatch, ran, sessions, service, **pool) is does


@pytest.mark.parametrize(
    ("ran", "sessions", "does"),
    [(2, 7, True), (0, 7, False), (POOL + EXTRA_REQUESTS, 7, False), (2, 6, False)],
)
def test_virtual_threads_wait_on_fewer_threads_of_the_kernel_than_there_are_requests(
    monkeypatch: pytest.MonkeyPatch, ran: int, sessions: int, *, does: bool
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    virtual = {"strategy": "virtual-thread-per-request", "connections": 7}
    assert at_work(monkeypatch, ran, sessions, **virtual) is does


@pytest.mark.parametrize(("sessions", "does"), [(1, True), (0, False), (2, False)])
def test_pinned_works_in_one_session(
    monkeypatch: pytest.MonkeyPatch, sessions: int, *, does: bool
) -> None:
    assert at_work(monkeypatch, 0, sessions, strategy="pinned") is does


def test_each_number_of_threads_is_a_claim_of_its_own() -> None:
    cell = Cell.model_validate({**USUAL, "service": "java", "strategy": "worker-pool"})
    several = [cell.model_copy(update={"pool_threads": each, "connections": 1}) for each in (1, 8)]
    assert [of(each)[1].name for each in several] == [
        "1 connection and 1 thread of worker-pool",
        "1 connection and 8 threads of worker-pool",
    ]
    assert [of(each)[1].text for each in several] == [
        "1 session active at once, on 1 thread",
        "1 session active at once, on 8 threads",
    ]
    _, claim = of(Cell.model_validate({**USUAL, "service": "java", "strategy": "pinned"}))
    evidence = claim.check(Bench(None, values=(1,)))[1]
    assert evidence.startswith("1 session active at once under ")


def test_a_bench_that_cannot_be_asked_is_refuted() -> None:
    cell = Cell.model_validate({**USUAL, "service": "java", "strategy": "worker-pool"})

    def fails(_bench: object) -> tuple[bool, str]:
        raise psycopg.OperationalError("it is gone")

    claim = messages.Claim("technique skip-locked", "", fails)
    gone = SimpleNamespace(connect=Bench()._connected)
    found = messages.proven(claim, cast(Any, SimpleNamespace()), cell, cast(Any, gone))
    assert (found.does, found.evidence) == (False, "the check could not be made: it is gone")
