"""The trials of a run: appended, whole or not at all, and read as they were written."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from restbench.failures import EnvironmentProblem, StorageProblem, Unreadable
from restbench.store.trials import AGAIN, Event, Trial, TrialFile


def trial(block: int = 1, number: int = 1, **others: Any) -> Trial:
    elapsed = np.array([900, 1_000, 70_000_000], dtype=np.int64)
    made = Trial(block, number, "java-serial-unbound-low-10u", 10, 1_795_225_867_500, 0.5, elapsed)
    return replace(made, **others)


def test_a_trial_is_read_as_it_was_written(tmp_path: Path) -> None:
    file = TrialFile(tmp_path / "trials.sqlite")
    written = [
        trial(),
        trial(
            number=2,
            arm=AGAIN,
            errors=3,
            wrong=1,
            stages_ms={"compute": 0.25},
            service_cpu_ms=12.5,
            generator_cpu_ms=3.0,
            busy_ms=20.0,
            steal_ms=1.0,
            compilers_ms=0.5,
            collector_ms=0.25,
            memory_mib=300.0,
            kinds_us={
                "low": np.array([900, 1_000], dtype=np.int64),
                "cube-1000": np.array([70_000_000], dtype=np.int64),
            },
            extras={"rate_per_s": 250.5},
        ),
        trial(number=3, elapsed_us=np.empty(0, dtype=np.int64)),
    ]
    file.add(written)
    np.testing.assert_equal(list(map(vars, file.trials())), list(map(vars, written)))


def test_a_run_that_has_measured_nothing_has_no_trials(tmp_path: Path) -> None:
    file = TrialFile(tmp_path / "trials.sqlite")
    assert (file.trials(), file.blocks(), file.events()) == ([], [], [])
    assert not file.path.exists()


def test_a_block_that_begins_again_forgets_what_was_interrupted(tmp_path: Path) -> None:
    file = TrialFile(tmp_path / "trials.sqlite")
    for block in (1, 2):
        file.begin(block, "then", {"speed": block})
        file.add([trial(block)])
        for kind in ("failed", "wrong"):
            file.note(Event("then", kind, "why", block, "a cell"))
    file.finish(1, "later")
    file.begin(2, "now", {})
    assert [(each.block, each.finished) for each in file.blocks()] == [(1, "later"), (2, None)]
    assert [each.block for each in file.trials()] == [1]
    found = [(each.block, each.kind) for each in file.events()]
    assert found == [(1, "failed"), (1, "wrong"), (2, "wrong")], "a wrong answer is not forgotten"


def test_a_block_in_flight_tells_no_rates_yet(tmp_path: Path) -> None:
    file = TrialFile(tmp_path / "trials.sqlite")
    for block in (1, 2):
        file.begin(block, "then", {})
        file.add([trial(block), trial(block, arm=AGAIN, seconds=1.0)])
    file.finish(1, "later")
    cell = trial().cell
    assert file.rates() == {(1, cell, ""): 6.0, (1, cell, AGAIN): 3.0}
    assert file.course() == [(1, 1, cell, 6.0), (1, 1, cell, 3.0)]


def test_who_is_killed_loses_the_round_in_flight_and_no_more(tmp_path: Path) -> None:
    path = tmp_path / "trials.sqlite"
    program = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_trial_file import TrialFile, trial
file = TrialFile({str(path)!r})
file.add([trial(number=1), trial(number=2)])
def broken():
    yield trial(number=3)
    os.kill(os.getpid(), 9)
file.add(broken())
"""
    ended = subprocess.run([sys.executable, "-c", program.replace("\\", "")], check=False)
    assert ended.returncode == -9
    assert [each.round for each in TrialFile(path).trials()] == [1, 2]


def test_another_form_and_what_is_no_database_are_refused_with_the_file(tmp_path: Path) -> None:
    broken = tmp_path / "broken.sqlite"
    broken.write_text("this is no database, however long it may be" * 20)
    with pytest.raises(Unreadable, match=r"broken\.sqlite"):
        TrialFile(broken).trials()
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as file:
        file.execute("PRAGMA user_version = 99")
    with pytest.raises(Unreadable, match="form 99"):
        TrialFile(other).trials()


def test_a_file_that_may_not_be_written_to_is_not_said_to_have_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusal = sqlite3.OperationalError("attempt to write a readonly database")
    monkeypatch.setattr(sqlite3, "connect", Mock(side_effect=refusal))
    with pytest.raises(StorageProblem, match="Permission denied: give yourself the right to write"):
        TrialFile(tmp_path / "trials.sqlite").add([trial()])


def test_users_in_flight_are_littles_law() -> None:
    elapsed = np.full(1_000, 5_000, dtype=np.int64)  # a thousand responses of 5 ms in half a second
    assert trial(elapsed_us=elapsed).users_in_flight == pytest.approx(10)


def test_a_file_that_another_process_holds_is_not_said_to_be_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever did as the message said removed all that was measured."""
    file = TrialFile(tmp_path / "trials.sqlite")
    file.begin(1, "now", {})
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, timeout=0.0))
    with closing(sqlite3.connect(file.path)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(EnvironmentProblem, match="another process has held it for seconds"):
            file.note(Event("now", "failed", "why", 1))
    file.note(Event("now", "failed", "why", 1))
