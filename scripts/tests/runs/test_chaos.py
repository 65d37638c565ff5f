"""A short chaos, and that chaos sees what is wrong."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import chaos_checks
import pytest
from chaos import Chaos
from chaos_checks import Violation, check_end, check_finished, check_nothing_left, identity_of
from chaos_harness import Harness, Place
from chaos_kept import check_kept, look
from fixture_run import Made, build, cell, steady_load
from shown_run import findings
from waiting import await_true

from restbench.experiment.records import Interruption
from restbench.machine import guardian
from restbench.show import files
from restbench.store.store import Run
from restbench.store.writing import write_text

CHAOS = Path(chaos_checks.__file__).with_name("chaos.py")
CELLS = [cell("java serial low 10"), cell("java pinned low 10")]


@pytest.mark.live
@pytest.mark.timeout(1600)
def test_a_run_that_is_killed_twice_is_finished_and_nothing_is_left_behind() -> None:
    # This seed kills the process group, then a service while the run goes on. Where it is over
    # before the second moment comes, the second victim is of another run.
    command = [sys.executable, str(CHAOS), "--times", "2", "--seed", "434"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1500)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 kills, " in done.stdout.splitlines()[-1]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Two cells as an undisturbed run leaves them."""
    finished = build(tmp_path / "run", [Made(each, steady_load(10, 20)) for each in CELLS])
    files.write_tables(findings(finished))
    return finished


def test_a_run_that_is_whole_is_not_complained_about(run: Run) -> None:
    check_finished(run, identity_of(run))


def lose_a_cell(run: Run) -> None:
    with sqlite3.connect(run.trials.path) as file:
        file.execute("DELETE FROM trials WHERE cell = ?", (CELLS[0].id,))


def measure_twice(run: Run) -> None:
    run.trials.add(run.trials.trials()[:1])


def leave_unfinished(run: Run) -> None:
    with sqlite3.connect(run.trials.path) as file:
        file.execute("UPDATE blocks SET finished = NULL")


def half_a_file(run: Run) -> None:
    whole = run.trials.path.read_bytes()
    run.trials.path.write_bytes(whole[:100] + b"x" * 3000)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lose_a_cell, r"blocks \[\] of \[1\]"),
        (measure_twice, "there twice"),
        (leave_unfinished, "not the planned blocks"),
        (half_a_file, "trials.sqlite"),
    ],
)
def test_a_run_that_is_not_whole_is_a_violation(
    run: Run, spoil: Callable[[Run], None], said: str
) -> None:
    identity = identity_of(run)
    spoil(run)
    with pytest.raises(Exception, match=said):
        check_finished(run, identity)


def test_another_manifest_is_a_violation(run: Run) -> None:
    identity = identity_of(run) | {"seed": 8}
    with pytest.raises(Violation, match="another manifest"):
        check_finished(run, identity)


class Ended(Harness):
    """A harness that has ended and left what a test lays down."""

    def __init__(self, place: Place, code: int = 0) -> None:
        self.place, self.results = place, place.results("run")
        self.results.mkdir(exist_ok=True)
        self._output = place.folder / "run.out"
        self._output.touch()
        self._begun = time.monotonic()
        # Its own death by a signal where the code says so.
        how = f"kill {code} $$" if code < 0 else f"exit {code}"
        self.process = subprocess.Popen(["sh", "-c", how])
        self.process.wait()


@pytest.mark.parametrize(
    ("code", "killed"),
    [
        (0, None),
        (0, "JMeter"),
        (-9, "harness"),
        (-9, "process group"),
        (130, "group by Ctrl-C"),
        (-2, "group by Ctrl-C"),
    ],
)
def test_a_harness_that_ends_of_what_was_killed_is_not_complained_about(
    tmp_path: Path, code: int, killed: str | None
) -> None:
    check_end(Ended(Place(tmp_path / "place"), code), killed)


@pytest.mark.parametrize(
    ("code", "killed"),
    [
        (1, None),
        (-9, None),
        (4, "JMeter"),
        (1, "harness"),
        (130, "harness"),
        (1, "group by Ctrl-C"),
    ],
)
def test_a_harness_that_ends_otherwise_is_a_violation(
    tmp_path: Path, code: int, killed: str | None
) -> None:
    with pytest.raises(Violation, match=f"ended with {code}"):
        check_end(Ended(Place(tmp_path / "place"), code), killed)


def test_a_harness_that_ended_before_its_kill_was_not_killed(tmp_path: Path) -> None:
    place = Place(tmp_path / "place")
    chaos = Chaos(place, random.Random(1), undisturbed_s=1.0)
    assert chaos.kill(Ended(place, 1)) is None
    assert chaos.killed == 0


@pytest.fixture
def ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ended:
    monkeypatch.setattr(chaos_checks, "SETTLED_S", 0.2)
    return Ended(Place(tmp_path / "place"))


def test_what_leaves_nothing_is_not_complained_about(ended: Ended) -> None:
    check_nothing_left(ended)


@pytest.fixture
def orphan(ended: Ended) -> Iterator[subprocess.Popen[bytes]]:
    mark = f"{ended.pid}-1-2-3"
    left = subprocess.Popen(["sleep", "600"], env={"RESTBENCH_HARNESS": mark})
    assert await_true(lambda: left.pid in guardian.marks()), "when it has become its program"
    yield left
    left.kill()
    left.wait()


@pytest.mark.usefixtures("orphan")
def test_a_process_that_is_left_is_a_violation(ended: Ended) -> None:
    with pytest.raises(Violation, match="process"):
        check_nothing_left(ended)


@pytest.mark.parametrize("name", ["run/r/.run.json.12.tmp", "tmp/restbench-12-3-4-5"])
def test_a_temporary_file_that_is_left_is_a_violation(ended: Ended, name: str) -> None:
    write_text(ended.place.folder / "run" / "r" / "manifest.json", "{}")
    write_text(ended.place.folder / name, "")
    with pytest.raises(Violation, match=Path(name).name):
        check_nothing_left(ended)


def test_a_folder_of_a_run_that_never_began_is_a_violation(ended: Ended) -> None:
    (ended.results / "r").mkdir()
    with pytest.raises(Violation, match="never began"):
        check_nothing_left(ended)


# --- runs that went on ----------------------------------------------------------------------------
def test_what_went_on_and_kept_every_block_is_not_complained_about(run: Run) -> None:
    before = look(run.path.parent)
    assert (before.begun, before.measured) == (True, 2)
    note(run, kept=2, lost=1)
    check_kept(before, run, went_on=True)


def note(run: Run, kept: int, lost: int) -> None:
    noted = Interruption(
        how="killed",
        ended="2026-11-21T01:51:00+00:00",
        resumed="2026-11-21T01:52:00+00:00",
        kept=kept,
        lost=("block 2",) * lost,
        git_commit="0123456",
        git_dirty=False,
    )
    write_text(run.interruptions_file, noted.model_dump_json() + "\n")


def keep_nothing(run: Run) -> None:
    run.trials.path.unlink()
    note(run, kept=2, lost=0)


def measure_again(run: Run) -> None:
    run.trials.add(run.trials.trials()[:1])
    note(run, kept=2, lost=0)


def keep_fewer(run: Run) -> None:
    note(run, kept=1, lost=0)


def lose_two(run: Run) -> None:
    note(run, kept=2, lost=2)


def note_nothing(run: Run) -> None:
    assert run.interruptions() == []


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (keep_nothing, "lost or changed"),
        (measure_again, "lost or changed"),
        (keep_fewer, "1 measurements are said to be kept of 2"),
        (lose_two, "more than the block in flight"),
        (note_nothing, "0 interruptions"),
    ],
)
def test_a_run_that_went_on_without_what_was_measured_is_a_violation(
    run: Run, spoil: Callable[[Run], None], said: str
) -> None:
    before = look(run.path.parent)
    spoil(run)
    with pytest.raises(Violation, match=said):
        check_kept(before, run, went_on=True)
