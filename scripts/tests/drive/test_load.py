"""Whether there is a JMeter to load with, whether it comes up, and what it is when it has ended."""

from __future__ import annotations

import socket
from pathlib import Path
from unittest.mock import Mock

import pytest

from restbench.drive import generator
from restbench.drive.generator import Generator, GeneratorGone
from restbench.failures import EnvironmentProblem


def test_without_java_or_jmeter_nothing_begins_and_the_mend_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(EnvironmentProblem, match="Java is missing: apt-get install openjdk"):
        generator.require_jmeter()
    monkeypatch.setattr(generator, "HOME", tmp_path)
    with pytest.raises(EnvironmentProblem, match="make setup"):
        generator.require_jmeter()


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


@pytest.mark.parametrize("has_order", [False, True])
def test_a_load_generator_that_has_ended_is_gone_before_an_order_and_in_the_middle_of_a_trial(
    tmp_path: Path, has_order: bool
) -> None:
    ours, jmeter = socket.socketpair()
    (tmp_path / "jmeter.log").write_text("killed\n")
    with ours, jmeter:
        if has_order:
            jmeter.sendall(b"done\t0")
            jmeter.shutdown(socket.SHUT_WR)
        else:
            jmeter.close()
        with pytest.raises(GeneratorGone, match=r"JMeter has ended or .* log ends:\nkilled$"):
            Generator(Mock(), ours, tmp_path, 1).trial("a cell", 1, 0.0, 0.1, ())
