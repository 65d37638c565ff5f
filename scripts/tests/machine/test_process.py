"""Children that are stopped are gone; CPU time and trees are what the kernel says. That they die
with the harness is a matter of their guardian (`test_watch`)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from harness_at_work import gone
from other_process import SLEEPS
from waiting import await_true

from restbench.machine import process

SLEEPER = [sys.executable, "-c", SLEEPS]


@contextmanager
def running(folder: Path, command: list[str], says: str = "") -> Iterator[int]:
    """The process that the command has become, once it has said so."""
    log = folder / "log"
    started = process.start(command, log)
    try:
        assert await_true(lambda: says in log.read_text())
        yield started.pid
    finally:
        process.stop(started)


def after(work: str) -> list[str]:
    """A program that says `done` after this work, and stays."""
    return [sys.executable, "-c", f"{work}\nprint('done', flush=True)\n{SLEEPS}"]


def await_program(pid: int) -> None:
    """Wait until `setpriv` and `taskset` have become the program itself."""
    assert await_true(lambda: "sleep" in " ".join(psutil.Process(pid).cmdline()[:3]))


def test_stop_ends_the_whole_group_even_if_it_ignores_the_first_signal(tmp_path: Path) -> None:
    stubborn = (
        "import signal, subprocess, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "c = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']);"
        "print(c.pid, flush=True); time.sleep(600)"
    )
    log = tmp_path / "log"
    started = process.start([sys.executable, "-c", stubborn], log)
    assert await_true(lambda: log.read_text().strip())
    grandchild = int(log.read_text())
    assert process.tree(started.pid) == tuple(sorted((started.pid, grandchild)))
    process.stop(started, signal.SIGTERM, timeout_s=0.3)
    assert started.poll() is not None
    assert await_true(lambda: gone(grandchild))


def test_a_bound_child_runs_on_its_cores_only(tmp_path: Path) -> None:
    core = min(os.sched_getaffinity(0))
    with running(tmp_path, process.bound_to_us(SLEEPER, str(core))) as pid:
        await_program(pid)
        assert psutil.Process(pid).cpu_affinity() == [core]


def test_cpu_time_on_other_cores_than_those_given_is_a_share_of_it(tmp_path: Path) -> None:
    core = min(os.sched_getaffinity(0))
    burner = after("import time\nwhile time.process_time() < 0.2: pass")
    with running(tmp_path, process.bound_to_us(burner, str(core)), "done") as pid:
        found = [process.off_cores_share([((pid,), {each})]) for each in (core, core + 1)]
        assert found == [0.0, 1.0]


def test_cpu_time_includes_threads_that_have_ended(tmp_path: Path) -> None:
    burner = (
        "import threading, time\n"
        "def burn():\n"
        "    end = time.thread_time() + 0.6\n"
        "    while time.thread_time() < end: pass\n"
        "t = threading.Thread(target=burn); t.start(); t.join()"
    )
    with running(tmp_path, after(burner), "done") as pid:
        # Far more than a start takes, and clear of what a guest's clocks leave out of stolen time.
        assert process.cpu_ms((pid,)) >= 400


def test_cpu_time_is_what_the_kernel_did_for_a_process_as_well(tmp_path: Path) -> None:
    reader = (
        "import time\n"
        "zeros = open('/dev/zero', 'rb', buffering=0)\n"
        "while time.process_time() < 0.6: zeros.read(1 << 20)"
    )
    with running(tmp_path, after(reader), "done") as pid:
        used = psutil.Process(pid).cpu_times()
        assert used.system >= 0.2, "mostly the kernel's"
        whole_ms = 1000 * (used.user + used.system)
        assert process.cpu_ms((pid,)) == pytest.approx(whole_ms, abs=20)


def test_children_that_have_ended_count_where_they_are_asked_for() -> None:
    burner = "import time\nwhile time.process_time() < 0.4: pass"
    before = [process.cpu_ms((os.getpid(),), with_ended_children=each) for each in (False, True)]
    subprocess.run([sys.executable, "-c", burner], check=True)
    own, family = (
        process.cpu_ms((os.getpid(),), with_ended_children=each) - then
        for each, then in zip((False, True), before, strict=True)
    )
    assert family - own >= 300


def test_a_process_that_is_gone_has_no_tree_and_no_cpu_time() -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    assert process.tree(ended.pid) == ()
    assert process.cpu_ms((ended.pid,)) == 0


def test_the_tail_of_a_log_is_its_last_lines(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("\n".join(str(n) for n in range(40)))
    assert process.tail(log, 2) == "38\n39"
    assert process.tail(tmp_path / "none") == "(no log)"


@pytest.mark.parametrize("to_group", [True, False])
def test_a_whole_group_can_be_asked_at_once(tmp_path: Path, to_group: bool) -> None:
    """A leader that goes on until its child ends, as sar does with its collector."""
    told = tmp_path / "told"
    child = (
        f"import pathlib, signal, sys; told = pathlib.Path({str(told)!r});"
        "signal.signal(signal.SIGTERM, lambda *_: (told.touch(), sys.exit()));"
        "print('ready', flush=True); signal.pause()"
    )
    leader = (
        "import signal, subprocess, sys; signal.signal(signal.SIGTERM, lambda *_: None);"
        f"subprocess.Popen([sys.executable, '-c', {child!r}]).wait()"
    )
    log = tmp_path / "log"
    started = process.start([sys.executable, "-c", leader], log)
    assert await_true(lambda: "ready" in log.read_text())
    process.stop(started, timeout_s=60 if to_group else 0.5, to_group=to_group)
    assert told.exists() == to_group
