"""What JMeter is started with."""

from __future__ import annotations

from pathlib import Path

import pytest

from restbench.drive import load
from restbench.drive.load import Target, properties, start
from restbench.experiment.cell import Cell
from restbench.failures import EnvironmentProblem
from restbench.store.cell_folder import CellFolder


def target(payload: Path) -> Target:
    cell = Cell(service="java", strategy="pinned", complexity="low", users=30, kernel="native")
    return Target(cell=cell, address=("127.0.0.1", 8080), payload=payload, duration_s=61.6)


def test_the_plan_gets_every_level_of_the_cell(tmp_path: Path) -> None:
    given = properties(target(tmp_path))
    assert given["users"] == "30"
    assert given["strategy"] == "pinned"
    assert given["kernel"] == "native"
    assert given["label"] == "java-pinned-unbound-low-30u-native"
    assert given["duration_s"] == "62"


def test_without_java_or_jmeter_nothing_begins_and_the_mend_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(EnvironmentProblem, match="Java is missing: apt-get install openjdk"):
        load.require_jmeter()
    monkeypatch.setattr(load, "HOME", tmp_path)
    with pytest.raises(EnvironmentProblem, match="make setup"):
        load.require_jmeter()


def test_without_its_payload_no_load_is_sent(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentProblem, match=r"body-rest\.json is missing"):
        start(target(tmp_path), CellFolder(tmp_path), None)
