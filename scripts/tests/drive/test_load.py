"""Whether there is a JMeter to load with, and whether it comes up."""

from __future__ import annotations

from pathlib import Path

import pytest

from restbench.drive import generator, load
from restbench.failures import EnvironmentProblem


def test_without_java_or_jmeter_nothing_begins_and_the_mend_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(EnvironmentProblem, match="Java is missing: apt-get install openjdk"):
        load.require_jmeter()
    monkeypatch.setattr(load, "HOME", tmp_path)
    with pytest.raises(EnvironmentProblem, match="make setup"):
        load.require_jmeter()


def test_a_load_generator_that_ends_at_once_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generator, "LAUNCHER", "false")
    monkeypatch.setattr(generator, "START_TIMEOUT_S", 3600.0)
    with (
        pytest.raises(EnvironmentProblem, match="JMeter ended; its output ends"),
        generator.started(1, tmp_path, None),
    ):
        pass
