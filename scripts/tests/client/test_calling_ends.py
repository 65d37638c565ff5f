"""How batches end before their inputs do, under every strategy: cancelled, late, interrupted."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from calling_in_memory import NAMES, fake, ok, started
from waiting import await_true

from restbench_client.batch import Batch
from restbench_client.model import Answer, Cancelled, Done, Kind, Limits, Stage


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("error", [LookupError, SystemExit])
def test_what_the_inputs_throw_comes_after_all_that_were_pulled(name, error):
    def inputs() -> Iterator[int]:
        yield from range(7)
        raise error

    with started(name, inputs(), fake(name, ok)) as batch:
        assert len({batch.take().index for _ in range(7)}) == 7
        with pytest.raises(error):
            batch.take()
        assert batch.take() is None


@pytest.mark.parametrize("name", NAMES)
def test_all_that_the_inputs_ended_returns_what_it_had_taken_when_asked_again(name):
    def inputs() -> Iterator[int]:
        yield from range(7)
        raise LookupError

    with started(name, inputs(), fake(name, ok)) as batch:
        with pytest.raises(LookupError):
            batch.all()
        assert [each.index for each in batch.all()] == [*range(7)]
        assert batch.all() == []


@pytest.mark.parametrize("name", ["task-pool", "async"])
def test_a_cancelled_batch_has_an_outcome_for_all_that_it_pulled(name):
    pulled: list[int] = []
    inputs = (pulled.append(n) or n for n in range(10_000))
    exchange = fake(name, ok, gather=1_000, calls=10_000)  # never answers
    batch = started(name, inputs, exchange, Limits(20), threads=20)
    assert await_true(lambda: exchange.within == 20)
    batch.cancel()
    outcomes = batch.all()
    batch.close()
    batch.close()
    assert len(outcomes) == len(pulled) >= 20
    assert {type(each) for each in outcomes} == {Cancelled}
    assert not [each for each in batch.workers if each.is_alive()]


@pytest.mark.parametrize("name", ["sequential", "task-pool"])
@pytest.mark.parametrize("whole_s", [None, 0.2])
def test_an_input_that_comes_while_its_batch_is_cancelled_has_an_outcome(name, whole_s):
    pulled: list[int] = []
    cancels: list[threading.Thread] = []
    waits = threading.Event()

    def inputs() -> Iterator[int]:
        for number in range(3):
            if number == 1:
                waits.set()
                assert await_true(lambda: cancels and not cancels[0].is_alive())
            pulled.append(number)
            yield number

    def cancel() -> None:
        assert waits.wait(30)
        batch.cancel()

    with started(name, inputs(), fake(name, ok), Limits(whole_s=whole_s)) as batch:
        thread = batch._timer or threading.Thread(target=cancel)
        if whole_s is None:
            thread.start()
        cancels.append(thread)
        outcomes = batch.all()
    assert [each.index for each in outcomes] == pulled
    assert {type(each) for each in outcomes[1:]} <= {Cancelled}


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_may_be_cancelled_by_what_is_done_with_an_answer(name):
    holder: list[Batch[int]] = []

    def process(index: int, given: int, output: int) -> int:
        if index == 5:
            assert await_true(lambda: holder)
            holder[0].cancel()
        return output

    with started(name, range(1000), fake(name, ok), process=process) as batch:
        holder.append(batch)
        outcomes = batch.all()
    assert isinstance(outcomes[5], Done)
    assert [each.index for each in outcomes] == [*range(len(outcomes))]
    assert len(outcomes) < 1000


@pytest.mark.parametrize("name", ["task-pool", "async"])
def test_the_whole_batch_has_a_deadline(name):
    exchange = fake(name, ok, gather=1_000, calls=10_000)
    limits = Limits(in_flight=5, whole_s=0.2)
    with started(name, range(50), exchange, limits, threads=5) as batch:
        assert {type(each) for each in batch.all()} == {Cancelled}


@pytest.mark.parametrize(("name", "most"), [("task-pool", 0), ("task-pool", 2), ("async", 0)])
def test_a_batch_that_cannot_have_all_its_threads_leaves_none(name, most, monkeypatch):
    others, start, begun = {*threading.enumerate()}, threading.Thread.start, []

    def scarce(thread: threading.Thread) -> None:
        if len(begun) == most:
            raise RuntimeError("can't start new thread")
        begun.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", scarce)
    with pytest.raises(RuntimeError, match="can't start new thread"):
        started(name, range(10**6), fake(name, ok), threads=5)
    assert len(begun) == most
    assert {*threading.enumerate()} <= others


def test_a_closed_batch_names_the_thread_that_user_code_holds():
    go = threading.Event()
    batch = started("task-pool", range(1), fake("", ok), threads=1, process=lambda *_: go.wait(30))
    assert await_true(lambda: batch.totals().attempts == 1)
    with pytest.raises(RuntimeError, match="call-pool-1"):
        batch.close()
    go.set()


def test_an_interrupt_cancels_the_call_that_is_made_and_not_the_batch():
    def answer(value: int, _attempt: int) -> Answer:
        if value == 2:
            raise KeyboardInterrupt
        return ok(value)

    with started("sequential", range(5), fake("", answer)) as batch:
        assert [batch.take().index for _ in range(2)] == [0, 1]
        with pytest.raises(KeyboardInterrupt):
            batch.take()
        assert [type(each) for each in batch.all()] == [Cancelled, Done, Done]
    with started("sequential", range(5), fake("", answer)) as batch:
        with pytest.raises(KeyboardInterrupt):
            batch.all()
        assert [type(each) for each in batch.all()] == [Done, Done, Cancelled, Done, Done]


@pytest.mark.parametrize("name", ["task-pool", "async"])
@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt])
@pytest.mark.parametrize("stage", [Stage.C, Stage.P])
def test_what_would_end_a_process_ends_its_call_only(name, error, stage):
    def answer(value: int, _attempt: int) -> Answer:
        if value == 2 and stage == Stage.C:
            raise error
        return ok(value)

    def process(_index: int, given: int, output: int) -> int:
        if given == 2 and stage == Stage.P:
            raise error
        return output

    with started(name, range(20), fake(name, answer), threads=1, process=process) as batch:
        outcomes = batch.all()
    assert [each.index for each in outcomes if isinstance(each, Done)] == [0, 1, *range(3, 20)]
    assert (outcomes[2].stage, outcomes[2].kind, type(outcomes[2].cause)) == (
        stage,
        Kind.USER,
        error,
    )


@pytest.mark.parametrize("name", ["task-pool", "async"])
def test_an_interrupt_of_who_waits_for_an_outcome_is_not_the_batch_s_end(name):
    waiting, go = threading.get_ident(), threading.Event()
    before = signal.signal(signal.SIGUSR1, signal.default_int_handler)

    def answer(value: int, _attempt: int) -> Answer:
        assert go.wait(30)
        return ok(value)

    looks: list[bool] = []
    stat = Path(f"/proc/self/task/{threading.get_native_id()}/stat")

    def is_asleep() -> bool:
        # A signal that comes just before it sleeps would not wake it up: three looks in a row.
        here = sys._current_frames()[waiting].f_code.co_name == "_next"
        looks.append(here and stat.read_text().rpartition(")")[2].split()[0] == "S")
        return looks[-3:] == [True] * 3

    def interrupt() -> None:
        assert await_true(is_asleep)
        signal.pthread_kill(waiting, signal.SIGUSR1)

    with started(name, range(4), fake(name, answer)) as batch:
        threading.Thread(target=interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            batch.take()
        go.set()
        assert [type(each) for each in batch.all()] == [Done] * 4
    signal.signal(signal.SIGUSR1, before)
