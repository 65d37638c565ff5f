"""The threads of a JVM's compilers and collectors are found by their names."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from pathlib import Path

import pytest
from waiting import await_true

from restbench.machine import jvm, process


def burn(name: str, cpu_s: float, burnt: threading.Event, done: threading.Event) -> None:
    Path(f"/proc/self/task/{threading.get_native_id()}/comm").write_text(name)
    while time.thread_time() < cpu_s:
        pass
    burnt.set()
    done.wait()


def test_threads_are_told_by_how_their_names_begin() -> None:
    done = threading.Event()
    used_s = {"C2 CompilerThre": 0.2, ") C2 Compiler": 0.1, "http-nio": 0.1}
    used_s |= {"GC Thread#0": 0.1, "G1 Conc#0": 0.1}
    for name, cpu_s in used_s.items():
        burnt = threading.Event()
        threading.Thread(target=burn, args=(name, cpu_s, burnt, done)).start()
        assert burnt.wait(60)
    try:
        assert jvm.compilers_cpu_ms((os.getpid(),)) == pytest.approx(200, abs=30)
        assert jvm.collectors_cpu_ms((os.getpid(),)) == pytest.approx(200, abs=30)
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
        assert await_true(lambda: jvm.compilers_cpu_ms((started.pid,)))
        assert jvm.compilers_cpu_ms((started.pid,)) < process.cpu_ms((started.pid,))
    finally:
        started.kill()
        started.wait()
    assert jvm.compilers_cpu_ms((started.pid,)) == 0
