"""A run with a broken file does not go on: it would fail every cell that is left, for ever."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from made_blocks import View
from stub_bench import Bench

from restbench.commands import measuring
from restbench.drive.payload import ANSWER_REST, BODY_REST
from restbench.experiment.order import Order
from restbench.failures import Unreadable
from restbench.schedule import begin, runner
from restbench.store.store import Run


@pytest.fixture
def order(tmp_path: Path) -> Order:
    return measuring.order_for(Bench(tmp_path).experiment({"java": ["serial"]}), "p", "", [])


@pytest.fixture
def run(tmp_path: Path, order: Order, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Killed in its first block."""
    monkeypatch.setattr(begin, "surroundings", dict)
    killed = Run(tmp_path / "results" / "killed")
    begin.begin(order, killed)
    killed.trials.begin(1, "now", {})
    return killed


def break_proofs(run: Run) -> Path:
    run.proofs_file.write_text('[{"service": ')
    return run.proofs_file


def change_a_body(run: Run) -> Path:
    path = run.payload("tiny") / BODY_REST
    path.write_text(path.read_text().replace("1", "2"))
    return path


def lose_the_answers(run: Run) -> Path:
    path = run.payload("tiny") / ANSWER_REST
    path.unlink()
    return path


@pytest.mark.parametrize("spoil", [break_proofs, change_a_body, lose_the_answers])
def test_a_broken_file_is_named_with_a_mend_before_anything_is_taken_away_or_measured(
    order: Order, run: Run, spoil: Callable[[Run], Path]
) -> None:
    path = spoil(run)
    with pytest.raises(Unreadable, match=f"{path.name}: .*: restore it from a copy, or "):
        runner.execute(order, run, View())
    assert [each.block for each in run.trials.blocks()] == [1]
    assert run.interruptions() == []
