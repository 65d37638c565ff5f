"""A kernel of class S on both real services and without them."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from command_line import restbench
from stub_bench import Bench

from restbench.store import store
from restbench.store.store import Run

pytestmark = pytest.mark.live

EXPERIMENT = """
driver = "npb"
views = ["npb"]
name = "live-npb"
title = "Integer sort on both services"
seed = 3
claims = "claims/npb.toml"

[settings.java]
JAVA_OPTIONS = "-Xmx256m"

[npb]
run_max_s = 60

[npb.runs]
p = { S = { runs = 2, kept = 1 } }

[npb.published]
source = "Nobody"
machine = "none"
rows = {}

[profiles.p]
minutes = 1
blocks = 1
warm_max_s = { java = 0.0, python = 0.0 }

[[cells]]
name = "Java"
service = "java"
strategy = "shared-pool"
complexity = "IS-S"
users = 1

[[cells]]
name = "Python"
service = "python"
strategy = "serial"
complexity = "IS-S"
users = 1
"""


def test_integer_sort_verifies_on_both_services_and_without_them(tmp_path: Path) -> None:
    shutil.copytree(store.EXPERIMENTS / "claims", tmp_path / "claims")
    bench = Bench(tmp_path)
    ran = bench.run_of(EXPERIMENT, STUB_SERVICES="")
    assert ran.code == 0, ran.told
    run = bench.latest
    trials = run.trials.trials()
    assert sorted(each.cell.split("-")[0] for each in trials) == ["java", "python"]
    for each in trials:
        answers = [json.loads(line) for line in answers_of(run, each.cell)]
        assert [answer["value"] for answer in answers] == [51] * 2
        assert all(answer["totalSeconds"] > answer["kernelSeconds"] for answer in answers)
        assert each.extras["client_s"] > each.extras["service_total_s"] > each.extras["service_s"]
        assert (each.service_cpu_ms or 0) >= 0
        assert (each.memory_mib or 0) > 0
    facts = run.trials.blocks()[0].facts
    assert set(facts["foreign_pct"]) == set(facts["steal_pct"]) == {each.cell for each in trials}
    assert bench.left_running() == []


def answers_of(run: Run, cell_id: str) -> list[str]:
    lines = run.program_log(1, cell_id).read_text().splitlines()
    return [line for line in lines if line.startswith("{")]


def test_the_command_prints_the_contracts_members(tmp_path: Path) -> None:
    core = str(min(os.sched_getaffinity(0)))
    options = ("--language", "python", "--repeat", "2", "--cores", core, "--json")
    done = Bench(tmp_path).restbench("npb", "IS", "S", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(each["kernel"], each["class"], each["verified"]) for each in lines] == [
        ("IS", "S", True)
    ] * 2


def test_a_kernel_that_is_not_verified_ends_the_command_with_its_code(tmp_path: Path) -> None:
    done = Bench(tmp_path).restbench("npb", "IS", "S", faults={"serial": "unverified-direct"})
    assert done.returncode == 5
    assert "IS-S: not verified: 8.4, the reference is 8.5" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("EP", "S"), "KERNEL: 'EP' is not one of IS, CG, MG, FT"),
        (("CG", "W30"), "CLASS: 'W30' is not one of S, W, A, B, C"),
        (("CG", "S", "--language", "go"), "--language: 'go' is not one of java, python"),
        (("CG", "S", "--strategy", "pool"), "--strategy: 'pool' is not one of serial"),
        (("CG", "S", "--cores", "1023"), "--cores 1023: taskset -c takes no such list here"),
        (("CG", "S", "--cores", "x"), "--cores x: taskset -c takes no such list here"),
    ],
)
def test_a_wrong_argument_is_named_with_what_there_is(
    arguments: tuple[str, ...], message: str
) -> None:
    done = restbench("npb", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
