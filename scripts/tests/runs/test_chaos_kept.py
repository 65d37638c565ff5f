"""Chaos sees where a run that goes on loses, changes or misstates what was measured before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from chaos_checks import Violation
from chaos_kept import check_kept, look
from fixture_run import Made, build, cell, steady_load

from restbench.experiment.records import Interruption
from restbench.store.store import Run
from restbench.store.writing import write_text

CELLS = [cell("java serial low 10"), cell("java pinned low 10")]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Two cells are measured."""
    return build(tmp_path / "run", [Made(each, steady_load(10, 20)) for each in CELLS])


def test_what_went_on_and_kept_every_block_is_not_complained_about(run: Run) -> None:
    before = look(run.path.parent)
    assert (before.begun, before.measured) == (True, 2)
    note(run, kept=2, lost=1)
    check_kept(before, run, went_on=True)


def note(run: Run, kept: int, lost: int) -> None:
    noted = Interruption(
        how="killed",
        ended="2026-11-21T01:51:00+00:00",
        resumed="2026-11-21T01:52:00+00:00",
        kept=kept,
        lost=("block 2",) * lost,
        git_commit="0123456",
        git_dirty=False,
    )
    write_text(run.interruptions_file, noted.model_dump_json() + "\n")


def keep_nothing(run: Run) -> None:
    run.trials.path.unlink()
    note(run, kept=2, lost=0)


def measure_again(run: Run) -> None:
    run.trials.add(run.trials.trials()[:1])
    note(run, kept=2, lost=0)


def keep_fewer(run: Run) -> None:
    note(run, kept=1, lost=0)


def lose_two(run: Run) -> None:
    note(run, kept=2, lost=2)


def note_nothing(run: Run) -> None:
    assert run.interruptions() == []


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (keep_nothing, "lost or changed"),
        (measure_again, "lost or changed"),
        (keep_fewer, "1 measurements are said to be kept of 2"),
        (lose_two, "more than the block in flight"),
        (note_nothing, "0 interruptions"),
    ],
)
def test_a_run_that_went_on_without_what_was_measured_is_a_violation(
    run: Run, spoil: Callable[[Run], None], said: str
) -> None:
    before = look(run.path.parent)
    spoil(run)
    with pytest.raises(Violation, match=said):
        check_kept(before, run, went_on=True)
