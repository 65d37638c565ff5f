"""What a run's time goes to adds up to all of it, and each moment counts once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from fixture_run import EXPERIMENT, begun

from restbench.experiment.records import Spent
from restbench.machine import phases
from restbench.machine.phases import Account
from restbench.store import at_work
from restbench.store.store import Run


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def account(clock: Clock) -> Iterator[Account]:
    kept = Account(90.0, clock)
    with phases.kept(kept):
        yield kept


def test_each_moment_belongs_to_the_innermost_phase(account: Account, clock: Clock) -> None:
    with phases.spent_on("warm-up"):
        clock.now_s += 1
        with phases.spent_on("trials"):
            clock.now_s += 5
        clock.now_s += 2
    clock.now_s += 0.5
    assert account.seconds() == {"other": 10.5, "warm-up": 3.0, "trials": 5.0}


def test_a_phase_ends_when_its_block_fails(account: Account, clock: Clock) -> None:
    with pytest.raises(ValueError, match="broken"), phases.spent_on("proofs"):
        clock.now_s += 2
        raise ValueError("broken")
    clock.now_s += 1
    assert account.seconds() == {"other": 11.0, "proofs": 2.0}


def test_what_other_threads_do_meanwhile_takes_no_time_of_its_own(
    account: Account, clock: Clock
) -> None:
    def work() -> None:
        with phases.spent_on("trials"):
            clock.now_s += 1

    with phases.spent_on("pilot"):
        beside = threading.Thread(target=work)
        beside.start()
        beside.join()
    assert account.seconds() == {"other": 10.0, "pilot": 1.0}


def test_without_an_account_a_phase_is_nothing() -> None:
    with phases.spent_on("trials"):
        assert phases.current() is None


def test_setup_is_all_but_the_trials_and_the_long_windows() -> None:
    seconds = {"trials": 50.0, "long windows": 25.0, "pilot": 15.0, "other": 10.0}
    assert phases.summary(seconds) == (
        "set-up and tear-down 25 % (pilot 15.0 %, other 10.0 %), trials 50 %, long windows 25 %"
    )
    assert phases.summary({}).startswith("set-up and tear-down 0 % ()")


def test_a_run_keeps_what_each_process_spent_and_the_last_note_counts(
    tmp_path: Path, account: Account, clock: Clock
) -> None:
    run = Run(tmp_path)
    for _ in range(2):
        with at_work.noted(run) as note:
            note()
            clock.now_s += 1
            note()
    noted = [each.seconds for each in run.spent()]
    assert noted == [{"other": 11.0}, {"other": 12.0}]
    assert at_work.together(run.spent()) == {"other": 23.0}


def test_an_interrupted_run_says_what_it_spent_once_it_has_begun(
    tmp_path: Path, account: Account
) -> None:
    run = Run(tmp_path)
    with pytest.raises(KeyboardInterrupt), at_work.noted(run):
        raise KeyboardInterrupt
    assert run.spent() == []
    begun(run.path, EXPERIMENT, ())
    with pytest.raises(KeyboardInterrupt), at_work.noted(run):
        raise KeyboardInterrupt
    assert run.spent() == [Spent(ended=run.spent()[0].ended, seconds={"other": 10.0})]
