"""Which JVM runs, with which flags, and what is written down of it."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from restbench import ROOT
from restbench.machine import jvm, machine


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
        described = machine.describe()
    finally:
        os.sched_setaffinity(0, allowed)
    assert described["java_flags"]["UseG1GC"] == "true"
    assert described["java_flags"]["MaxHeapSize"] == str(2**30)
    assert "version" in described["java"]
    assert Path(described["java_program"]).name == "java"


def test_what_somebody_chose_for_openblas_does_not_change_what_is_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENBLAS_CORETYPE", raising=False)
    found = machine.describe()["blas_kernel"]
    assert found.isidentifier()
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Prescott" if found != "Prescott" else "Core2")
    assert machine.describe()["blas_kernel"] == found
