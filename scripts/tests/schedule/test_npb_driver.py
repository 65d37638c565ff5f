"""Which kernels a block measures, in which order, and what it leaves out for want of time."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from made_blocks import block_of
from npb_rows import cell, published, trial
from stub_cli import KERNEL
from stub_kernel import REFUSAL

from restbench.drive import npb_runs
from restbench.experiment.cell import Cell
from restbench.experiment.npb import Npb, Runs
from restbench.schedule import block_run
from restbench.schedule.block import take_round
from restbench.schedule.npb import NpbDriver
from restbench.schedule.pace import PlannedTrial, TrialGroup

CELLS = [cell(level) for level in ("IS-S", "CG-S", "MG-S", "FT-S")]
TABLE = Npb(run_max_s=60, runs={"p": {"S": Runs(runs=2, kept=1)}}, published=published())


@pytest.fixture
def now_s(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The clock of the block; each trial takes a second of it."""
    clock = [0.0]
    monkeypatch.setattr(block_run, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    return clock


def driver(path: Path, number: int, needed: Sequence[Cell] = ()) -> NpbDriver:
    order = SimpleNamespace(experiment=SimpleNamespace(seed=3, settings={}), profile_name="p")
    groups = [TrialGroup("all", tuple(CELLS))]
    here = block_of(path, order, groups, number, (each.id for each in needed))
    return NpbDriver(here, TABLE)


def taken(found: NpbDriver, seconds: float, now_s: list[float]) -> list[tuple[int, Cell]]:
    """What is measured in so much time, in order, with its round."""
    order = []
    for (planned,) in found.rounds(seconds):
        order.append((planned.round, planned.cell))
        found.here.file.add([trial(planned.cell, found.here.block, [2.0, 1.0], [1.0])])
        now_s[0] += 1.0
    found.here.file.finish(found.here.block, "2026-11-24T01:05:00+00:00")
    return order


def test_every_cell_is_measured_once_in_an_order_of_its_own_block(
    tmp_path: Path, now_s: list[float]
) -> None:
    orders = [taken(driver(tmp_path, block), 100.0, now_s) for block in (1, 2, 3)]
    for each in orders:
        assert sorted(found.id for _, found in each) == sorted(found.id for found in CELLS)
    assert len({tuple(found.id for _, found in each) for each in orders}) > 1


def test_what_had_no_time_is_said_and_comes_first_in_the_next_block(
    tmp_path: Path, now_s: list[float]
) -> None:
    first = driver(tmp_path, 1)
    order = [found for _, found in taken(first, 2.5, now_s)]
    left_out = [each for each in CELLS if each not in order]
    assert len(left_out) == 1, "what begins in time ends"
    assert first.here.lost == {left_out[0]: "the block had no time for it"}
    assert first.here.missing_s == 1.0, "as long as the others took on average"
    second = driver(tmp_path, 2)
    assert taken(second, 0.0, now_s) == [(1, left_out[0])], "a block measures something"
    assert second.here.lost == {}, "the others have a block already"


def test_what_undecided_claims_need_comes_first_and_has_the_time_that_is_left(
    tmp_path: Path, now_s: list[float]
) -> None:
    first = driver(tmp_path, 1)
    taken(first, 100.0, now_s)
    assert first.here.missing_s == 0.0
    needed = CELLS[2:]
    order = taken(driver(tmp_path, 2, needed), 5.5, now_s)
    assert {found for _, found in order[:2]} == set(needed)
    assert [number for number, _ in order] == [1, 1, 1, 1, 2, 2]
    assert {found for _, found in order[4:]} == set(needed)


def test_a_trial_that_is_longer_than_a_block_comes_last(
    tmp_path: Path, now_s: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, longest in enumerate(CELLS, 1):
        long_s = {longest: 9.0}
        monkeypatch.setattr(NpbDriver, "least_s", lambda _, each, s=long_s: s.get(each, 0.0))
        order = taken(driver(tmp_path, number), 8.0, now_s)
        assert order[-1] == (1, longest)


def test_a_trial_longer_than_the_time_that_is_left_lets_those_go_first_that_fit(
    tmp_path: Path, now_s: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A claim compares cells of one block: a long trial must not take the short ones' places."""
    long_s = {CELLS[0]: 1.8}
    monkeypatch.setattr(NpbDriver, "least_s", lambda _, each: long_s.get(each, 0.0))
    places = set[int]()
    for number in range(12):
        (folder := tmp_path / str(number)).mkdir()
        order = taken(driver(folder, number + 1, CELLS), 2.5, now_s)
        assert len(order) == 3
        places |= {place for place, (_, found) in enumerate(order) if found == CELLS[0]}
    assert places == {0}, "in a block of 2.5 s it has the time at the begin alone"


def test_a_trial_has_a_second_attempt_on_fresh_processes_and_no_third(tmp_path: Path) -> None:
    renewed: list[Cell] = []
    found = driver(tmp_path, 1)
    ended = SimpleNamespace(serves=lambda: False, ending=lambda: "exit code 3", attached=False)
    found.here.deployments = SimpleNamespace(  # type: ignore[assignment]
        of=lambda _cell: SimpleNamespace(service=ended),
        renew=renewed.append,
        lacks=lambda _cell: "no fresh one",
    )
    assert found.again(CELLS[0], "it died") is None
    assert found.again(CELLS[0], "it died again") == "it died again"
    events = [(each.kind, each.text, each.cell) for each in found.here.file.events()]
    name = CELLS[0].id
    assert events == [("retried", "it died", name), ("restarted", "exit code 3", name)]
    assert renewed == [CELLS[0]]


def test_a_class_that_does_not_fit_is_refused_by_the_program_too_where_that_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(npb_runs.PROGRAMS, "java", lambda _: [sys.executable, str(KERNEL)])
    monkeypatch.setenv("STUB_FAULTS", '{"serial": "refused"}')
    found = driver(tmp_path, 2)
    take_round(found, [PlannedTrial(1, CELLS[0])])
    (event,) = found.here.file.events()
    assert (event.kind, event.cell) == ("refused", CELLS[0].id)
    assert event.text.endswith(f"without HTTP: restbench: {REFUSAL}")
