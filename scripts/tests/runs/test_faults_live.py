"""Faults on a real database under stubs of the services, as a whole run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from histories import read
from stub_bench import Bench

from restbench.failures import EnvironmentProblem, ExitCode
from restbench.machine import small_disk
from tools import queue_controls
from tools.queue_controls import CONTROLS, Control

pytestmark = pytest.mark.live

EXPERIMENT = """
driver = "faults"
views = ["faults"]
name = "faults"
title = "Faults under stubs"
seed = 3

[faults]
receivers = [0, 5]
latest_s = 1.5
down_s = 0.5
after_s = 6

[profiles.p]
minutes = 2
blocks = 1
warm_max_s = { java = 0.0, python = 0.0 }

[[cells]]
name = "all"
service = "java"
strategy = "serial"
complexity = COMPLEXITY
users = 4
"""


def ran(folder: Path, complexity: str, fault: str = "") -> tuple[Bench, int, str]:
    bench = Bench(folder)
    path = folder / "faults.toml"
    path.write_text(EXPERIMENT.replace("COMPLEXITY", complexity))
    done = bench.restbench("run", str(path), "--profile", "p", faults={"serial": fault})
    return bench, done.returncode, done.stdout + done.stderr


def test_a_sound_service_loses_nothing_when_database_and_service_are_killed(tmp_path: Path) -> None:
    bench, code, said = ran(tmp_path, '["kill-all", "kill-service", "pause"]')
    assert code == ExitCode.ALL_MEASURED, said
    trials = bench.latest.trials.trials()
    assert {each.extras["violations"] for each in trials} == {0}
    assert all(each.extras["sends"] > 0 and each.errors for each in trials if "kill" in each.cell)
    assert "nothing lost, nothing twice" in said
    assert "What is lost, or comes twice" in bench.latest.report.read_text()
    assert bench.still_running() == []


def test_a_full_disk_and_other_ends_lose_nothing_next_to_each_other(tmp_path: Path) -> None:
    """The database on the small disk has a service of its own, while the usual one is up."""
    try:
        with small_disk.mounted(1):
            pass
    except EnvironmentProblem as error:
        pytest.skip(str(error))
    wanted = ["hold-snapshot", "disk-full", "stop-fast", "kill-postmaster-without-keys"]
    bench, code, said = ran(tmp_path, json.dumps(wanted))
    assert code == ExitCode.ALL_MEASURED, said
    trials = {each.cell: each for each in bench.latest.trials.trials()}
    assert len(trials) == len(wanted)
    assert {each.extras["violations"] for each in trials.values()} == {0}
    (full,) = [each for cell, each in trials.items() if "disk-full" in cell]
    assert full.errors > 0, "nothing was refused for want of room"
    assert full.extras["sends"] > 0
    assert bench.still_running() == []


def test_a_service_that_loses_a_message_is_found_out(tmp_path: Path) -> None:
    bench, code, said = ran(tmp_path, '["hold-snapshot"]', "loses")
    assert code == ExitCode.WRONG_ANSWERS, said
    (trial,) = bench.latest.trials.trials()
    assert trial.extras["lost"] > 0
    first = bench.events("violation")[0].text
    assert first.startswith("lost: hold-snapshot-1-1-")
    (path,) = bench.latest.path.rglob("java-serial-*.jsonl")
    requests, left = read(path)
    assert queue_controls.check(requests, left).counts["R1"] == trial.extras["lost"]


@pytest.mark.parametrize("control", CONTROLS, ids=lambda each: each.name)
def test_controls_are_judged_rightly(control: Control) -> None:
    said: list[str] = []
    assert queue_controls.run([control], 1, 1.0, said.append), said
