"""`run.json`: it has its schema's form, what is published follows from it, and it stays small."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from fixture_run import cell
from trial_run import CLAIMS, PINNED, SERIAL, build

from restbench.analyse import exported as entries
from restbench.analyse import long_windows, measures
from restbench.analyse.measures import Row
from restbench.failures import Unreadable
from restbench.judge import claims
from restbench.judge.compare import compare
from restbench.show import export, files
from restbench.store import exported, store
from restbench.store.store import Run
from restbench.store.traces import MOST_POINTS
from restbench.store.writing import write_json

MIX = "java serial mix 10"
SCHEMA = Path(exported.__file__).with_name("run.schema.json")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    per_s = {SERIAL: [300.0, 310.0, 305.0], PINNED: [200.0, 205.0], MIX: [150.0, 140.0, 145.0]}
    return build(tmp_path / "run", per_s, claims=CLAIMS)


def written(run: Run) -> dict[str, Any]:
    export.write(run, measures.rows(run), print)
    document: dict[str, Any] = json.loads(run.exported_file.read_text())
    return document


def test_the_schema_in_the_repository_is_the_forms_and_the_file_has_it(run: Run) -> None:
    held = json.loads(SCHEMA.read_text())
    assert held == exported.schema(), "write it again: store.exported.schema()"
    document = written(run)
    jsonschema.validate(document, held)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document | {"cells": [{"id": 1}]}, held)


def test_a_cell_has_its_estimates_and_no_interval_below_three_blocks(run: Run) -> None:
    cells = {each["id"]: each for each in written(run)["cells"]}
    three = cells["java-serial-unbound-low-10u"]["throughput_per_s"]
    assert three["low"] < three["value"] < three["high"]
    assert three["value"] == pytest.approx(305, rel=0.01)
    two = cells["java-pinned-unbound-low-10u"]
    assert (two["throughput_per_s"]["low"], two["throughput_per_s"]["high"]) == (None, None)
    assert (two["blocks"], two["trials"]) == (2, 6)
    assert two["factors"]["strategy"] == "pinned"


def test_rows_made_of_the_file_are_those_of_the_trials(run: Run) -> None:
    drawn = [[6, 3, 1], [4, 3, 3], [10]]
    run.trials.fact(1, "connections", {cell(SERIAL).id: drawn})
    first = measures.rows(run)
    export.write(run, first, print)
    again = entries.rows_of(exported.read(run.exported_file))
    assert [each.cell for each in again] == [each.cell for each in first]
    for one, two in zip(first, again, strict=True):
        _same(one, two)
    assert [each.connections for each in again[0].measurements] == [drawn, None, None]
    told = [(each.id, each.headline, each.why) for each in claims.decisions(run, first)]
    assert [(each.id, each.headline, each.why) for each in claims.decisions(run, again)] == told


def _same(one: Row, two: Row) -> None:
    assert (one.shape, one.mix, one.test_ids, one.flags) == (
        two.shape,
        two.mix,
        two.test_ids,
        two.flags,
    )
    for ours, theirs in zip(one.measurements, two.measurements, strict=True):
        for name in type(ours).model_fields:
            _alike(getattr(ours, name), getattr(theirs, name), name)
    assert [each.kind for each in one.warnings] == [each.kind for each in two.warnings]


def _alike(one: Any, two: Any, name: str) -> None:
    if isinstance(one, float):
        assert two == pytest.approx(one, rel=1e-5, abs=1e-6), name
    elif isinstance(one, dict):
        for kind in one:
            for field in type(one[kind]).model_fields:
                _alike(getattr(one[kind], field), getattr(two[kind], field), name)
    else:
        assert one == two, name


def test_a_run_of_130_cells_and_eight_blocks_is_below_a_mebibyte(run: Run, tmp_path: Path) -> None:
    rows = measures.rows(run)
    mixed = next(row for row in rows if row.mix)
    eight = [mixed.measurements[0].model_copy(update={"block": block}) for block in range(1, 9)]
    cells = [mixed.cell.model_copy(update={"workers": number}) for number in range(1, 131)]
    many = [replace(mixed, cell=each, measurements=tuple(eight)) for each in cells]
    assert len(export.write(run, many, print).blocks) == 130 * 8
    assert run.exported_file.stat().st_size < 2**20


def test_a_kept_run_has_the_file_and_is_compared_by_it(run: Run, tmp_path: Path) -> None:
    kept = Run(tmp_path / "kept")
    speed = {"integer_loops_per_s": 2000.0, "copied_gib_per_s": 4.0}
    write_json(run.machine_file, run.machine() | {"speed": speed})
    export.write(run, measures.rows(run), print)
    files.keep(run, kept, tmp_path / "assets")
    names = {each.name for each in kept.path.iterdir()}
    assert names == {"manifest.json", "run.json", "report.html", "tables", "figures"}
    found = compare(kept, run, "throughput_per_s", 0.05)
    line = next(each for each in found.lines if each.cell.strategy == "serial")
    assert line.comparison.estimate == pytest.approx(1.0, abs=1e-6)
    assert line.first == pytest.approx(line.second or 0.0, rel=1e-6)
    alone = tmp_path / "alone"
    alone.mkdir()
    shutil.copy(kept.exported_file, alone)
    for name in (alone, alone / "run.json"):
        lines = compare(store.open_run(str(name)), run, "throughput_per_s", 0.05).lines
        assert [each.first for each in lines] == [each.first for each in found.lines]
    again = claims.decisions_of(exported.read(kept.exported_file))
    before = claims.decisions(run, measures.rows(run))
    assert [each.headline for each in again] == [each.headline for each in before]


def test_what_was_kept_under_a_name_before_goes(run: Run, tmp_path: Path) -> None:
    kept = Run(tmp_path / "kept")
    export.write(run, measures.rows(run), print)
    files.keep(run, kept, tmp_path / "assets")
    stray = kept.path / "tables" / "npb.csv"
    stray.write_text("of another run")
    files.keep(run, kept, tmp_path / "assets")
    assert not stray.exists()


def test_the_matrix_has_the_ends_of_intervals_behind_the_studys_columns(run: Run) -> None:
    head, *lines = files.matrix_csv(measures.rows(run)).splitlines()
    names = head.split(",")
    assert names[-6:-4] == ["throughput_per_s_low", "throughput_per_s_high"]
    serial = dict(zip(names, lines[0].split(","), strict=True))
    assert float(serial["throughput_per_s_low"]) < float(serial["throughput_per_s"])


def test_a_file_of_another_form_is_refused_in_a_line(run: Run) -> None:
    document = written(run)
    run.exported_file.write_text(json.dumps(document | {"form": 9}))
    with pytest.raises(Unreadable, match=r"run\.json: of form 9, this version reads 1"):
        exported.read(run.exported_file)


def test_a_long_window_is_told_over_time_from_its_samples(run: Run) -> None:
    """A response each 50 ms for 2 s, of 20 ms each; every tenth of them is wrong."""
    folder = run.window("java-serial-unbound-low-10u")
    folder.path.mkdir(parents=True)
    lines = [f"{1_000_000 + 50 * n},20,{'false' if n % 10 == 9 else 'true'}" for n in range(40)]
    folder.samples.write_text("\n".join(["timeStamp,elapsed,success", *lines]) + "\n")
    throughput, mean = written(run)["series"]
    assert (throughput["column"], mean["column"]) == ("throughput_per_s", "mean_ms")
    assert sum(throughput["values"]) * throughput["step_s"] == pytest.approx(36, abs=0.1)
    assert {each for each in mean["values"] if each is not None} == {20.0}
    assert len(throughput["values"]) <= MOST_POINTS
    for no_samples in ("no samples\n1\n", "timeStamp,elapsed,success\n1000000,20,true\n10000"):
        folder.samples.write_text(no_samples)
        told: list[str] = []
        assert long_windows.courses(run, told.append) == []
        assert "samples.jtl" in told[0]
