"""However often a strategy was looked at, a run has one proof of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_open_load import EXPERIMENT

from restbench.deploy.service import Service
from restbench.drive.session import Session
from restbench.experiment import open_experiment
from restbench.experiment.open_experiment import OpenOrder
from restbench.experiment.records import Proof
from restbench.machine.placement import Cores
from restbench.schedule import open_walk
from restbench.schedule.open_walk import Walker
from restbench.store import proofs
from restbench.store.store import Run


def proof(*, does: bool | None, strategy: str = "serial") -> Proof:
    looked = {"strategy": strategy, "placement": "unbound", "claim": "", "evidence": ""}
    return Proof(service="java", does=does, **looked)


@pytest.mark.parametrize(
    ("looks", "kept"),
    [
        ([True, True], [True]),
        ([True, False], [False]),
        ([False, True], [False]),
        ([None, True], [True]),
    ],
)
def test_of_several_looks_the_one_that_denies_it_is_kept(
    tmp_path: Path, looks: list[bool | None], kept: list[bool]
) -> None:
    run = Run(tmp_path)
    for does in looks:
        proofs.keep(run, proof(does=does))
    assert [each.does for each in run.proofs()] == kept


def test_every_strategy_has_its_own(tmp_path: Path) -> None:
    run = Run(tmp_path)
    for strategy in ("serial", "pinned", "serial"):
        proofs.keep(run, proof(does=True, strategy=strategy))
    assert [each.strategy for each in run.proofs()] == ["serial", "pinned"]


def test_a_walk_that_is_taken_again_has_the_proof_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "open.toml").write_text(EXPERIMENT)
    loaded = open_experiment.load(tmp_path / "open.toml")
    planned = open_experiment.plan(loaded.all_cells())
    order = OpenOrder(
        experiment=loaded, experiment_text="", profile_name="p", plan=planned, command=""
    )
    running = Service("java", "http://127.0.0.1:1")
    session = Session(running, Cores((0,), (0,)), ("serial", "pinned"), "stub")
    run = Run(tmp_path / "run")
    monkeypatch.setattr(
        open_walk.proof, "prove", lambda _, name, *__: proof(does=True, strategy=name)
    )
    for cell in (planned[0], planned[0]):
        Walker(order, run, cell, session, lambda _: None)._prove()
    assert len(run.proofs()) == 1
