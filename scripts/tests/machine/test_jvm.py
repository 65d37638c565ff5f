"""Which JVM runs, with which flags, what is written down of it, and which threads are its own."""

from __future__ import annotations

import os
import re
import subprocess
import threading
import time
from pathlib import Path

import pytest
from stub_bench import Bench
from waiting import await_true

from restbench import ROOT
from restbench.commands import measuring
from restbench.machine import jvm, machine, process
from restbench.schedule import begin


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of JDKs, of which 25 is the newest."""
    for version in ("9.0.4", "17.0.15", "25", "11.0.2"):
        program = tmp_path / f"jdk-{version}" / "bin" / "java"
        program.parent.mkdir(parents=True)
        program.touch()
        release = program.parent.parent / "release"
        release.write_text(f'IMPLEMENTOR="Somebody"\nJAVA_VERSION="{version}"\n')
    (tmp_path / "no-jdk" / "bin").mkdir(parents=True)
    (tmp_path / "no-jdk" / "bin" / "java").touch()
    monkeypatch.setattr(jvm, "FOLDERS", (str(tmp_path),))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    jvm._newest.cache_clear()
    yield tmp_path
    jvm._newest.cache_clear()


def test_the_newest_of_those_installed_runs(homes: Path) -> None:
    assert jvm.java() == str(homes / "jdk-25" / "bin" / "java")


def test_java_home_comes_first_whatever_its_version(
    homes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(homes / "jdk-17.0.15"))
    assert jvm.java() == str(homes / "jdk-17.0.15" / "bin" / "java")


def test_one_below_17_is_not_taken_but_left_to_the_path(
    homes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jvm, "OLDEST", 26)
    assert jvm.java() == "java"


def test_the_users_options_come_last_and_another_collector_takes_the_place_of_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("JAVA_OPTIONS", raising=False)
    assert jvm.command()[1:] == list(jvm.FLAGS)
    monkeypatch.setenv("JAVA_OPTIONS", "-Xmx2g")
    line = jvm.command({"JAVA_OPTIONS": "-XX:+UseSerialGC -XX:+UseTransparentHugePages"})
    assert "-XX:+UseG1GC" not in line
    assert line[-3:] == ["-XX:+UseSerialGC", "-XX:+UseTransparentHugePages", "-Xmx2g"]


def test_a_container_starts_with_the_same_flags() -> None:
    """On the launcher's own variable, so that who starts a container can give others."""
    image = (ROOT / "java-service" / "Dockerfile").read_text("utf-8")
    given = re.findall(r'^ENV JDK_JAVA_OPTIONS="(.*)"$', image, re.MULTILINE)
    assert given == [" ".join(jvm.FLAGS)]


def test_on_one_core_the_collector_is_the_same_and_stands_in_the_description() -> None:
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        described = jvm.described()
    finally:
        os.sched_setaffinity(0, allowed)
    assert described["java_flags"]["UseG1GC"] == "true"
    assert described["java_flags"]["MaxHeapSize"] == str(2**30)
    assert "version" in described["java"]
    assert Path(described["java_program"]).name == "java"


def test_the_description_has_the_flags_of_the_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(begin.generator, "version", lambda: "5.6.3")
    settings = '[settings.java]\nJAVA_OPTIONS = "-Xms2g -Xmx2g"\n'
    path = Bench(tmp_path).experiment({"java": ["serial"]}, extra=settings)
    described = begin.surroundings(measuring.order_for(path, "p", "", []))
    assert described["java_flags"]["MaxHeapSize"] == str(2**31)


def test_what_somebody_chose_for_openblas_does_not_change_what_is_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENBLAS_CORETYPE", raising=False)
    found = machine._blas_kernel()
    assert found.isidentifier()
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Prescott" if found != "Prescott" else "Core2")
    assert machine._blas_kernel() == found


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
        # Clear of another thread's 100, and of what a guest's clocks make of stolen time.
        assert jvm.compilers_cpu_ms((os.getpid(),)) == pytest.approx(200, abs=60)
        assert jvm.collectors_cpu_ms((os.getpid(),)) == pytest.approx(200, abs=60)
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
