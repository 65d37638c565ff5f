"""Which client makes a batch of calls: one that is up and warm, whatever became of it before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from made_blocks import block_of

from restbench.analyse.calls import OneCall
from restbench.drive.batches import SingleCall
from restbench.drive.call_client import Batch
from restbench.experiment.calls import Calls
from restbench.experiment.cell import Cell
from restbench.failures import EnvironmentProblem
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
