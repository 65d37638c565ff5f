"""A service that ends in the middle of a block: why is said as it is, and a fresh one goes on where
there can be one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from closed_driver import answers
from fixture_run import cell
from made_blocks import block_of
from trial_run import EXPERIMENT

from restbench.deploy.service import Service
from restbench.experiment import experiment
from restbench.failures import EnvironmentProblem, StorageProblem
from restbench.schedule import preparation
from restbench.schedule.deployments import Deployments
from restbench.schedule.faults import Bench, FaultsDriver
from restbench.schedule.pace import TrialGroup

SERIAL = cell("java serial low 10")


class Up:
    """Deployments with one service, in whose place a fresh one comes up, or does not."""

    def __init__(self, service: Service, fresh: Service | None) -> None:
        self.service, self.fresh = service, fresh
        self.lack: str | None = None

    def of(self, _cell: object) -> Any:
        return SimpleNamespace(service=self.service)

    running = of

    def lacks(self, _cell: object) -> str | None:
        return self.lack

    def renew(self, _cell: object) -> bool:
        self.service = self.fresh or self.service
        self.lack = None if self.fresh else "out of memory"
        return self.fresh is not None


def block(folder: Path, service: Service, fresh: Service | None = None) -> Any:
    order = SimpleNamespace(experiment=experiment.parse(EXPERIMENT, Path("small.toml")))
    here: Any = block_of(folder, order, [TrialGroup("all", (SERIAL,))], up=Up(service, fresh))
    here.load.cell = lambda *_given: here.view.notes.append("announced")
    return here


def ended(program: str) -> Service:
    process = subprocess.Popen([sys.executable, "-c", program])
    process.wait()
    return Service("java", "http://127.0.0.1:1", [process])


def test_one_that_was_stopped_has_a_fresh_one_in_its_place_and_did_not_die(tmp_path: Path) -> None:
    stopped = ended("import os; os.kill(os.getpid(), 15)")
    here = block(tmp_path, stopped, fresh=Service("java", "http://127.0.0.1:2"))
    assert here.renew_if_dead(SERIAL) is None
    (event,) = here.file.events()
    assert event.text == "the java service was stopped from outside (SIGTERM)"
    assert here.view.notes == [
        f"restarted  at {SERIAL.id}: {event.text}; a fresh service continues",
        "announced",
    ]


@pytest.mark.parametrize("serves", [True, False])
def test_a_fresh_one_is_warmed_up_before_the_trial_is_taken_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, serves: bool
) -> None:
    """By the trial's users, of which each has a connection that has ended."""
    service = ended("import os; os.kill(os.getpid(), 9)")
    monkeypatch.setattr(service, "serves", lambda: serves)
    here = block(tmp_path, service, fresh=Service("java", "http://127.0.0.1:2"))
    loads: list[tuple[object, ...]] = []

    def trial(*given: object) -> Any:
        loads.append(given)
        return answers([0.01])

    here.load.trial = trial
    assert preparation.renewed(here, SERIAL) is None
    warming = [(SERIAL.id, SERIAL.users, 0.0, preparation.WARMING_S, ())]
    assert loads == ([] if serves else warming)


def test_one_that_others_run_is_not_started_anew(tmp_path: Path) -> None:
    here = block(tmp_path, Service("java", "http://127.0.0.1:1"))
    why = here.renew_if_dead(SERIAL)
    assert why is not None
    assert why.startswith("the java service at http://127.0.0.1:1, which is attached, does not")
    assert (here.view.notes, here.file.events()) == ([], [])


def test_where_no_fresh_one_comes_up_both_reasons_are_said(tmp_path: Path) -> None:
    here = block(tmp_path, ended("raise SystemExit(3)"))
    why = "the java service died with exit code 3; a fresh service does not start: out of memory"
    assert here.renew_if_dead(SERIAL) == why


@pytest.mark.parametrize("front", [None, "502 Bad Gateway"])
def test_one_that_ends_at_its_first_request_has_a_second_attempt_on_a_fresh_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, front: str | None
) -> None:
    fresh = ended("")
    monkeypatch.setattr(fresh, "serves", lambda: True)
    here = block(tmp_path, ended("import os; os.kill(os.getpid(), 9)"), fresh)
    asked: list[object] = []

    def ask(_cell: object) -> None:
        asked.append(here.deployments.service)
        if len(asked) == 1:
            raise EnvironmentProblem(front) if front else httpx.RemoteProtocolError("no answer")

    monkeypatch.setattr(here, "ask", ask)
    preparation.look(here)
    assert (here.lost, len(asked), asked[1]) == ({}, 2, fresh)


def test_one_that_serves_and_refuses_its_first_request_is_not_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = ended("")
    monkeypatch.setattr(service, "serves", lambda: True)
    here = block(tmp_path, service)
    answers = iter([EnvironmentProblem("low: 503 busy")])

    def ask(_cell: object) -> None:
        raise next(answers)

    monkeypatch.setattr(here, "ask", ask)
    preparation.look(here)
    assert here.lost == {SERIAL: "low: 503 busy"}


def test_one_that_serves_and_does_not_answer_in_time_is_too_slow_which_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three cells of a slow strategy made a whole run end with an error."""
    service = ended("")
    monkeypatch.setattr(service, "serves", lambda: True)
    monkeypatch.setattr(preparation, "LONGEST_REQUEST_S", 0.0)
    here = block(tmp_path, service)

    def ask(_cell: object) -> None:
        raise httpx.ReadTimeout("timed out")

    monkeypatch.setattr(here, "ask", ask)
    preparation.look(here)
    assert [each.kind for each in here.file.events()] == ["too-slow"]


def test_a_full_disk_at_the_first_request_is_not_the_cell_s_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = block(tmp_path, ended(""))

    def ask(_cell: object) -> None:
        raise StorageProblem("full")

    monkeypatch.setattr(here, "ask", ask)
    with pytest.raises(StorageProblem):
        preparation.look(here)
    assert here.lost == {}


def test_one_that_did_not_come_up_after_a_fault_is_started_before_the_next_attempt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known: Any = SimpleNamespace(attached={})
    deployments = Deployments(known, 1, known)
    starts: list[str] = []

    def started(_self: object, key: Any) -> Any:
        starts.append(key.service)
        if len(starts) <= 2:  # both attempts of the fault's own start
            raise EnvironmentProblem("the database does not answer")
        service = SimpleNamespace(serves=lambda: True)
        return SimpleNamespace(service=service, offered=[SERIAL.strategy])

    monkeypatch.setattr(Deployments, "_started", started)
    assert not deployments.renew(SERIAL)
    assert str(deployments.lacks(SERIAL)) == "the database does not answer"

    restarts: list[str] = []
    database: Any = SimpleNamespace(alive=lambda: False, restart=lambda: restarts.append("once"))
    here = block_of(tmp_path, known, [TrialGroup("all", (SERIAL,))], up=deployments)
    driver = FaultsDriver(here, known, tmp_path, Bench(database, deployments))
    assert driver.again(SERIAL, "no fresh service") is None
    assert (restarts, deployments.lacks(SERIAL)) == (["once"], None)
