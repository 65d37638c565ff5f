"""A service that ends in the middle of a block: why is said as it is, and a fresh one goes on where
there can be one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from fixture_run import cell
from trial_run import EXPERIMENT

from restbench.deploy.service import Service
from restbench.experiment import experiment
from restbench.schedule.block_run import LoadRun, Progress, Wanted
from restbench.schedule.deployments import Deployments
from restbench.schedule.pace import TrialGroup
from restbench.store.store import Run

SERIAL = cell("java serial low 10")


class Up:
    """Deployments with one service, in whose place a fresh one comes up, or does not."""

    def __init__(self, service: Service, fresh: Service | None) -> None:
        self.service, self.fresh = service, fresh

    def of(self, _cell: object) -> Any:
        return SimpleNamespace(service=self.service)

    running = of

    def lacks(self, _cell: object) -> str:
        return "out of memory"

    def renew(self, _cell: object) -> bool:
        self.service = self.fresh or self.service
        return self.fresh is not None


@pytest.fixture
def told() -> list[str]:
    return []


def block(folder: Path, told: list[str], service: Service, fresh: Service | None = None) -> LoadRun:
    run = Run(folder)
    run.trials.begin(1, "2026-11-24T01:00:00+00:00", {})
    view = SimpleNamespace(note=told.append, show=lambda _progress: None)
    load = SimpleNamespace(cell=lambda *_given: told.append("announced"))
    wanted = Wanted(1, [TrialGroup("all", (SERIAL,))], 1.0)
    up = cast(Deployments, Up(service, fresh))
    order = cast(Any, SimpleNamespace(experiment=experiment.parse(EXPERIMENT, Path("small.toml"))))
    return LoadRun(order, run, wanted, up, view, Progress(1), load=cast(Any, load))


def ended(program: str) -> Service:
    process = subprocess.Popen([sys.executable, "-c", program])
    process.wait()
    return Service("java", "http://127.0.0.1:1", [process])


def test_one_that_was_stopped_has_a_fresh_one_in_its_place_and_did_not_die(
    tmp_path: Path, told: list[str]
) -> None:
    stopped = ended("import os; os.kill(os.getpid(), 15)")
    here = block(tmp_path, told, stopped, fresh=Service("java", "http://127.0.0.1:2"))
    assert here.renew_if_dead(SERIAL) is None
    (event,) = here.file.events()
    assert event.text == "the java service was stopped from outside (SIGTERM)"
    assert told == [f"restarted  at {SERIAL.id}: {event.text}; a fresh one goes on", "announced"]


def test_one_that_others_run_is_not_started_anew(tmp_path: Path, told: list[str]) -> None:
    here = block(tmp_path, told, Service("java", "http://127.0.0.1:1"))
    why = here.renew_if_dead(SERIAL)
    assert why is not None
    assert why.startswith("the java service at http://127.0.0.1:1, which others run, does not answ")
    assert (told, here.file.events()) == ([], [])


def test_where_no_fresh_one_comes_up_both_reasons_are_said(tmp_path: Path, told: list[str]) -> None:
    here = block(tmp_path, told, ended("raise SystemExit(3)"))
    why = "the java service died with exit code 3; a fresh one does not come up: out of memory"
    assert here.renew_if_dead(SERIAL) == why
