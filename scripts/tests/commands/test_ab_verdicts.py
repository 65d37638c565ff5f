"""Two builds of one run against thresholds: a planted loss, none, too few blocks, a failed cell."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import pytest
from two_builds import COMMITS, EXPERIMENT, SAME, laid_down, shown

from restbench.analyse import measures
from restbench.commands import ab
from restbench.experiment import experiment
from restbench.experiment.statistics import paired_ratio
from restbench.experiment.study import Limit, Thresholds
from restbench.failures import BadConfiguration, CellsFailed, Failure, Regression, WrongAnswers
from restbench.judge import builds as judged
from restbench.judge.answer import answer
from restbench.show import export, findings, report, views
from restbench.show.kinds import builds
from restbench.store import exported
from restbench.store.store import Run

#: Four fifths of SAME, and nothing that one block more or less would decide.
LOST = [240.0, 248.0, 242.0, 249.0, 245.0]
WIDE = [300.0, 200.0, 390.0, 250.0, 350.0]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """`serial` is lost, `pinned` the same, `pipeline` undecided, `fork-join` without a number."""
    per_s = {
        "serial": (SAME, LOST),
        "pinned": (SAME, [each * 1.001 for each in SAME]),
        "pipeline": (SAME, WIDE),
        "fork-join": (SAME, []),
    }
    return laid_down(tmp_path / "run", per_s)


def test_each_cell_is_beyond_within_undecided_or_without_a_number(run: Run) -> None:
    states = {pair.name.split("-unbound")[0]: pair.state for pair in shown(run).pairs}
    assert states == {
        "java-serial": "beyond",
        "java-pinned": "within",
        "java-pipeline": "undecided",
        "java-fork-join": "no number",
    }


def test_a_ratio_is_of_b_over_a_paired_by_block(run: Run) -> None:
    serial = shown(run).pairs[0]
    throughput, cpu = serial.held
    found, expected = throughput.comparison.ratio, paired_ratio(LOST, SAME)
    assert found.estimate == pytest.approx(expected.estimate, rel=0.01)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=0.01)
    # Fewer completions of the same CPU time: as much more for each of them.
    assert cpu.comparison.estimate == pytest.approx(1 / expected.estimate, rel=0.01)


def test_a_threshold_is_exceeded_where_the_whole_interval_lies_beyond_it() -> None:
    lost = Limit("throughput_per_s", "not less", 0.8)
    assert lost.margin == pytest.approx(0.25)
    assert Limit("cpu_ms_per_request", "not greater", 1.05).margin == pytest.approx(0.05)
    assert (str(lost), str(Limit("x", "not greater", 1.05))) == ("at least 0.8", "at most 1.05")


@pytest.mark.parametrize(("threshold", "state"), [(0.95, "beyond"), (0.7, "within")])
def test_the_threshold_decides_and_not_a_difference(run: Run, threshold: float, state: str) -> None:
    (first, *_) = judged.pairs(measures.rows(run), Thresholds(throughput_ratio_min=threshold))
    assert first.state == state


def test_one_sentence_says_which_commits_and_what_came_of_them(run: Run) -> None:
    text = shown(run).sentence
    assert text.startswith(
        f"B, . ({'b' * 7} with local changes), compared with A, HEAD~ ({'a' * 7}): beyond the "
        "thresholds in 1 of 4 cells (java-serial-unbound-low-10u: Throughput /s 0.8"
    )
    assert "within the thresholds in 1 of 4 cells; undecided in 1: measure" in text
    assert text.endswith("without a result in 1.")


def test_the_junit_report_has_a_case_for_each_cell_and_the_schemas_form(run: Run) -> None:
    root = ET.fromstring(builds.as_junit(shown(run)))  # noqa: S314 - it is ours
    (suite,) = root
    cases = suite.findall("testcase")
    assert (root.tag, suite.tag, len(cases)) == ("testsuites", "testsuite", 4)
    counts = {name: int(suite.attrib[name]) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": 4, "failures": 1, "errors": 1, "skipped": 0}
    assert [len(list(suite.iter(tag))) for tag in ("failure", "error")] == [1, 1]
    assert {*suite.attrib} == {*counts, "name", "time", "timestamp"}
    assert suite.attrib["timestamp"] == "2026-11-21T01:00:00"
    for case in cases:
        assert {*case.attrib} == {"name", "classname", "time"}
        assert float(case.attrib["time"]) > 0
        # In this order in the schema: (skipped | error | failure)?, system-out?
        assert [each.tag for each in case] in (
            ["system-out"],
            ["failure", "system-out"],
            ["error", "system-out"],
        )
    failure = next(suite.iter("failure"))
    assert failure.attrib["message"].startswith("Throughput /s 0.8")
    assert failure.attrib["message"].endswith("at least 0.95: beyond")


def test_the_summary_has_the_sentence_first_and_then_a_table_of_all_ratios(run: Run) -> None:
    first, _, *table = builds.as_markdown(shown(run)).splitlines()
    assert first == shown(run).sentence
    assert table[0].startswith("| Cell | Metric | A | B | B / A, 95 % |")
    assert sum(line.startswith("| java-") for line in table) == 8


def test_the_page_has_the_comparison_and_speaks_of_the_second_build_only(run: Run) -> None:
    found = views.drawn(export.write(run, measures.rows(run), print), run)
    report.write(found)
    page = run.report.read_text()
    assert 'id="builds"' in page
    assert "Is B worse than A?" in page
    assert report.answer_of(found).sentence == shown(run).sentence
    picture = found.first.chart
    assert picture.name == "builds-ratios"
    assert "java-serial-unbound-low-10u: 0.8" in picture.description
    assert "java-fork-join-unbound-low-10u: no number, no number" in picture.description
    told = answer(found.rows).by_throughput
    assert {each.best.build for each in told} == {"B"}


def test_run_json_has_both_commits_and_gives_the_same_comparison_again(run: Run) -> None:
    export.write(run, measures.rows(run), print)
    read = exported.read(run.exported_file)
    assert read.manifest.builds == COMMITS
    again = builds.of(findings.of(read, run))
    assert [pair.state for pair in again.pairs] == [pair.state for pair in shown(run).pairs]


@pytest.mark.parametrize(
    ("of_b", "wrong", "ending"),
    [
        (SAME, (), None),
        (WIDE, (), None),
        (LOST, (), Regression),
        ([], (), CellsFailed),
        (LOST, ("java serial low 10 build=B",), WrongAnswers),
    ],
    ids=["within", "undecided", "beyond", "failed", "wrong"],
)
def test_the_command_ends_by_what_came_out_and_has_written_its_files_before(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    of_b: list[float],
    wrong: Sequence[str],
    ending: type[Failure] | None,
) -> None:
    run = laid_down(tmp_path / "run", {"serial": (SAME, of_b)}, wrong)
    export.write(run, measures.rows(run), print)
    monkeypatch.setattr(ab.builds, "resolved", lambda _asked: COMMITS)
    monkeypatch.setattr(ab.builds, "built", lambda *_: nullcontext({}))
    monkeypatch.setattr(ab.measuring, "measured", lambda *_: (measures.rows(run), None))
    monkeypatch.setattr(ab.store, "open_run", lambda _name: run)
    junit, summary = tmp_path / "junit.xml", tmp_path / "summary.md"
    with nullcontext() if ending is None else pytest.raises(ending):
        ab.compare_builds("HEAD~", ".", junit=junit, summary=summary)
    counts = ET.parse(junit).getroot().attrib  # noqa: S314 - it is ours
    assert int(counts["failures"]) == (ending is Regression)
    assert int(counts["errors"]) == (ending in (CellsFailed, WrongAnswers))
    assert summary.read_text().startswith("B, . (")


@pytest.mark.parametrize(
    ("line", "instead", "told"),
    [
        ("throughput_ratio_min = 0.95", "throughput_ratio_min = 1.2", "min: Input should be less"),
        ("cpu_ratio_max = 1.05", "cpu_ratio_max = 0.9", "max: Input should be greater than or"),
        ("cpu_ratio_max = 1.05", "cpu_max = 1.05", "cpu_max: unknown key; allowed here are thr"),
        ("throughput_ratio_min = 0.95\ncpu_ratio_max = 1.05", "", "thresholds: needs one or more"),
        ('build = ["A", "B"]', 'build = "A"', "build: allowed is ['A', 'B'], as a table [thre"),
        ('views = ["study", "builds"]', "", "views: the view 'builds' and a table [thresholds]"),
    ],
)
def test_wrong_thresholds_are_one_line_with_file_key_and_what_is_allowed(
    tmp_path: Path, line: str, instead: str, told: str
) -> None:
    path = tmp_path / "ab.toml"
    path.write_text(EXPERIMENT.replace(line, instead))
    with pytest.raises(BadConfiguration) as refused:
        experiment.load(path)
    assert str(refused.value).startswith(f"{path}: ")
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)
