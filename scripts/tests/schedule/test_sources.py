"""What is measured is known by what it is made of."""

from __future__ import annotations

import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from restbench.machine import machine
from restbench.schedule import begin


def test_a_jar_is_known_by_its_classes_and_not_by_when_it_was_built(tmp_path: Path) -> None:
    def jar(name: str, code: str, built: str) -> Path:
        path = tmp_path / name
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("BOOT-INF/classes/Serial.class", code)
            archive.writestr("META-INF/build-info.properties", built)
        return path

    first = begin.of_jar(jar("a.jar", "loops", "Monday"), "BOOT-INF/")
    assert begin.of_jar(jar("b.jar", "loops", "Tuesday"), "BOOT-INF/") == first
    assert begin.of_jar(jar("c.jar", "other", "Monday"), "BOOT-INF/") != first
    assert begin.of_jar(tmp_path / "none.jar", "BOOT-INF/") == begin.ABSENT
    half = tmp_path / "half.jar"
    half.write_bytes((tmp_path / "a.jar").read_bytes()[:50])
    assert begin.of_jar(half, "BOOT-INF/") == begin.NOT_WHOLE


def test_a_load_is_known_by_the_sampler_that_sends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "programs.jar"

    def build(sampler: str, built: str) -> dict[str, str]:
        with zipfile.ZipFile(programs, "w") as archive:
            archive.writestr("META-INF/MANIFEST.MF", built)
            archive.writestr("restbench/trials/User.class", sampler)
        return begin.fingerprints()

    assert begin.PROGRAMS.exists()
    monkeypatch.setattr(begin, "PROGRAMS", programs)
    first = build("sends", "Monday")
    assert build("sends", "Tuesday") == first
    assert build("sends otherwise", "Tuesday") != first


def test_settings_of_the_services_are_known_and_the_harness_own_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = begin.settings()
    monkeypatch.setenv("RESTBENCH_LOCK", "another")
    monkeypatch.setenv("RESTBENCH_HARNESS", "another")
    assert begin.settings() == before
    monkeypatch.setenv("RESTBENCH_PROCESSES", "7")
    monkeypatch.setenv("JAVA_OPTIONS", "-Xint")
    assert begin.settings() == before | {"RESTBENCH_PROCESSES": "7", "JAVA_OPTIONS": "-Xint"}


def test_every_part_that_is_measured_has_a_fingerprint() -> None:
    found = begin.fingerprints()
    services, load = {"java service", "python service"}, {"load plans", "load programs"}
    clients = {"java client", "python client"}
    assert set(found) == services | load | clients | {"fronts", "database"}
    assert begin.ABSENT not in found.values()
    assert len(set(found.values())) == len(found)
    assert begin.fingerprints() == found


def test_every_package_whose_version_is_noted_is_here() -> None:
    versions = {name: machine._installed_version(name) for name in machine.PACKAGES}
    assert {name for name, version in versions.items() if version is None} == set()


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-frameworks.txt", "new.py"])
def test_a_service_is_known_by_its_packages_and_those_of_its_frameworks(
    tmp_path: Path, name: str
) -> None:
    folder = tmp_path / "python-service"
    folder.mkdir()
    (folder / name).write_text("one")
    built: Any = {"A": SimpleNamespace(path=tmp_path)}
    before = begin.fingerprints(built)
    (folder / name).write_text("two")
    now = begin.fingerprints(built)
    assert {part for part in now if now[part] != before[part]} == {"python service of A"}
