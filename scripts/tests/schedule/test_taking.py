"""Trials are taken round by round: what a wrong answer, silence or a lost count costs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from fixture_run import cell
from made_blocks import block_of

from restbench.analyse.estimates import measurements
from restbench.drive import monitor
from restbench.drive.generator import GeneratorGone
from restbench.experiment.cell import Cell
from restbench.failures import (
    BadConfiguration,
    EnvironmentProblem,
    Failure,
    NotOffered,
    Refused,
    WrongAnswers,
)
from restbench.schedule import under_load
from restbench.schedule.block import take_round
from restbench.schedule.block_run import Driver, LoadRun
from restbench.schedule.deployments import RunningService
from restbench.schedule.pace import PlannedTrial, TrialGroup
from restbench.store.trials import Trial

SERIAL, PINNED = cell("java serial low 10"), cell("java pinned low 10")
COUNTED = (SERIAL.service_group, SERIAL.strategy)


@pytest.fixture
def here(tmp_path: Path) -> LoadRun:
    up = SimpleNamespace(up={SERIAL.service_group: SimpleNamespace(service=object())})
    found = block_of(tmp_path, None, [TrialGroup("all", (SERIAL, PINNED))], up=up)
    found.sent[COUNTED] = 1_000
    return found


def trial(which: Cell, wrong: int = 0) -> Trial:
    return Trial(1, 1, which.id, 10, 0, 1.0, np.full(9, 1_000), wrong=wrong)


class Answers:
    """A driver whose trials come one after the other; an error is raised."""

    def __init__(self, here: LoadRun, *trials: Trial | Exception) -> None:
        self.here, self.trials = here, iter(trials)

    def trial(self, _planned: PlannedTrial) -> Trial:
        found = next(self.trials)
        if isinstance(found, Exception):
            raise found
        return found

    def again(self, _cell: Cell, _why: str) -> str | None:
        return None


def take(here: LoadRun, trials: Sequence[Trial | Exception], *cells: Cell) -> list[str]:
    """The cells of the trials that the block's file has then."""
    planned = [PlannedTrial(1, each) for each in cells]
    take_round(cast(Driver, Answers(here, *trials)), planned)
    return [each.cell for each in here.file.trials()]


def test_rule_5_a_wrong_answer_is_the_last_of_its_cell_in_a_block(here: LoadRun) -> None:
    first = take(here, [trial(SERIAL, wrong=2), trial(PINNED)], SERIAL, PINNED)
    assert first == [SERIAL.id, PINNED.id]
    assert here.lost == {SERIAL: "2 answers were wrong in one trial"}
    assert [each.kind for each in here.file.events()] == ["wrong"]
    assert take(here, [trial(PINNED)], SERIAL, PINNED)[2:] == [PINNED.id], "the others go on"


def test_rule_5_a_wrong_answer_is_kept_where_the_block_is_measured_anew(here: LoadRun) -> None:
    """The generator ended in the same round, and the run ended well."""
    with pytest.raises(GeneratorGone):
        take(here, [trial(SERIAL, wrong=1), GeneratorGone("gone")], SERIAL, PINNED)
    here.file.begin(1, "later", {})
    assert take(here, [trial(PINNED)], PINNED) == [PINNED.id]
    found = measurements(here.file.trials(), here.file.events(), here.file.blocks(), cores=2)
    assert "wrong-answers" in found[SERIAL.id][0].flags
    assert found[PINNED.id][0].flags == ()


def test_a_trial_that_says_nothing_is_taken_again(here: LoadRun) -> None:
    assert take(here, [EnvironmentProblem("silent"), trial(SERIAL)], SERIAL) == [SERIAL.id]
    assert here.lost == {}


def test_a_cell_without_an_answer_twice_is_lost_and_the_others_go_on(here: LoadRun) -> None:
    silent = EnvironmentProblem("no answer")
    assert take(here, [silent, silent, trial(PINNED)], SERIAL, PINNED) == [PINNED.id]
    assert here.lost == {SERIAL: "no answer"}


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (WrongAnswers("why"), "wrong"),
        (Refused("why"), "refused"),
        (NotOffered("why"), "failed"),
        (BadConfiguration("why"), "failed"),
    ],
)
def test_what_a_second_attempt_would_not_change_or_would_hide_has_none(
    here: LoadRun, error: Failure, kind: str
) -> None:
    assert take(here, [error, trial(PINNED)], SERIAL, PINNED) == [PINNED.id]
    assert [(each.kind, each.text, each.cell) for each in here.file.events()] == [
        (kind, "why", SERIAL.id)
    ]


def test_a_load_generator_that_is_gone_costs_no_cell(here: LoadRun) -> None:
    with pytest.raises(GeneratorGone):
        take(here, [GeneratorGone("JMeter is gone")], SERIAL)
    assert here.lost == {}


@pytest.mark.parametrize(
    ("counted", "gap"), [(1_000, None), (999, None), (1_010, 10 / 1_010), (990, 10 / 990)]
)
def test_rule_10_both_sides_counts_differ_in_either_direction(
    here: LoadRun, monkeypatch: pytest.MonkeyPatch, counted: int, gap: float | None
) -> None:
    monkeypatch.setattr(monitor, "answered_requests", lambda *_asked: [500.0 + counted])
    under_load._check_counts(here, {COUNTED: (here.deployments.up[SERIAL.service_group], [500.0])})
    (known,) = here.file.blocks()
    assert known.facts["count_gap"] == ({} if gap is None else {SERIAL.id: pytest.approx(gap)})
    assert len(here.view.notes) == (gap is not None)


@pytest.mark.parametrize(
    ("one", "other", "is_noted"), [(500, 500, 0), (260, 740, 0), (240, 760, 1)]
)
def test_an_instance_that_served_less_than_half_its_fair_share_is_noted(
    here: LoadRun, monkeypatch: pytest.MonkeyPatch, one: int, other: int, is_noted: int
) -> None:
    monkeypatch.setattr(monitor, "answered_requests", lambda *_asked: [7.0 + one, float(other)])
    under_load._check_counts(
        here, {COUNTED: (here.deployments.up[SERIAL.service_group], [7.0, 0.0])}
    )
    events = [(each.kind, each.cell) for each in here.file.events()]
    assert events == [("unbalanced", SERIAL.id)] * is_noted


def test_a_service_that_was_started_anew_began_to_count_anew(
    here: LoadRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(monitor, "answered_requests", lambda *_asked: [3.0])
    earlier = cast(RunningService, SimpleNamespace(service=object()))
    under_load._check_counts(here, {COUNTED: (earlier, [500.0])})
    assert here.file.blocks()[0].facts["count_gap"] == {}
