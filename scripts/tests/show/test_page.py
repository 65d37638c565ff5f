"""The page as a file: made of `run.json` alone, the same every time, and what it tells."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest
from fixture_run import FIXTURES, WINDOW, Made, build, cell, steady_load
from shown_run import Page, findings, page_of, part_of

from restbench.commands import results
from restbench.experiment.drivers import DRIVERS, Driver, View
from restbench.experiment.experiment import Experiment
from restbench.experiment.records import Calibration, CalibrationCheck, LongWindow
from restbench.schedule import block
from restbench.show import files, report, views
from restbench.show.browser import site
from restbench.show.charts import theme
from restbench.store import exported
from restbench.store.store import EXPERIMENTS, Run
from restbench.store.writing import write_model

SERIAL = "java-serial-unbound-low-10u"


def laid_down(path: Path) -> Run:
    """Of four cells two measured, one of them with a wrong answer, one failed and one left out."""
    made = build(
        path,
        [
            Made(cell("java serial low 10"), steady_load(10, 50)),
            Made(cell("java serial low 30"), steady_load(30, 90), wrong=1),
            Made(cell("java pinned low 10"), failed="cannot pin <core 0>"),
        ],
        unmeasured=(cell("java pinned low 30"),),
    )
    dashboard = made.dashboard(SERIAL)
    dashboard.mkdir(parents=True)
    (dashboard / "index.html").write_text("a dashboard")
    return made


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return laid_down(tmp_path / "run")


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of such a run."""
    return page_of(laid_down(tmp_path_factory.mktemp("page") / "run"))


def test_the_page_needs_no_network_and_no_other_file(run: Run) -> None:
    text = report.html(findings(run))
    page = Page(text.replace(theme.library(), ""))
    loading = [tag for tag, _ in page.elements if tag in {"link", "img", "iframe", "object"}]
    assert loading == []
    assert not page.values("src")
    assert not [link for link in page.values("href") if "//" in link]
    (policy,) = [each for each in page.values("content") if "default-src" in each]
    assert policy.startswith("default-src 'none';"), "a browser would refuse to load anything"
    assert len(text.encode()) < 2_000_000


def test_report_makes_the_same_bytes_again_of_the_run_and_of_run_json_alone(
    run: Run, tmp_path: Path
) -> None:
    results.build_report(str(run.path))
    first = run.report.read_bytes()
    results.build_report(str(run.path))
    assert run.report.read_bytes() == first
    alone = Run(tmp_path / "alone" / run.name)
    alone.path.mkdir(parents=True)
    for name in ("run.json", "manifest.json", "experiment.toml", "proofs.json", "machine.json"):
        shutil.copy(run.path / name, alone.path)
    shutil.copytree(run.path / "dashboards", alone.path / "dashboards")
    results.build_report(str(alone.path))
    files = re.compile(rb'<p>Files: <a href="run.json">.*?</p>')  # those that lie next to it
    assert files.sub(b"", alone.report.read_bytes()) == files.sub(b"", first)


def test_the_data_cannot_end_their_element(run: Run) -> None:
    definition = run.experiment_file.read_text(encoding="utf-8")
    run.experiment_file.write_text(definition.replace("S (serial)", "</script><!--"))
    text = page_of(run)
    specs = re.findall(r'<script type="application/json">(.*?)</script>', text, re.DOTALL)
    assert [json.loads(each)["concat"] for each in specs]
    assert "</script><!--" not in text


def test_every_link_leads_to_something_and_ids_are_unique(run: Run) -> None:
    found = findings(run)
    files.write_tables(found)
    page = Page(report.html(found))
    ids = page.values("id")
    assert [each for each, count in Counter(ids).items() if count > 1] == []
    links = page.values("href")
    assert f"dashboards/{SERIAL}/index.html" in links
    for link in links:
        if link.startswith("#"):
            assert link[1:] in ids, link
        else:
            assert (run.path / link).exists(), link


def test_headings_go_down_one_level_at_a_time(text: str) -> None:
    levels = [int(tag[1]) for tag, _ in Page(text).elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_the_first_screen_is_sentence_picture_and_three_lines(run: Run) -> None:
    shutil.copy(EXPERIMENTS / "claims" / "thesis.toml", run.claims_file)
    text = page_of(run)
    main = text[text.index("<main") : text.index("<nav")]
    assert main.count('<p class="answer">') == 1
    assert main.count("<li>") == 3
    assert "<table" not in main
    folded = re.findall(r'<details id="([^"]+)"', text)
    assert {"undecided", "matrix", "cells", "missing", "proofs", "provenance"} <= set(folded)


def test_a_kept_page_loads_style_and_scripts_and_shows_what_only_the_raw_data_had(
    run: Run, tmp_path: Path
) -> None:
    lay_down_a_window(run)
    raw = page_of(run)
    kept = Run(tmp_path / "kept")
    files.keep(run, kept, site.write_page_assets(tmp_path))
    text = kept.report.read_text(encoding="utf-8")
    loaded = [*Page(text).values("src"), "../assets/report.css"]
    assert loaded == [f"../assets/{name}" for name in ("charts.js", "report.js", "report.css")]
    assert all((kept.path / each).is_file() for each in loaded)
    assert len(text) < len(theme.library())
    assert part_of(text, "observed") == part_of(raw, "observed")
    for link in Page(text).values("href"):
        assert link.startswith("#") or (kept.path / link).exists(), link


def lay_down_a_window(run: Run) -> None:
    """As the collectors beside a long window leave it: recorded of one busy process."""
    folder = run.window(SERIAL)
    folder.path.mkdir(parents=True)
    shutil.copy(FIXTURES / "sar.json", folder.sar_json)
    shutil.copy(FIXTURES / "pidstat.txt", folder.pidstat)
    write_model(folder.window_record, LongWindow(window=WINDOW, service_pids=(14528,)))


def test_what_the_collectors_saw_of_a_long_window_is_shown(run: Run) -> None:
    assert 'id="observed"' not in page_of(run)
    lay_down_a_window(run)
    (seen,) = findings(run).run.windows
    # 2 s; both samples of sar in the window; the process on one core, all of it.
    assert (seen.seconds, round(seen.machine_cpu_pct or 0, 1)) == (2.0, 50.4)
    assert (round(seen.service_cpu_pct or 0), round(seen.service_peak_rss_mib or 0, 1)) == (
        100,
        13.1,
    )
    assert (seen.heap_peak_mib, seen.threads_by_state) == (None, {}), "none of its own metrics"
    assert f"{SERIAL} 2.00 50.4" in part_of(page_of(run), "observed")


def test_the_calibration_is_quoted_and_a_missing_one_said_with_what_mends_it(run: Run) -> None:
    assert "'make calibrate' makes one" in page_of(run).replace("&#39;", "'")
    checks = [
        CalibrationCheck(
            name=name,
            question="Is it as it is?",
            measured=f"{name} <measured>",
            limit="1 %",
            passed=passed,
            values={},
            follows="" if passed else "throughputs are too low",
        )
        for name, passed in (("A/A", True), ("Overhead", False))
    ]
    calibration = Calibration(
        made="2026-11-20T08:00:00+00:00",
        machine={},
        git_commit="abc",
        checks=tuple(checks),
        ceiling_per_s=None,
    )
    write_model(run.calibration_file, calibration)
    text = page_of(run)
    assert "A/A &lt;measured&gt;" in text
    assert "So throughputs are too low." in part_of(text, "calibration")
    assert "passed 1 of 2 checks; failed: Overhead." in part_of(text, "answer")


def test_claims_stand_with_their_files_hash_ratios_and_cells(run: Run) -> None:
    assert 'id="claims"' not in page_of(run), "it was held against none"
    shutil.copy(EXPERIMENTS / "claims" / "thesis.toml", run.claims_file)
    sha256 = hashlib.sha256(run.claims_file.read_bytes()).hexdigest()
    manifest = run.manifest().model_copy(update={"claims_sha256": sha256})
    write_model(run.manifest_file, manifest)
    text = page_of(run)
    assert f"{sha256[:16]}). Open a claim to see its ratios." in part_of(text, "claims")
    part = part_of(text, "claim-J3")
    assert "J3: At low, throughput serial &gt; pinned &gt; thread-pool" in part
    assert "not measured" in part and "How it is tested:" in part
    assert f"Cells: {SERIAL}" in part


def test_numbers_warnings_and_what_failed_are_shown(text: str) -> None:
    assert "cannot pin &lt;core 0&gt;" in part_of(text, "missing")
    assert "Not measured: 1 cell for lack of time, 1 failure " in part_of(text, "missing")
    assert "pinned-0 may run on 0,1 &lt;both&gt;" in part_of(text, "proofs")
    assert "2 of 4 cells measured" in text
    for flag in ("wrong-answers", "failed", "not-measured"):
        assert f"<dt>{flag}</dt>" in text
    assert "0123456789abcdef0123456789abcdef01234567" in part_of(text, "provenance")
    assert " 1 200 50.0 " in part_of(text, f"cell-{SERIAL}"), "its only block"


def test_a_void_cell_shows_no_number(text: str) -> None:
    part = part_of(text, "cell-java-serial-unbound-low-30u")
    assert "no number" in part
    assert "An answer was wrong: the cell has nothing but its counts" in part


def test_every_planned_cell_is_a_row_of_the_matrix(text: str) -> None:
    matrix = text[text.index('id="matrix"') : text.index('id="cells"')]
    assert matrix.count("<tr>") == 1 + 4


def test_a_run_without_proofs_and_machine_still_has_a_page(tmp_path: Path) -> None:
    made = [Made(cell("python process-per-request low 10"), steady_load(10, 50))]
    run = build(tmp_path / "run", made)
    run.proofs_file.unlink()
    run.machine_file.unlink()
    text = page_of(run)
    assert "The behaviour of the techniques was not proven." in text
    assert "machine not recorded" in text


def test_a_file_without_an_answer_says_what_mends_it(run: Run) -> None:
    old = findings(run).run.model_copy(update={"answer": None})
    exported.write(run.exported_file, old)
    text = report.html(views.drawn(exported.read(run.exported_file), run))
    assert "has no answer" in part_of(text, "answer")


def test_every_view_and_driver_that_an_experiment_can_name_is_there() -> None:
    assert {*get_args(View), "instances"} == {*views.VIEWS}
    assert {*get_args(Driver)} == {*DRIVERS} == {*block.DRIVERS}
    tables = {its.table for its in DRIVERS.values() if its.table}
    assert not tables - {*Experiment.model_fields}, "a driver's table is a field of Experiment"
