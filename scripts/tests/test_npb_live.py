"""A kernel of class S on both real services and without them."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from stub_bench import Bench

from restbench.analyse.npb_results import results
from restbench.store import store

pytestmark = pytest.mark.live

EXPERIMENT = """
kind = "npb"
name = "live-npb"
title = "Integer sort on both services"
seed = 3
claims = "claims/npb.toml"
published = "published/npb.toml"

[profiles.p]
service_process = "round"
java_heap_mib = 256
run_max_s = 60

[profiles.p.classes]
S = { rounds = 1, runs = 2, kept = 1 }

[[cells]]
name = "Java"
service = "java"
strategy = "shared-pool"
kernel = "IS"

[[cells]]
name = "Python"
service = "python"
strategy = "serial"
kernel = "IS"
"""


def test_integer_sort_verifies_on_both_services_and_without_them(tmp_path: Path) -> None:
    for folder in ("claims", "published"):
        shutil.copytree(store.EXPERIMENTS / folder, tmp_path / folder)
    (tmp_path / "npb.toml").write_text(EXPERIMENT)
    bench = Bench(tmp_path)
    arguments = ("run", str(tmp_path / "npb.toml"), "--profile", "p")
    done = bench.restbench(*arguments, STUB_SERVICES="")
    assert done.returncode == 0, done.stdout + done.stderr
    found = results(bench.latest)
    assert [row.cell.service for row in found] == ["java", "python"]
    for row in found:
        (measured,) = row.rounds
        answers = [*measured.direct, *(each.answer for each in measured.served)]
        assert [each.value for each in answers] == [51] * 4
        assert all(each.total_seconds > each.kernel_seconds for each in answers)
        assert all(each.overhead_seconds > 0 for each in measured.served)
    assert bench.left_running() == []


@pytest.mark.parametrize("language", ["java", "python"])
def test_the_command_prints_the_contracts_members(tmp_path: Path, language: str) -> None:
    core = str(min(os.sched_getaffinity(0)))
    done = Bench(tmp_path).restbench(
        "npb", "IS", "S", "--language", language, "--repeat", "2", "--cores", core, "--json",
        STUB_SERVICES="",
    )  # fmt: skip
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
    ],
)
def test_a_wrong_argument_is_named_with_what_there_is(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = Bench(tmp_path).restbench("npb", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
