"""Which client makes a batch of calls: one that is up, warm and connected, whatever became of it
before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from made_blocks import block_of

from restbench.analyse.calls import OneCall
from restbench.drive import batches
from restbench.drive.batches import SingleCall
from restbench.drive.call_client import Batch
from restbench.experiment.calls import Calls
from restbench.experiment.cell import Cell
from restbench.failures import BadConfiguration, EnvironmentProblem
from restbench.schedule.block import take_round
from restbench.schedule.calls import CallsDriver
from restbench.schedule.pace import PlannedTrial, TrialGroup

CELL = Cell(service="java", strategy="serial", complexity="python-rest-sequential-0ms", users=1)
ALONE = SingleCall(OneCall(0.001, 0.001, 0, 0.001, 0.001), 0.004, 0.006, is_python=True)


def test_a_client_that_ended_is_started_anew_and_warmed_up_before_its_next_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, table = Mock(), Mock(spec=Calls)
    client.renew_if_dead.side_effect = [False, False, True, False, False]
    client.hello.side_effect = EnvironmentProblem("the python client ended")
    up = SimpleNamespace(running=lambda _cell: SimpleNamespace(service=None))
    order = SimpleNamespace(profile_name="p")
    here = block_of(tmp_path, order, [TrialGroup("all", (CELL,))], up=up)
    driver = CallsDriver(here, table, {("python", "rest"): client}, tmp_path, 2)
    batch = Batch("http://here/", 3, Path("in"))
    monkeypatch.setattr(driver, "_batch", lambda *_: batch)
    warmed: list[Cell] = []

    def warming() -> Iterator[SingleCall]:
        yield ALONE
        raise EnvironmentProblem("it ended while it was warmed up")

    outcomes = warming()

    def warm(cell: Cell, _work: object) -> SingleCall:
        warmed.append(cell)
        return next(outcomes, ALONE)

    monkeypatch.setattr(driver, "_warmed", warm)
    counts = []
    for _ in range(5):
        with pytest.raises(EnvironmentProblem):
            driver.trial(PlannedTrial(1, CELL))
        counts.append(len(warmed))
    assert counts == [1, 1, 2, 3, 3], "anew, and once more where that did not succeed"


def test_a_wrong_answer_while_a_client_is_warmed_up_voids_the_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Mock()
    client.renew_if_dead.return_value = False
    order = SimpleNamespace(profile_name="p", experiment=SimpleNamespace(seed=1))
    here = block_of(tmp_path, order, [TrialGroup("all", (CELL,))])
    driver = CallsDriver(here, Mock(spec=Calls), {("python", "rest"): client}, tmp_path, 2)
    monkeypatch.setattr(driver, "_warmed", lambda *_: replace(ALONE, wrong=2))
    assert list(driver.rounds(60.0)) == []
    (event,) = here.file.events()
    said = "2 answers were wrong in a batch that is not measured"
    assert (event.kind, event.text) == ("wrong", said)


@pytest.mark.parametrize("wrong", [0, 1])
def test_a_short_batch_that_does_not_count_opens_the_connections_of_the_measured_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: int
) -> None:
    """A wrong answer of it voids the cell like any other."""
    asked = {"complexity": "python-rest-task-pool-1000ms", "users": 64}
    cell = CELL.model_copy(update=asked)
    client, table = Mock(), Mock(spec=Calls)
    client.renew_if_dead.return_value = False
    client.hello.return_value = SimpleNamespace(strategies=["task-pool"])
    table.made.return_value = 500
    made: list[Batch] = []

    def batch(asked: Batch) -> SimpleNamespace:
        made.append(asked)
        if asked.log:
            raise BadConfiguration("seen enough")
        return SimpleNamespace(attempts=100, wrong=wrong)

    client.batch = batch
    counts: list[float | None] = []

    def counted(_service: object, _strategy: str, expected: float | None = None) -> float:
        counts.append(expected)
        return 7.0 if expected is None else expected

    monkeypatch.setattr(batches, "counted", counted)
    monkeypatch.setattr(batches, "files", lambda *_: (tmp_path / "in", tmp_path / "out"))
    service = SimpleNamespace(base_url="http://here", pids=lambda: ())
    up = SimpleNamespace(running=lambda _cell: SimpleNamespace(service=service))
    here = block_of(
        tmp_path, SimpleNamespace(profile_name="p"), [TrialGroup("all", (cell,))], up=up
    )
    driver = CallsDriver(here, table, {("python", "rest"): client}, tmp_path, 2)
    driver.single_calls["python", "rest"] = ALONE
    take_round(driver, [PlannedTrial(1, cell)])
    (event,) = here.file.events()
    assert event.kind == ("wrong" if wrong else "failed")
    assert len(made) == (1 if wrong else 2)
    if wrong:
        return
    brief, measured = made
    assert (brief.calls, brief.url, brief.log) == (100, "http://here/matrix/serial?delay=10", None)
    assert (measured.calls, measured.url) == (500, "http://here/matrix/serial?delay=1000")
    assert (brief.strategy, brief.threads, brief.in_flight) == ("task-pool", 64, 100)
    assert counts == [None, 107.0], "the measured batch is counted after the short one"
