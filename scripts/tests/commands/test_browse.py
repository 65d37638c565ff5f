"""The browser's document and files: every run that can be read, each number as its run has it."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from several_runs import PINNED, SERIAL, lay_down, of_level, runs_with_a_step, three_runs
from trial_run import EXPERIMENT

from restbench import ROOT
from restbench.commands.results import browse_runs
from restbench.experiment.cell import DEFAULT_FRAMEWORKS
from restbench.show.browser import site
from restbench.store import exported, store
from restbench.store.store import Run
from restbench.store.writing import write_json


def document_of(results: Path) -> dict[str, Any]:
    """What the page loads."""
    site.write(results, *site.find(results))
    text = (results / "assets" / "runs.js").read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text.removeprefix("const DATA = ").removesuffix(";\n"))
    return document


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Run], dict[str, Any]]:
    results = tmp_path_factory.mktemp("results")
    return three_runs(results), document_of(results)


def entry_of(document: dict[str, Any], run: int, cell: str) -> dict[str, Any]:
    number = next(n for n, each in enumerate(document["cells"]) if each["id"] == cell)
    return next(each for each in document["runs"][run]["cells"] if each["cell"] == number)


def test_a_cell_has_the_numbers_of_its_run(three: tuple[list[Run], dict[str, Any]]) -> None:
    runs, document = three
    told = exported.read(runs[0].exported_file)
    cell = next(each for each in told.cells if each.factors["strategy"] == "pinned")
    entry = entry_of(document, 0, cell.id)
    throughput = cell.throughput_per_s
    assert entry["values"][0][:3] == [throughput.value, throughput.low, throughput.high]
    blocks = [each.completions / each.seconds for each in told.blocks if each.cell == cell.id]  # type: ignore[operator]
    assert entry["values"][0][3] == pytest.approx(blocks, rel=1e-6)
    assert entry["warnings"] == [[each.kind, round(each.bias_percent, 1)] for each in cell.warnings]
    assert entry["framework"] == "tomcat"


def test_a_run_has_its_identity_its_sentence_and_its_claims(
    three: tuple[list[Run], dict[str, Any]],
) -> None:
    runs, document = three
    first = document["runs"][0]
    assert first["name"] == runs[0].name
    assert first["page"] == f"{runs[0].name}/report.html"
    assert (first["experiment"], first["commit"]) == ("small", "aaaaaaaaaaaa")
    assert first["sentence"].startswith("In Java")
    told = exported.read(runs[0].exported_file)
    assert first["claims"] == [each.verdict for each in told.claims]


@pytest.mark.parametrize(
    ("name", "more"), [("limit_per_s", True), ("mops", True), ("d_ms", False), ("calls", None)]
)
def test_what_only_a_driver_measures_is_a_metric_of_its_own(
    tmp_path: Path, name: str, more: bool | None
) -> None:
    run = lay_down(tmp_path, 1, of_level({SERIAL: 300, PINNED: 200}), commit="aaaa")
    told = json.loads(run.exported_file.read_text())
    told["cells"][0]["extras"] = {name: {"value": 50.0, "low": 40.0, "high": 60.0}}
    for n, each in enumerate(told["blocks"][:4]):
        each["extras"] = {name: 49.0 + n}
    write_json(run.exported_file, told)
    document = document_of(tmp_path)
    assert document["metrics"][4:] == [
        {"name": name, "heading": name.replace("_", " "), "more_is_better": more}
    ]
    one, other = (each["values"][4] for each in document["runs"][0]["cells"])
    assert one == [50.0, 40.0, 60.0, [49.0, 50.0, 51.0, 52.0]]
    assert other is None


def test_runs_of_two_machines_are_told_apart_and_those_of_one_are_not(
    three: tuple[list[Run], dict[str, Any]],
) -> None:
    _, document = three
    assert [each["machine"] for each in document["runs"]] == [0, 0, 1]
    assert len(document["machines"]) == 2
    assert "laptop" in document["machines"][1]


def test_machines_of_one_model_that_differ_in_speed_have_two_names(tmp_path: Path) -> None:
    lay_down(tmp_path, 1, of_level({SERIAL: 300}), commit="aaaa")
    fast = {"integer_loops_per_s": 4000.0, "copied_gib_per_s": 30.0}
    run = lay_down(tmp_path, 2, of_level({SERIAL: 600}), commit="aaaa")
    told = json.loads(run.exported_file.read_text())
    told["machine"]["speed"] = [{"block": n, **fast} for n in (1, 2, 3, 4)]
    write_json(run.exported_file, told)
    one, two = document_of(tmp_path)["machines"]
    assert two == f"{one}, no. 2"


def test_one_cell_of_two_sizes_is_two_cells(tmp_path: Path) -> None:
    lay_down(tmp_path, 1, of_level({SERIAL: 300}), commit="aaaa")
    other = EXPERIMENT.replace("rows = 30", "rows = 60")
    lay_down(tmp_path, 2, of_level({SERIAL: 200}), commit="aaaa", experiment=other)
    cells = document_of(tmp_path)["cells"]
    assert [each["size"] for each in cells] == ["low 30x20x20", "low 60x20x20"]
    assert len({each["key"] for each in cells}) == 2
    assert len({each["id"] for each in cells}) == 1


def test_a_step_is_told_with_the_two_runs_between_which_it_lies(tmp_path: Path) -> None:
    runs_with_a_step(tmp_path)
    document = document_of(tmp_path)
    slower = [each for each in document["steps"] if each["metric"] == "throughput_per_s"]
    (step,) = slower
    runs, cells = document["runs"], document["cells"]
    assert cells[step["cell"]]["factors"]["strategy"] == "serial"
    assert [runs[step[side]]["commit"][:4] for side in ("before", "after")] == ["c555", "c666"]
    estimate, low, high = step["ratio"]
    assert low < 2 / 3 < high
    assert estimate == pytest.approx(2 / 3, rel=0.03)


def test_runs_of_two_machines_or_experiments_are_no_course(tmp_path: Path) -> None:
    """Three runs of each: together they would have a step, apart they are too few for one."""
    for n in range(3):
        lay_down(tmp_path, 1 + n, of_level({SERIAL: 300}), commit=f"a{n}a{n}")
    for n in range(3):
        fast = of_level({SERIAL: 900})
        other = {"processor": "Another processor"}
        lay_down(tmp_path, 11 + n, fast, commit=f"b{n}b{n}", machine=other)
    assert document_of(tmp_path)["steps"] == []
    for run in tmp_path.glob("2026-*/run.json"):
        told = json.loads(run.read_text())
        told["machine"]["processor"] = "A processor"
        write_json(run, told)
    assert [each["metric"] for each in document_of(tmp_path)["steps"]][:1] == ["throughput_per_s"]
    for day in ("11", "12", "13"):
        told = json.loads((tmp_path / f"2026-11-{day}" / "run.json").read_text())
        told["experiment"]["name"] = "another"
        write_json(tmp_path / f"2026-11-{day}" / "run.json", told)
    assert document_of(tmp_path)["steps"] == []


def test_what_cannot_be_read_is_a_line_each_and_the_others_are_shown(tmp_path: Path) -> None:
    good = lay_down(tmp_path, 1, of_level({SERIAL: 300}), commit="aaaa")
    for day, text in ((2, '{"half'), (3, '{"form": 9}'), (4, "[]")):
        run = lay_down(tmp_path, day, of_level({SERIAL: 300}), commit="aaaa")
        run.exported_file.write_text(text)
    lay_down(tmp_path, 5, of_level({SERIAL: 300}), commit="aaaa").exported_file.unlink()
    old = tmp_path / "2026-01-01"
    old.mkdir()
    for name in ("manifest.json", "experiment.toml"):
        (old / name).write_text((good.path / name).read_text())
    found, left_out = site.find(tmp_path)
    assert [each.folder for each in found] == [good.name]
    names = ("old", "half", "form 9", "a list", "no run.json")
    told = dict(zip(names, left_out, strict=True))
    assert "311baf3" in told["old"]
    assert "run.json: not a whole JSON document" in told["half"]
    assert "of form 9, this version reads 1" in told["form 9"]
    assert "not a JSON object" in told["a list"]
    assert "has no run.json; 'restbench report' makes it" in told["no run.json"]
    assert not any("\n" in each or str(tmp_path) in each for each in left_out)


def test_a_run_with_a_factor_of_a_later_version_is_left_out_too(tmp_path: Path) -> None:
    run = lay_down(tmp_path, 1, of_level({SERIAL: 300}), commit="aaaa")
    told = json.loads(run.exported_file.read_text())
    told["cells"][0]["factors"]["moon"] = "full"
    write_json(run.exported_file, told)
    found, left_out = site.find(tmp_path)
    assert found == []
    assert "cells that this version does not know" in left_out[0]


def test_a_kept_copy_is_no_second_run(tmp_path: Path) -> None:
    run = lay_down(tmp_path, 1, of_level({SERIAL: 300}), commit="aaaa")
    kept = tmp_path / "a-reference"
    kept.mkdir()
    shutil.copyfile(run.exported_file, kept / "run.json")
    document = document_of(tmp_path)
    (listed,) = document["runs"]
    assert (listed["name"], listed["copies"]) == (run.name, [["a-reference", None]])
    shutil.rmtree(run.path)
    (listed,) = document_of(tmp_path)["runs"]
    assert (listed["name"], listed["copies"]) == ("a-reference", [])


def test_the_same_runs_give_the_same_files(tmp_path: Path) -> None:
    three_runs(tmp_path)
    document_of(tmp_path)
    names = ["index.html", "assets/runs.js", "assets/browser.js", "assets/charts.js"]
    names += ["assets/report.css", "assets/report.js"]
    first = [(tmp_path / name).read_bytes() for name in names]
    document_of(tmp_path)
    assert [(tmp_path / name).read_bytes() for name in names] == first


def test_all_that_the_page_loads_lies_beside_it(tmp_path: Path) -> None:
    three_runs(tmp_path)
    page = site.write(tmp_path, *site.find(tmp_path))
    loaded = re.findall(r'(?:src|href)="([^"#]+)"', page.read_text(encoding="utf-8"))
    assert len(loaded) == 5
    assert all((tmp_path / each).is_file() for each in loaded)


def test_without_a_run_the_command_says_so_in_a_line_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Brackets of its path are printed as they are."""
    monkeypatch.setattr(store, "RESULTS", tmp_path / "[b]")
    browse_runs()
    assert capsys.readouterr().out == (
        f"{tmp_path}/[b]: no run to show yet; 'restbench run' makes one\n"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("opens", [True, False])
def test_a_desktop_without_a_browser_is_told_as_that(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    opens: bool,
) -> None:
    three_runs(tmp_path)
    monkeypatch.setattr(store, "RESULTS", tmp_path)
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or opens)
    browse_runs(open_page=True)
    assert opened == [(tmp_path / "index.html").as_uri()]
    assert ("note   no web browser could be opened" in capsys.readouterr().out) != opens


def test_the_default_frameworks_are_those_of_the_services() -> None:
    java = (ROOT / "java-service/src/main/java/org/restbench/settings/Settings.java").read_text()
    assert f'"RESTBENCH_FRAMEWORK", "{DEFAULT_FRAMEWORKS["java"]}"' in java
    python = (ROOT / "python-service/restbench_service/settings.py").read_text()
    assert f'"{DEFAULT_FRAMEWORKS["python"]}"' in python
