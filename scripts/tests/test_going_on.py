"""A run that goes on measures what has no record, in the plan's order, and counts all of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from stub_bench import Bench, recorded

from restbench.commands import ordering
from restbench.experiment.order import Order
from restbench.experiment.records import CellRun, PlannedCell
from restbench.failures import NotAsBegun
from restbench.schedule import resuming, runner, sources
from restbench.schedule.begin import begin
from restbench.store.store import Run
from restbench.store.writing import write_model

RULE = "blocks = 2\nblocks_max = 3\nprecision = 0.01"


@pytest.fixture
def order(tmp_path: Path) -> Order:
    """Two cells, in two blocks or up to three."""
    path = Path(Bench(tmp_path).experiment({"java": ["serial", "pinned"]}))
    path.write_text(path.read_text().replace("blocks = 1", RULE))
    return ordering.order_for(str(path), "p", "", [])


@pytest.fixture
def run(tmp_path: Path, order: Order, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Begun, nothing measured; what is measured from here on only leaves its record."""
    begun = Run(tmp_path / "run")
    begin(order, begun)
    monkeypatch.setattr(runner, "_measure_group", leave_records)
    monkeypatch.setattr(runner.measures, "rows", lambda _run: [])
    return begun


def leave_records(
    order: Order, run: Run, cells: Sequence[PlannedCell], count: runner._Count, view: View
) -> None:
    for planned in (each for each in cells if not run.has_record(each)):
        made = recorded(order, planned)
        write_model(run.cell(planned.block, planned.cell.id).record, made)
        count.done()
        view.done(made, count.finished, count.to_go_s())


class View:
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.measured: list[int] = []
        self.finished: list[int] = []
        self.all: list[int] = []

    def note(self, text: str) -> None:
        """Not looked at."""

    def extended(self, cells: int, _why: str) -> None:
        self.all.append(cells)

    def done(self, record: CellRun, finished: int, _to_go_s: float) -> None:
        self.measured.append(record.order)
        self.finished.append(finished)


def go_on(
    order: Order, run: Run, kept: int, monkeypatch: pytest.MonkeyPatch, *, lacks: bool
) -> View:
    """Killed after so many cells; `lacks` is what the stop rule would say of the rest."""
    for planned in order.plan[:kept]:
        write_model(run.cell(planned.block, planned.cell.id).record, recorded(order, planned))
    monkeypatch.setattr(runner, "_lacks_precision", lambda _order, _run: lacks)
    view = View()
    runner.execute(order, run, view)  # type: ignore[arg-type]
    return view


def test_only_cells_without_a_record_are_measured_and_all_are_counted(
    order: Order, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = go_on(order, run, 1, monkeypatch, lacks=False)
    assert view.measured == [2, 3, 4]
    assert view.finished == [2, 3, 4]
    assert [each.order for each in run.manifest().plan] == [1, 2, 3, 4]


def test_a_service_that_was_built_anew_meanwhile_ends_the_run_which_can_go_on(
    order: Order, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run(tmp_path / "run")
    begin(order, run)
    monkeypatch.setattr(sources, "fingerprints", lambda: {"java service": "another"})
    with pytest.raises(NotAsBegun, match="is now another"):
        runner.execute(order, run, View())  # type: ignore[arg-type]
    assert run.manifest().status == "interrupted"
    assert not any(map(run.has_record, order.plan))


def test_a_further_block_that_had_begun_is_finished_whatever_its_first_cells_say(
    order: Order, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = go_on(order, run, 5, monkeypatch, lacks=False)
    assert (view.measured, view.finished, view.all) == ([6], [6], [6])
    assert len(run.manifest().plan) == 6


def test_a_further_block_that_had_not_begun_is_measured_where_precision_lacks(
    order: Order, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = go_on(order, run, 4, monkeypatch, lacks=True)
    assert (view.measured, view.finished, view.all) == ([5, 6], [5, 6], [6])


def test_a_run_that_was_killed_after_its_last_cell_measures_nothing_and_is_complete(
    order: Order, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert go_on(order, run, 4, monkeypatch, lacks=False).measured == []
    assert run.manifest().status == "complete"
    assert len(run.manifest().plan) == 4


def test_a_complete_run_killed_twice_before_its_page_goes_on_with_its_whole_plan(
    order: Order, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on(order, run, 4, monkeypatch, lacks=False)
    run.report.write_text("made of half the cells")
    resuming.go_on(run, order.plan)  # and killed again before it was finished
    assert not run.report.exists()
    assert not run.is_over
    assert (
        resuming.unfinished(order, order.claims_text, [run], lambda _line: None)[0].differences
        == ()
    )
    assert go_on(order, run, 4, monkeypatch, lacks=False).measured == []
    assert len(run.manifest().plan) == 4
