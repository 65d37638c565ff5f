"""What JMeter writes down of turns, and what is made of it: rounds, parts of a window, samples."""

from __future__ import annotations

from pathlib import Path

import pytest
from jtl_lines import Sample, jtl

from restbench.analyse import jtl as reader
from restbench.drive import turns
from restbench.drive.turns import Mark, Turn
from restbench.experiment.records import Window
from restbench.failures import EnvironmentProblem

LINES = """serial,1000,50,10,1200,240,30
adaptive,1300,250,40,1500,430,60
adaptive,1600,440,70,1800,630,90
serial,1900,640,100,2110,850,120
serial,2200,860,130,2400,1060,150
"""


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "turns.csv"
    path.write_text(LINES)
    return path


def test_a_line_is_a_turn_with_the_marks_between_which_it_was_measured(written: Path) -> None:
    first = turns.read(written)[0]
    assert first == Turn("serial", Mark(1000, 50, 10), Mark(1200, 240, 30))
    assert first.interval == (1000, 1200)


def test_there_are_none_before_the_first_is_over(tmp_path: Path) -> None:
    assert turns.read(tmp_path / "turns.csv") == []


def test_a_line_that_is_still_being_written_is_no_turn_yet(written: Path) -> None:
    before = turns.read(written)
    written.write_text(LINES + "adaptive,2500,10")
    assert turns.read(written) == before


@pytest.mark.parametrize("line", ["serial,1000,50,10,1200,240", "serial,1,2,3,4,5,x", "serial"])
def test_a_line_that_is_no_turn_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "turns.csv"
    path.write_text(f"{line}\n")
    with pytest.raises(EnvironmentProblem, match=f"turns.csv: not a turn: {line}"):
        turns.read(path)


def test_only_whole_rounds_count_and_none_that_began_too_early(written: Path) -> None:
    found = turns.read(written)
    whole = turns.whole_rounds(found, 2, after_ms=0)
    assert [each.interval[0] for each in whole] == [1000, 1300, 1600, 1900]
    assert [each.interval[0] for each in turns.whole_rounds(found, 2, 1001)] == [1600, 1900]
    assert turns.whole_rounds(found, 2, 1601) == []


def test_the_strategy_that_was_measured_least_says_how_long_all_were(written: Path) -> None:
    found = turns.read(written)
    assert turns.shortest_s(found[:4], ["serial", "adaptive"]) == pytest.approx(0.4)
    assert turns.shortest_s(found[:1], ["serial", "adaptive"]) == 0


def test_a_window_of_turns_is_as_long_as_they_are_together() -> None:
    whole = Window(start_ms=0, end_ms=1000, ended="enough")
    assert (whole.seconds, whole.parts) == (1.0, ((0, 1000),))
    parts = ((0, 200), (700, 1000))
    in_turns = Window(start_ms=0, end_ms=1000, ended="enough", turns=parts)
    assert (in_turns.seconds, in_turns.parts) == (0.5, parts)


def test_only_samples_that_ended_within_a_turn_are_in_the_window(tmp_path: Path) -> None:
    path = tmp_path / "samples.jtl"
    ends = [100, 1000, 1199, 1200, 1500, 1899, 1900, 2000, 2110]
    path.write_text(jtl([Sample(end, 40) for end in ends]))
    window = Window(start_ms=1000, end_ms=2110, ended="enough", turns=((1000, 1200), (1900, 2110)))
    found = reader.read(path, window)
    assert found.completed == 4
    assert found.correct_ms.size == 4
    assert found.answered_in_load == len(ends)


def common(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "common.jtl"
    path.write_text("timeStamp,elapsed,label,responseCode\n" + "".join(lines))
    return path


def parts(tmp_path: Path) -> dict[str, Path]:
    return {name: tmp_path / f"{name}.jtl" for name in ("serial", "adaptive")}


def test_every_strategy_gets_its_own_lines_with_the_header(tmp_path: Path) -> None:
    lines = ["1,5,serial,200\n", "2,5,adaptive,200\n", "3,5,serial,200\n", "4,5,pinned,200\n"]
    into = parts(tmp_path)
    assert turns.split(common(tmp_path, *lines), into) == 1
    header = "timeStamp,elapsed,label,responseCode\n"
    assert into["serial"].read_text() == header + lines[0] + lines[2]
    assert into["adaptive"].read_text() == header + lines[1]


def test_a_message_of_several_lines_stays_with_its_sample(tmp_path: Path) -> None:
    lines = ['1,5,serial,"went\n', 'wrong,9,adaptive"\n', "2,5,adaptive,200\n"]
    into = parts(tmp_path)
    turns.split(common(tmp_path, *lines), into)
    assert into["serial"].read_text().endswith(lines[0] + lines[1])
    assert into["adaptive"].read_text().count("\n") == 2


def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    into = parts(tmp_path)
    turns.split(common(tmp_path, "1,5,serial,200\n", "2,5,ser"), into)
    turns.split(common(tmp_path, "1,5,serial,200\n", "2,5,serial,2"), into)
    assert into["serial"].read_text().splitlines()[1:] == ["1,5,serial,200"]
