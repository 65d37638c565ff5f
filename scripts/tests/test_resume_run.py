"""Whole runs that are killed and go on: what is measured is kept, to the byte."""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from stub_bench import PATIENCE_S, Bench
from test_open_load import EXPERIMENT as OPEN_LOAD

from restbench.store.store import Run

pytestmark = pytest.mark.live


@dataclass(frozen=True)
class GoneOn:
    """A run that was killed in its second cell, and went on."""

    run: Run
    before: dict[str, bytes]
    """The first cell's files when the run was killed."""
    told_first: str
    told: str
    left_when_killed: list[str]


def the_run(bench: Bench) -> Run:
    (found,) = {path.parent for path in bench.folder.glob("*/manifest.json")} - {
        bench.folder / "latest"
    }
    return Run(found)


def kill_once(started: subprocess.Popen[str], what: str, bench: Bench) -> str:
    """-9, as soon as these files are there; returns what it had printed."""
    deadline = time.monotonic() + PATIENCE_S
    while not list(bench.folder.glob(what)) and time.monotonic() < deadline:
        assert started.poll() is None, started.communicate()
        time.sleep(0.02)
    started.kill()
    return started.communicate()[0]


@pytest.fixture(scope="module")
def gone_on(tmp_path_factory: pytest.TempPathFactory) -> GoneOn:
    bench = Bench(tmp_path_factory.mktemp("resume"))
    path = bench.experiment({"java": ["serial", "pinned"]})
    second = bench.second_cell(path)
    # It lasts for seconds, this time.
    started = bench.start("run", path, "--profile", "p", "--resume", faults={second: "late"})
    told = kill_once(started, f"2*/raw/block-1/java-{second}-*/samples.jtl", bench)
    remaining = bench.still_running()
    (measured,) = the_run(bench).path.glob("raw/block-1/*/cell.json")
    before = {each.name: each.read_bytes() for each in measured.parent.iterdir()}
    done = bench.restbench("run", path, "--profile", "p", "--resume")
    assert done.returncode == 0, done.stdout + done.stderr
    return GoneOn(the_run(bench), before, told, done.stdout, remaining)


def test_without_an_unfinished_run_a_new_one_begins_and_says_so(gone_on: GoneOn) -> None:
    said = "nothing to resume: no unfinished run of stubbed with profile p; a new one begins"
    assert said in gone_on.told_first
    assert said not in gone_on.told


def test_what_a_killed_harness_started_is_gone_before_the_run_goes_on(gone_on: GoneOn) -> None:
    assert gone_on.left_when_killed == []


def test_the_measured_cell_is_kept_to_the_byte_and_the_one_in_flight_measured_anew(
    gone_on: GoneOn,
) -> None:
    first, second = gone_on.run.cell_runs()
    kept = {name: (first[1].path / name).read_bytes() for name in gone_on.before}
    assert kept == gone_on.before
    assert (first[0].status, second[0].status) == ("measured", "measured")
    assert (first[0].order, second[0].order) == (1, 2)


def test_the_first_cell_on_another_process_of_its_block_says_so(gone_on: GoneOn) -> None:
    first, second = (record for record, _ in gone_on.run.cell_runs())
    assert "resumed" not in first.flags
    assert "resumed" in second.flags


def test_the_run_is_complete_and_says_when_it_was_interrupted(gone_on: GoneOn) -> None:
    assert gone_on.run.manifest().status == "complete"
    (noted,) = gone_on.run.interruptions()
    assert (noted.how, noted.kept, len(noted.lost)) == ("killed", 1, 1)
    assert f"going on with {gone_on.run.name}, killed at" in gone_on.told
    assert f"killed at {noted.ended}, gone on at" in gone_on.run.report.read_text()


def test_an_open_load_goes_on_with_the_walk_that_was_in_flight(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    path = tmp_path / "open.toml"
    path.write_text(OPEN_LOAD.replace("closed_s = 1.0", "closed_s = 0.6"))
    ask = ("run", str(path), "--profile", "p")
    started = bench.start(*ask, faults={"serial": "wrong", "pinned": "late"})
    # A wrong product ends a walk at once, a late one does not.
    kill_once(started, "2*/raw/open-load/java-pinned-*/closed-load", bench)
    assert bench.still_running() == []
    run = the_run(bench)
    walks = list(run.path.glob("raw/open-load/*/walk.json"))
    before = {each: each.read_bytes() for each in walks}
    assert len(before) == 1
    bench.restbench(*ask, "--resume", faults={"pinned": "wrong-under-load"})
    assert run.manifest().status == "complete"
    assert {each: each.read_bytes() for each in walks} == before
    assert len(list(run.path.glob("raw/open-load/*/walk.json"))) == len(before) + 1
    assert len(run.interruptions()) == 1
