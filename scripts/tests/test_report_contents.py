"""What the page of a run tells, part by part."""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path

import pytest
from fixture_run import FIXTURES, WINDOW, Made, build, cell, steady_load
from page_under_test import Page, data_of, page_of, small_run

from restbench.analyse import measures
from restbench.experiment.records import Calibration, CalibrationCheck, LongWindow
from restbench.show import keep
from restbench.store.store import EXPERIMENTS, Run
from restbench.store.writing import write_model


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return small_run(tmp_path / "run")


def test_the_answer_has_its_two_sentences(run: Run) -> None:
    part = page_of(run).split('<section id="answer">')[1].split("</section>")[0]
    assert part.count('<p class="answer">') == 2


def test_a_missing_calibration_is_said_with_what_mends_it(run: Run) -> None:
    said = (
        "There was no calibration of this machine when the run began. <code>make calibrate</code>"
    )
    assert said in page_of(run)


def test_each_check_of_the_calibration_is_told(run: Run) -> None:
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
    part = page_of(run).split('<section id="audit">')[1].split("</section>")[0]
    assert "A/A &lt;measured&gt;" in part
    assert part.count('<li class="passed">') == part.count('<li class="failed">') == 1
    assert part.count("So throughputs are too low.") == part.count("<br>So ") == 1


def test_the_marked_cells_are_named_with_the_reason_in_words(run: Run) -> None:
    part = page_of(run).split('<section id="audit">')[1].split("</section>")[0]
    assert "0 of 4 cells have a warning" in part
    assert "A product was wrong: the cell is void in that block, but for its counts." in part
    assert 'href="#cell-java-serial-unbound-low-30u"' in part


def test_claims_stand_with_their_files_hash_and_a_changed_file_is_said(run: Run) -> None:
    shutil.copy(EXPERIMENTS / "claims" / "thesis.toml", run.claims_file)
    sha256 = hashlib.sha256(run.claims_file.read_bytes()).hexdigest()
    changed = page_of(run)
    assert f"<code>{sha256}</code>" in changed
    assert "It is not the file that the run started with (none)." in changed
    manifest = run.manifest().model_copy(update={"claims_sha256": sha256})
    write_model(run.manifest_file, manifest)
    assert "It is not the file" not in page_of(run)
    assert '<tr id="claim-J3">' in page_of(run)


def test_a_run_without_claims_says_so(run: Run) -> None:
    assert "No claims were given to this run" in page_of(run)


def test_a_kept_page_shows_what_only_the_raw_data_had(run: Run, tmp_path: Path) -> None:
    lay_down_a_window(run)
    kept = Run(tmp_path / "kept")
    keep.keep(run, measures.rows(run), kept, print)
    text = kept.report.read_text(encoding="utf-8")
    assert observed_of(text) == observed_of(page_of(run)) != ""
    for link in Page(text).values("href"):
        assert link.startswith("#") or (kept.path / link).exists(), link


def lay_down_a_window(run: Run) -> None:
    """As the collectors beside a long window leave it: recorded of one busy process."""
    folder = run.window("java-serial-unbound-low-10u")
    folder.path.mkdir(parents=True)
    shutil.copy(FIXTURES / "sar.json", folder.sar_json)
    shutil.copy(FIXTURES / "pidstat.txt", folder.pidstat)
    write_model(folder.window_record, LongWindow(window=WINDOW, service_pids=(14528,)))


def observed_of(text: str) -> str:
    """The rows of the table of the long windows."""
    part = text.partition('id="observed"')[2].partition("</section>")[0]
    return part.partition("<tbody>")[2].partition("</tbody>")[0]


def test_what_the_collectors_saw_of_a_long_window_is_told(run: Run) -> None:
    assert "There was no long window in this run." in page_of(run)
    lay_down_a_window(run)
    values = re.findall(r'<td class="n">(.*?)</td>', observed_of(page_of(run)))
    # 2 s; both samples of sar in the window; the process on one core, all of it.
    assert values[:2] == ["2.00", "50.4"]
    assert values[6:8] == ["100", "13.1"]
    assert values[8:] == ["", ""], "no sample of its own metrics"


def test_numbers_flags_and_what_failed_are_told(run: Run) -> None:
    text = page_of(run)
    assert '<td class="n" data-value="200">200</td>' in text
    assert "cannot pin &lt;core 0&gt;" in text
    assert "pinned-0 may run on 0,1 &lt;both&gt;" in text
    assert '<span class="verdict does-not">DOES NOT</span>' in text
    assert "2 of 4 cells measured" in text
    for flag in ("wrong-answers", "failed", "not-measured"):
        assert f'<a class="flag" href="#flag-{flag}">' in text
        assert f'<span class="flag">{flag}</span>' in text
    assert "0123456789abcdef0123456789abcdef01234567" in text
    assert "Not in this run: 18, 24, 27." in text


def test_a_void_cell_shows_no_number(run: Run) -> None:
    text = page_of(run)
    matrix = text[text.index('id="matrix"') :]
    (line,) = [row for row in matrix.split("<tr>") if 'T-A02"' in row and '"serial"' in row]
    values = re.findall(r'<td class="n" data-value="([^"]*)">', line)
    assert values[0] == "30", "the users"
    assert values[1:7] == [""] * 6, "throughput, mean and percentiles"


def test_every_planned_cell_is_a_line_of_the_matrix(run: Run) -> None:
    text = page_of(run)
    matrix = text[text.index('<h3 id="matrix">') : text.index("<h3>What failed</h3>")]
    assert matrix.count("<tr>") == 1 + 4


def test_a_page_without_figures_proofs_and_machine_is_still_a_page(tmp_path: Path) -> None:
    made = [Made(cell("python process-per-request low 10"), steady_load(10, 50))]
    run = build(tmp_path / "run", made)
    run.proofs_file.unlink()
    run.machine_file.unlink()
    text = page_of(run)
    assert "No proof was made in this run." in text
    assert "not recorded" in text
    assert data_of(text)["figures"].keys() == {"24", "27"}
