"""Faults on a real database under stubs of the services, as a whole run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from histories import read
from stub_bench import Bench, Ran

from restbench.failures import EnvironmentProblem, ExitCode
from restbench.machine import storage
from tools import queue_controls
from tools.queue_controls import CONTROLS

pytestmark = pytest.mark.live

#: Kills of a backend and of all processes are those of the controls; under a held snapshot, which
#: ends nothing, a lossy service is found out.
ENDS = ("kill-postmaster", "kill-service", "pause", "stop-fast-without-keys")
EXPERIMENT = """
driver = "faults"
views = ["faults"]
name = "faults"
title = "Faults under stubs"
seed = 3

[faults]
receivers = [0, 5]
latest_s = 1.5
after_s = 6

[profiles.p]
minutes = 4
blocks = 1
warm_max_s = { java = 0.0, python = 0.0 }

[[cells]]
name = "all"
service = "java"
strategy = "serial"
complexity = COMPLEXITY
users = 4
"""


def ran(folder: Path, complexity: Sequence[str], fault: str = "") -> Ran:
    experiment = EXPERIMENT.replace("COMPLEXITY", json.dumps(complexity))
    return Bench(folder).run_of(experiment, faults={"serial": fault})


def small_disks() -> str:
    """Empty where there can be some, else why not."""
    try:
        with storage.mounted(1):
            return ""
    except EnvironmentProblem as error:
        return str(error)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """The database on the small disk has a service of its own, while the usual one is up."""
    return ran(tmp_path_factory.mktemp("faults"), ENDS if small_disks() else [*ENDS, "disk-full"])


def test_a_sound_service_loses_nothing_whatever_ends(sound: Ran) -> None:
    assert sound.code == ExitCode.ALL_MEASURED, sound.told
    trials = sound.run.trials.trials()
    assert len(trials) == len(ENDS) + (not small_disks())
    assert {each.extras["violations"] for each in trials} == {0}
    assert all(each.extras["sends"] > 0 for each in trials)
    assert all(each.errors for each in trials if "kill" in each.cell)
    assert "nothing lost, nothing delivered twice" in sound.told
    assert "What is lost, or comes twice" in sound.run.report.read_text()
    assert sound.bench.still_running() == []


def test_a_full_disk_refuses_for_want_of_room(sound: Ran) -> None:
    if why := small_disks():
        pytest.skip(why)
    (full,) = [each for each in sound.run.trials.trials() if "disk-full" in each.cell]
    assert full.errors > 0


def test_a_service_that_loses_a_message_is_found_out(tmp_path: Path) -> None:
    lossy = ran(tmp_path, ["hold-snapshot"], "loses")
    assert lossy.code == ExitCode.WRONG_ANSWERS, lossy.told
    (trial,) = lossy.run.trials.trials()
    assert trial.extras["lost"] > 0
    first = lossy.bench.events("violation")[0].text
    assert first.startswith("lost: hold-snapshot-1-1-")
    (path,) = lossy.run.path.rglob("java-serial-*.jsonl")
    requests, left = read(path)
    assert queue_controls.check(requests, left).counts["R1"] == trial.extras["lost"]


def test_controls_are_judged_rightly() -> None:
    said: list[str] = []
    assert queue_controls.run(CONTROLS, 1, 1.0, said.append), said
