"""Following a JTL while JMeter writes it."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from restbench.drive import load
from restbench.drive.follower import Follower
from restbench.drive.load import Target, properties, start
from restbench.experiment.cell import Cell
from restbench.failures import EnvironmentProblem
from restbench.store.cell_folder import CellFolder

HEADER = b"timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success\n"


def line(stamp: int, elapsed: int, success: str = "true", code: str = "200") -> bytes:
    return f"{stamp},{elapsed},cell,{code},OK,user 1-1,text,{success}\n".encode()


def test_a_completion_counts_by_its_end_and_only_when_correct(tmp_path: Path) -> None:
    jtl = tmp_path / "samples.jtl"
    start_ms = 1_700_000_000_000
    jtl.write_bytes(
        HEADER
        + line(start_ms - 500, 499)
        + line(start_ms - 500, 500)
        + line(start_ms, 3)
        + line(start_ms, 3, success="false")
    )
    follower = Follower(jtl)
    assert follower.correct_since(start_ms) == 2
    assert follower.others == 1


def test_nothing_is_kept_of_a_single_completion(tmp_path: Path) -> None:
    jtl = tmp_path / "samples.jtl"
    follower, sizes = Follower(jtl), []
    jtl.write_bytes(HEADER)
    for _ in range(2):
        with jtl.open("ab") as more:
            more.write(line(1_700_000_000_000, 5) * 10_000)
        follower.poll()
        sizes.append(len(pickle.dumps(follower)))
    assert (follower.correct, follower.correct_ms) == (20_000, 100_000)
    assert sizes[1] <= sizes[0] + 16


def test_a_moment_counts_what_is_read_from_then_on(tmp_path: Path) -> None:
    jtl = tmp_path / "samples.jtl"
    jtl.write_bytes(HEADER + line(1_700_000_000_000, 5))
    follower = Follower(jtl)
    assert follower.users_answered() == 1
    assert follower.correct_since(1_700_000_000_100) == 0
    with jtl.open("ab") as more:
        more.write(line(1_700_000_000_090, 9) + line(1_700_000_000_091, 9))
    assert follower.correct_since(1_700_000_000_100) == 1
    assert follower.correct == 3


def test_a_line_that_is_half_written_counts_once_it_is_whole(tmp_path: Path) -> None:
    jtl = tmp_path / "samples.jtl"
    whole = line(1_700_000_000_000, 5)
    jtl.write_bytes(HEADER + whole[:20])
    follower = Follower(jtl)
    assert follower.correct_since(0) == 0
    with jtl.open("ab") as more:
        more.write(whole[20:] + line(1_700_000_000_100, 5))
    assert follower.correct_since(0) == 2
    assert follower.correct_since(0) == 2


def test_a_message_over_several_lines_is_not_taken_for_samples(tmp_path: Path) -> None:
    jtl = tmp_path / "samples.jtl"
    jtl.write_bytes(
        HEADER
        + b'1700000000000,5,cell,200,OK,user 1-1,text,false,"differs:\nexpected, true\n",1\n'
        + line(1_700_000_000_000, 6)
    )
    follower = Follower(jtl)
    assert follower.correct_since(0) == 1
    assert follower.others == 1


def test_a_jtl_that_is_not_there_yet_has_no_completions(tmp_path: Path) -> None:
    assert Follower(tmp_path / "none.jtl").correct_since(0) == 0


def target(payload: Path) -> Target:
    cell = Cell(service="java", strategy="pinned", complexity="low", users=30, kernel="native")
    return Target(cell=cell, address=("127.0.0.1", 8080), payload=payload, duration_s=61.6)


def test_the_plan_gets_every_level_of_the_cell(tmp_path: Path) -> None:
    given = properties(target(tmp_path))
    assert given["users"] == "30"
    assert given["strategy"] == "pinned"
    assert given["kernel"] == "native"
    assert given["label"] == "java-pinned-unbound-low-30u-native"
    assert given["duration_s"] == "62"


def test_without_java_or_jmeter_nothing_begins_and_the_mend_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(EnvironmentProblem, match="Java is missing: apt-get install openjdk"):
        load.require_jmeter()
    monkeypatch.setattr(load, "HOME", tmp_path)
    with pytest.raises(EnvironmentProblem, match="make setup"):
        load.require_jmeter()


def test_without_its_payload_no_load_is_sent(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentProblem, match=r"body-rest\.json is missing"):
        start(target(tmp_path), CellFolder(tmp_path), None)


def test_the_users_who_have_had_an_answer_are_counted_whatever_it_was(tmp_path: Path) -> None:
    jtl = tmp_path / "samples.jtl"
    follower = Follower(jtl)
    assert follower.users_answered() == 0
    jtl.write_bytes(
        HEADER
        + b"1700000000000,5,cell,200,OK,user 1-1,text,true\n"
        + b"1700000000005,5,cell,200,OK,user 1-1,text,true\n"
        + b'1700000000000,9,cell,Non HTTP,"refused, at once",user 1-2,text,false\n'
    )
    assert follower.users_answered() == 2
