"""A JVM's compilers are found, and waited for before a window."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from restbench.machine import compilers, jvm, process
from restbench.machine.compilers import LOOK_BACK_S, QUIET_SHARE, Compilers


@dataclass
class Machine:
    """A service whose CPU times and whose clock are set by hand."""

    now_s: float = 100.0
    compilers_ms: float = 5_000.0
    service_ms: float = 9_000.0

    def goes_on(self, seconds: float, share: float) -> None:
        """One busy core, of whose time the compilers take `share`."""
        self.now_s += seconds
        self.service_ms += 1000 * seconds
        self.compilers_ms += 1000 * seconds * share


@pytest.fixture
def at_work(monkeypatch: pytest.MonkeyPatch) -> Machine:
    here = Machine()
    monkeypatch.setattr(compilers.time, "monotonic", lambda: here.now_s)
    monkeypatch.setattr(compilers, "cpu_ms", lambda _pids: here.compilers_ms)
    monkeypatch.setattr(process, "cpu_ms", lambda _pids: here.service_ms)
    return here


def looks(at_work: Machine, *shares: float) -> list[bool]:
    """One after the other, each after a quarter of a look back with such a share."""
    jvm = Compilers((1,))
    found = [jvm.quiet()]
    for share in shares:
        at_work.goes_on(LOOK_BACK_S / 4, share)
        found.append(jvm.quiet())
    return found


def test_nothing_is_known_before_looks_reach_back_far_enough(at_work: Machine) -> None:
    assert looks(at_work, 0, 0, 0, 0) == [False, False, False, False, True]


def test_what_they_did_counts_until_it_is_long_ago(at_work: Machine) -> None:
    assert looks(at_work, 0, 0, 0, 0.5, 0, 0, 0, 0) == [False] * 8 + [True]


def test_up_to_a_small_share_they_are_quiet(at_work: Machine) -> None:
    assert looks(at_work, *4 * [QUIET_SHARE * 0.99])[-1]
    assert not looks(at_work, *4 * [QUIET_SHARE * 1.01])[-1]


def test_a_service_without_compilers_is_not_waited_for(at_work: Machine) -> None:
    at_work.compilers_ms = 0
    assert looks(at_work) == [True]


def burn(name: str, cpu_s: float, burnt: threading.Event, done: threading.Event) -> None:
    Path(f"/proc/self/task/{threading.get_native_id()}/comm").write_text(name)
    while time.thread_time() < cpu_s:
        pass
    burnt.set()
    done.wait()


def test_threads_are_told_by_how_their_names_begin() -> None:
    done = threading.Event()
    for name, cpu_s in {"C2 CompilerThre": 0.2, ") C2 Compiler": 0.1, "http-nio": 0.1}.items():
        burnt = threading.Event()
        threading.Thread(target=burn, args=(name, cpu_s, burnt, done)).start()
        assert burnt.wait(60)
    try:
        assert compilers.cpu_ms((os.getpid(),)) == pytest.approx(200, abs=30)
    finally:
        done.set()


def test_a_jvm_has_compilers_and_what_is_gone_has_none(tmp_path: Path) -> None:
    source = tmp_path / "Sleeps.java"
    source.write_text(
        "class Sleeps { public static void main(String[] none) throws Exception "
        "{ Thread.sleep(60_000); } }"
    )
    started = subprocess.Popen([jvm.java(), str(source)])
    try:
        deadline = time.monotonic() + 60
        while compilers.cpu_ms((started.pid,)) == 0:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert compilers.cpu_ms((started.pid,)) < process.cpu_ms((started.pid,))
    finally:
        started.kill()
        started.wait()
    assert compilers.cpu_ms((started.pid,)) == 0
