"""Whether there is a JMeter to load with."""

from __future__ import annotations

from pathlib import Path

import pytest

from restbench.drive import load
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
