"""What `restbench ab` tells of a block with a wrong answer, and of a cell that was left out: the
test report and the summary are as red, or as green, as the command's end."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import trial_run
from fixture_run import begun, cell
from two_builds import EXPERIMENT

from restbench.analyse import measures
from restbench.commands import measuring
from restbench.experiment.records import BuiltCommit
from restbench.failures import CellsFailed, WrongAnswers
from restbench.show import export, findings
from restbench.show.kinds import builds
from restbench.show.kinds.builds import Comparison
from restbench.store.store import Run
from restbench.store.trials import Event

COMMITS = {
    name: BuiltCommit(asked=name, git_commit=name.lower() * 40, git_dirty=False)
    for name in ("A", "B")
}
PER_S = [300.0, 309.0, 303.0, 312.0, 306.0]
SERIAL_B = "java serial low 10 build=B"


def laid_down(path: Path, *, wrong_in: int = 0, lost: str = "", kind: str = "failed") -> Run:
    """Five blocks of two cells in two equal builds; B's `serial` is wrong in one block, or a cell
    is without a trial in each (`lost`), for a reason of this kind."""
    names = [f"java {each} low 10 build={build}" for each in ("serial", "pinned") for build in "AB"]
    cells = {cell(each): PER_S for each in names if each != lost}
    blocks = range(1, 6)
    plan = [(cell(each), block) for block in blocks for each in names]
    run = begun(path, EXPERIMENT, plan, builds=COMMITS, **trial_run.WHEN)
    for block in blocks:
        trial_run.measure(run, block, cells, wrong=[SERIAL_B] if block == wrong_in else [])
        if lost:
            run.trials.note(Event(trial_run.WHEN["started"], kind, "why", block, cell(lost).id))
    return run


def shown(run: Run) -> Comparison:
    return builds.of(findings.of(export.write(run, measures.rows(run), print), run))


def suite_of(found: Comparison) -> ET.Element:
    (suite,) = ET.fromstring(builds.as_junit(found))  # noqa: S314 - it is ours
    return suite


def test_one_wrong_block_of_b_makes_report_and_summary_as_red_as_the_commands_end(
    tmp_path: Path,
) -> None:
    run = laid_down(tmp_path / "run", wrong_in=2)
    with pytest.raises(WrongAnswers):
        measuring.judge(measures.rows(run))
    found = shown(run)
    told = {pair.name: pair.state for pair in found.pairs}
    assert told == {
        "java-serial-unbound-low-10u": "faulty",
        "java-pinned-unbound-low-10u": "within",
    }
    named = cell(SERIAL_B).id
    assert found.sentence.endswith(
        f": wrong answers: {named}; within the thresholds in 1 of 2 cells."
    )
    suite = suite_of(found)
    assert [suite.get(each) for each in ("failures", "errors", "skipped")] == ["0", "1", "0"]
    (error,) = suite.iter("error")
    assert (error.get("message"), error.get("type")) == (f"{named}: wrong answers", "faulty")
    lines = [line for line in builds.as_markdown(found).splitlines() if "java-serial" in line]
    assert [line.split("|")[-2].strip() for line in lines[1:3]] == ["faulty"] * 2
    (picture,) = builds.charts(found)
    assert picture is not None


def test_a_block_that_failed_after_others_decides_too(tmp_path: Path) -> None:
    run = laid_down(tmp_path / "run")
    run.trials.note(Event(trial_run.WHEN["started"], "failed", "why", 5, cell(SERIAL_B).id))
    with pytest.raises(CellsFailed):
        measuring.judge(measures.rows(run))
    found = shown(run)
    assert f": failed: {cell(SERIAL_B).id}; within" in found.sentence
    assert suite_of(found).get("errors") == "1"


@pytest.mark.parametrize("kind", ["not-offered", "too-slow"])
def test_a_cell_that_was_left_out_is_skipped_as_the_command_ends_well(
    tmp_path: Path, kind: str
) -> None:
    run = laid_down(tmp_path / "run", lost=SERIAL_B, kind=kind)
    measuring.judge(measures.rows(run))
    found = shown(run)
    assert found.sentence.endswith("without a result in 1.")
    suite = suite_of(found)
    assert [suite.get(each) for each in ("failures", "errors", "skipped")] == ["0", "0", "1"]
    (skipped,) = suite.iter("skipped")
    assert (skipped.get("message") or "").startswith("Throughput /s ")
