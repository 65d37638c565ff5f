"""Nothing outlives a harness, however it ends. Each test kills a real one, with real children."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import Mock

import pytest
from harness_at_work import Harness, at_work, gone
from stub_bench import Bench
from waiting import await_true

from restbench.commands import measuring
from restbench.machine import guardian, watch
from restbench.store import store
from restbench.store.folders import BEGUN
from restbench.store.store import Run
from restbench.store.writing import write_text


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[Harness]:
    with at_work(tmp_path) as running:
        yield running


@dataclass
class Killed:
    """A harness that another one met at work, and that was killed after that."""

    harness: Harness
    left_at_work: list[str]
    left: list[str]


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Killed]:
    with at_work(tmp_path_factory.mktemp("killed")) as running:
        watch.end_leftovers()
        left_at_work = running.left()
        running.kill("harness")
        await_true(lambda: not running.left())
        yield Killed(running, left_at_work, running.left())


def test_a_harness_that_is_at_work_is_left_alone(killed: Killed) -> None:
    assert set(killed.left_at_work) == {"service", "daemon", "guardian", "temporary"}


def test_what_a_killed_harness_started_dies_with_it_however_deep(killed: Killed) -> None:
    assert killed.left == []


def test_what_is_meant_to_outlive_the_harness_does(killed: Killed) -> None:
    assert not gone(killed.harness.told["kept"])


def test_half_written_files_of_a_killed_harness_go_and_whole_ones_stay(killed: Killed) -> None:
    assert [path.name for path in (killed.harness.folder / "sub").iterdir()] == ["run.json"]


def test_the_folder_of_a_run_that_had_not_begun_goes_and_that_of_another_stays(
    killed: Killed,
) -> None:
    assert (killed.harness.folder / "begun" / "manifest.json").exists()
    assert not (killed.harness.folder / "never-begun").exists()


def test_the_folder_of_a_run_whose_manifest_was_lost_stays_with_what_was_measured(
    killed: Killed,
) -> None:
    assert (killed.harness.folder / "measured" / "trials.sqlite").exists()


def test_an_end_in_order_leaves_nothing_when_it_is_over(harness: Harness) -> None:
    harness.process.communicate(timeout=120)
    assert harness.left() == []


def test_an_end_in_order_leaves_nothing_though_the_guardian_was_killed(harness: Harness) -> None:
    harness.kill("guardian")
    harness.process.communicate(timeout=120)
    assert harness.left() == []


def test_no_polite_signal_ends_the_guardian_before_its_work(harness: Harness) -> None:
    os.kill(harness.told["guardian"], signal.SIGINT)
    os.kill(harness.told["guardian"], signal.SIGTERM)
    harness.kill("harness")
    assert await_true(lambda: not harness.left()), harness.left()


def test_a_guardian_that_was_killed_is_replaced_before_anything_else_is_started(
    harness: Harness,
) -> None:
    harness.kill("guardian")
    assert await_true(lambda: gone(harness.told["guardian"]))
    harness.do("watch.begin()")
    harness.kill("harness")
    assert await_true(lambda: not harness.left()), harness.left()


def test_a_guardian_that_takes_too_long_is_waited_for_again_and_no_error_of_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slow = subprocess.Popen(["sleep", "600"], stdin=subprocess.PIPE)
    monkeypatch.setattr(watch, "END_TIMEOUT_S", 0.01)
    try:
        watch.Watch("a mark", process=slow).end()
        assert slow.poll() is None
    finally:
        slow.kill()
        slow.wait()


def test_an_order_that_cannot_be_obeyed_keeps_no_other_from_being_obeyed(tmp_path: Path) -> None:
    left = tmp_path / "left"
    left.touch()
    orders = f"{guardian.ENDS_IN_ORDER}\nremove\t/proc/version\nremove\t{left}\n"
    line = [sys.executable, "-I", "-S", guardian.__file__, "1-1-1-of-nobody"]
    subprocess.run(line, input=orders, text=True, check=True)
    assert not left.exists()


def test_what_is_left_when_the_guardian_was_killed_too_is_ended_by_the_machines_next_harness(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.kill("guardian", "harness")
    harness.process.wait()
    # The service's end is the kernel's doing.
    assert await_true(lambda: set(harness.left()) == {"daemon", "temporary"}), harness.left()
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv(watch.MACHINE, "another")
        assert not harness.ended_by(watch.end_leftovers())
    assert set(harness.left()) == {"daemon", "temporary"}
    assert harness.ended_by(watch.end_leftovers())
    assert harness.left() == []
    assert not gone(harness.told["kept"])


def test_a_mark_that_no_harness_has_made_is_left_alone() -> None:
    pid, born, namespace, random = watch.mark().split("-")
    assert watch.is_over(f"{pid}-1{born}-{namespace}-{random}")
    assert not watch.is_over(f"{pid}-{born}-{namespace}-{random}")
    assert not watch.is_over(f"somebody-{born}-{namespace}-{random}")


def test_a_new_run_is_given_to_the_guardian_at_once_and_one_that_goes_on_never(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new, begun, at_end = Run(tmp_path / "new"), Run(tmp_path / "begun"), Mock()
    monkeypatch.setattr(watch, "at_end", at_end)
    monkeypatch.setattr(store, "create_run", lambda _name: new)
    order = measuring.order_for(Bench(tmp_path).experiment({"java": ["serial"]}), "p", "", [])
    assert measuring.create_run_folder(order) == new
    at_end.assert_called_once_with("unless", new.path, *BEGUN)
    at_end.reset_mock()
    write_text(begun.manifest_file, "{}")
    with measuring.locked_run(begun):
        assert "unless" not in {each.args[0] for each in at_end.mock_calls}
