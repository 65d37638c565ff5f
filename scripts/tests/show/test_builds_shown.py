"""What `restbench ab` tells of a block with a wrong answer, and of a cell that was left out: the
test report and the summary are as red, or as green, as the command's end."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from fixture_run import cell
from two_builds import BLOCKS, SAME, laid_down, shown

from restbench.analyse import measures
from restbench.commands import measuring
from restbench.failures import CellsFailed, WrongAnswers
from restbench.show.kinds import builds
from restbench.show.kinds.builds import Comparison
from restbench.store.trials import Event

SERIAL_B = "java serial low 10 build=B"
ALIKE = {"serial": (SAME, SAME), "pinned": (SAME, SAME)}


def lost(kind: str, block: int) -> Event:
    """Why B's `serial` has no result in a block."""
    return Event("2026-11-21T01:00:00+00:00", kind, "why", block, cell(SERIAL_B).id)


def suite_of(found: Comparison) -> ET.Element:
    (suite,) = ET.fromstring(builds.as_junit(found))  # noqa: S314 - it is ours
    return suite


def test_one_wrong_block_of_b_makes_report_and_summary_as_red_as_the_commands_end(
    tmp_path: Path,
) -> None:
    run = laid_down(tmp_path / "run", ALIKE, wrong=[SERIAL_B], wrong_in=[2])
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
    run = laid_down(tmp_path / "run", ALIKE)
    run.trials.note(lost("failed", 5))
    with pytest.raises(CellsFailed):
        measuring.judge(measures.rows(run))
    found = shown(run)
    assert f": failed: {cell(SERIAL_B).id}; within" in found.sentence
    assert suite_of(found).get("errors") == "1"


@pytest.mark.parametrize("kind", ["not-offered", "too-slow"])
def test_a_cell_that_was_left_out_is_skipped_as_the_command_ends_well(
    tmp_path: Path, kind: str
) -> None:
    run = laid_down(tmp_path / "run", ALIKE | {"serial": (SAME, None)})
    for block in BLOCKS:
        run.trials.note(lost(kind, block))
    measuring.judge(measures.rows(run))
    found = shown(run)
    assert found.sentence.endswith("without a result in 1.")
    suite = suite_of(found)
    assert [suite.get(each) for each in ("failures", "errors", "skipped")] == ["0", "0", "1"]
    (skipped,) = suite.iter("skipped")
    assert (skipped.get("message") or "").startswith("Throughput /s ")
