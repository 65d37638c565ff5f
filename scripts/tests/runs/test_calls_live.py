"""Batches of calls by both real clients over every transport, of the real service."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from stub_bench import Bench, Ran

from restbench.analyse import calls, measures
from restbench.analyse.comparison import series

pytestmark = pytest.mark.live

EXPERIMENT = """
driver = "calls"
views = ["calls"]
name = "live-calls"
title = "A few calls"
seed = 3

[settings.java]
JAVA_OPTIONS = "-Xmx256m"
RESTBENCH_MAX_DELAY_MILLIS = "100"

[calls]
delays_ms = [0, 50, 200]
sizes = [8]
payload = { rows = 3, inner = 2, columns = 4 }
document = { rows = 40, inner = 1, columns = 400 }
scaled_from_ms = 50
number = { p = { "*" = 20 } }

[profiles.p]
minutes = 2
blocks = 1
warm_max_s = { java = 0.1, python = 0.1 }

[[cells]]
name = "Calls"
service = "SERVICE"
strategy = "serial"
complexity = LEVELS
users = 4
"""
LEVELS = (
    "java-rest-sequential-50ms",
    "java-rest-pipeline-async-50ms",
    "java-soap-task-pool-50ms",
    "java-soap-document-0ms",
    "python-rest-async-50ms",
    "python-zeep-task-pool-0ms",
    "java-soap-document-0ms-of-8",
)


def run_of(bench: Bench, service: str, *levels: str, **real: str) -> Ran:
    text = EXPERIMENT.replace("SERVICE", service).replace("LEVELS", json.dumps(levels))
    return bench.run_of(text, **real)


def test_every_call_of_both_clients_is_right_and_audited(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    ran = run_of(bench, "java", *LEVELS, STUB_SERVICES="", STUB_CLIENT="")
    assert ran.code == 0, ran.told
    rows = {row.cell.complexity: row for row in measures.rows(bench.latest)}
    assert set(rows) == set(LEVELS)
    for level, row in rows.items():
        assert row.measured, (level, row.flags, bench.events("failed"))
        assert row.value("wrong_answers") == 0
        # The kernel counts a process's CPU time in steps of 10 ms: of so few calls it may be none.
        counted = {each for each in calls.COLUMNS if not each.endswith("_cpu_ms")}
        counted -= {"limit_s"} if "document" in level else set()
        assert all(series(row, each).median for each in counted)
    assert series(rows[LEVELS[0]], "made").median == 10
    scaled = {(each.cell, each.text) for each in bench.events("scaled")}
    assert scaled == {(rows[LEVELS[0]].cell.id, "10 of 20 calls were made")}
    assert (series(rows[LEVELS[0]], "elapsed_s").median or 0) >= 20 * 0.05
    assert (series(rows[LEVELS[1]], "c_ms").median or 0) >= 50
    log = bench.latest.program_log(1, "calls").parent
    lines = (log / f"{rows[LEVELS[4]].cell.id}.jsonl").read_text().splitlines()
    assert sorted(json.loads(line)["index"] for line in lines) == [*range(20)]
    assert bench.left_running() == []


def test_what_the_service_cannot_do_ends_the_run_before_its_first_batch(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    ran = run_of(bench, "python", "java-soap-async-0ms")
    assert (ran.code, "does not support SOAP" in ran.told) == (2, True), ran.told
    assert bench.latest.trials.trials() == []
    assert bench.left_running() == []
