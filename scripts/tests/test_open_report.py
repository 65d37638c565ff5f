"""The tables of an open-load run, made from raw files."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from restbench.analyse.open_results import WalkResult, results
from restbench.experiment import arrivals
from restbench.experiment.cell import Cell, Shape
from restbench.experiment.records import Before, Manifest, PlannedCell
from restbench.failures import CellsFailed
from restbench.schedule import outcome
from restbench.show import open_figure, open_report
from restbench.store import store
from restbench.store.open_records import OpenStep, Walk
from restbench.store.store import Run
from restbench.store.writing import write_json, write_model, write_text

CELL = Cell(service="java", strategy="serial", complexity="medium", users=64)
OTHER = CELL.model_copy(update={"strategy": "pinned"})
START_MS = 1_700_000_000_000
HEADER = 'timeStamp,elapsed,responseCode,success,"arrival","intended_ms"\n'
MACHINE = {
    "processor": "A processor",
    "cores_online": 2,
    "memory_mib": 2048,
    "system": "A system",
    "kernel": "6",
    "java": "17",
    "python": "3.11",
}


def run_of(folder: Path, *walks: Walk) -> Run:
    run = Run(folder)
    plan = [
        PlannedCell(cell=walk.cell, block=n, order=n, test_ids=())
        for n, walk in enumerate(walks, start=1)
    ]
    write_model(
        run.manifest_file,
        Manifest(
            run="a-run",
            experiment="open-load",
            profile="smoke",
            title="A title",
            seed=1,
            started="now",
            status="complete",
            git_commit="abc",
            git_dirty=False,
            command="restbench run",
            plan=tuple(plan),
        ),
    )
    write_json(run.machine_file, MACHINE)
    write_text(run.experiment_file, store.experiment_file("open-load").read_text())
    for walk in walks:
        write_model(run.walk_record(walk.cell.id), walk)
    return run


def walk_of(cell: Cell = CELL, **changed: object) -> Walk:
    shape = Shape(rows=1000, inner=50, columns=20)
    walk = Walk(cell=cell, shape=shape, order=1, status="walked", closed_per_s=500.0)
    return walk.model_copy(update=changed)


def add_step(run: Run, number: int, rate: float, elapsed_ms: int, **changed: object) -> None:
    folder = run.walk_step(CELL.id, number)
    step = OpenStep(
        cell=CELL,
        number=number,
        rate_per_s=rate,
        warmup_s=0,
        window_s=10,
        tail_s=0,
        seed=(1,),
        before=Before(foreign_pct=0.0, load1=0.0),
        ended="by-itself",
        load_cpu_pct=12.0,
        command="jmeter",
    ).model_copy(update=changed)
    offsets = arrivals.schedule("constant", rate, step.phases, step.seed)
    write_text(folder.arrivals, arrivals.as_text(offsets))
    lines = (
        f"{START_MS + offset},{elapsed_ms},200,true,{n},{START_MS + offset}\n"
        for n, offset in enumerate(offsets.tolist(), start=1)
    )
    write_text(folder.samples, HEADER + "".join(lines))
    write_model(folder.step_record, step)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    made = run_of(tmp_path, walk_of(flags=("shared-cores",)))
    add_step(made, 1, 200.0, 40)
    add_step(made, 2, 250.0, 130)
    return made


def only(run: Run) -> WalkResult:
    (found,) = results(run)
    return found


def test_the_bracket_lies_between_the_steps(run: Run) -> None:
    found = only(run)
    assert (found.bracket.met_per_s, found.bracket.failed_per_s) == (200, 250)
    assert found.bracket.settled
    assert found.met_latency_ms == 40
    assert found.failed is not None
    assert found.failed.reasons == ("p95 130 > 100 ms",)


def test_the_page_says_the_limit_every_step_and_what_the_notes_mean(run: Run) -> None:
    open_report.write(run, results(run))
    page = run.open_load_markdown.read_text()
    assert "| S serial | medium | 64 | 200 | 250 | 40.0 | 500 | 2 | p95 130 > 100 ms |" in page
    assert "**shared-cores**" in page
    assert page.count("| met |") == 1
    rows = list(csv.DictReader(run.open_load_steps_csv.read_text().splitlines()))
    assert [(row["step"], row["unsent"], row["p95_ms"]) for row in rows] == [
        ("1", "0", "40.0"),
        ("2", "0", "130.0"),
    ]


def test_load_of_others_before_a_step_and_a_killed_step_are_noted(run: Run) -> None:
    add_step(run, 3, 240.0, 110, before=Before(foreign_pct=9.0, load1=3.0), ended="killed")
    assert set(only(run).notes) == {"shared-cores", "foreign-load-before", "killed-step"}


def test_a_walk_that_failed_is_shown_and_judged(tmp_path: Path) -> None:
    run = run_of(tmp_path, walk_of(OTHER, status="failed", reason="it did not come up"))
    found = results(run)
    open_report.write(run, found)
    assert "it did not come up" in run.open_load_markdown.read_text()
    assert found[0].notes == ("failed",)
    with pytest.raises(CellsFailed, match="java-pinned"):
        outcome.judge_walks(found)


@pytest.mark.parametrize("broken", ["walk", "step", "samples"])
def test_a_walk_whose_files_are_broken_is_no_result_and_the_others_are_told(
    run: Run, broken: str
) -> None:
    write_model(run.walk_record(OTHER.id), walk_of(OTHER))
    manifest = run.manifest()
    other = PlannedCell(cell=OTHER, block=2, order=2, test_ids=())
    plan = {"plan": (*manifest.plan, other)}
    write_model(run.manifest_file, manifest.model_copy(update=plan))
    step = run.walk_step(CELL.id, 1)
    files = {"walk": run.walk_record(CELL.id), "step": step.step_record, "samples": step.samples}
    files[broken].write_bytes(b"\xff half a line")
    first, second = results(run)
    assert first.notes == ("failed", "unreadable")
    assert first.bracket.met_per_s is None
    assert str(files[broken].parent) in (first.walk.reason or "")
    assert second.walk.status == "walked"


def test_a_walk_that_is_not_over_is_left_out(run: Run) -> None:
    run.walk_record(CELL.id).unlink()
    assert results(run) == []
    open_report.write(run, [])
    assert "0 of 1 walks" in run.open_load_markdown.read_text()


def test_a_late_arrival_is_counted(run: Run) -> None:
    folder = run.walk_step(CELL.id, 1)
    lines = folder.samples.read_text().splitlines(keepends=True)
    first = np.array(lines[1].split(","))
    first[0] = str(int(first[0]) + 50)
    folder.samples.write_text("".join([lines[0], ",".join(first), *lines[2:]]))
    assert only(run).steps[0].late == 1


def test_the_figure_has_a_point_a_rate_hollow_where_the_objective_is_not_met(run: Run) -> None:
    chart = open_figure.chart(results(run), "p95 <= 100 ms")
    assert chart is not None
    ((line,),) = (panel.lines for panel in chart.panels)
    assert [(point.x, point.y, point.doubtful) for point in line.points] == [
        (200, 40.0, False),
        (250, 130.0, True),
    ]
    assert open_figure.write(run, results(run))
    assert "from the intended moment" in run.open_load_figure.read_text()


def test_without_a_step_there_is_no_figure(tmp_path: Path) -> None:
    run = run_of(tmp_path, walk_of(OTHER, status="failed", reason="it did not come up"))
    assert not open_figure.write(run, results(run))
    assert not run.open_load_figure.exists()
