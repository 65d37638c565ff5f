"""A trace of a real service on a real database, whose snapshot is held meanwhile: what the database
tells of it is in its record."""

from __future__ import annotations

from pathlib import Path

import pytest
from stub_bench import Bench

from restbench.store import exported

pytestmark = pytest.mark.live

SECONDS = 20
EXPERIMENT = f"""
driver = "trace"
views = ["trace"]
name = "traced"
title = "A trace of messages"
seed = 3

[complexities]
one-queue = {{ characters = 200, queues = 1 }}

[[trace.runs]]
duration_s = {{ p = {SECONDS} }}
warm_s = 1
fault = {{ kind = "hold-snapshot", begin = 0.25, end = 0.75 }}

[profiles.p]
minutes = 0.5
blocks = 1
warm_max_s = {{ java = 0.0, python = 0.0 }}

[[cells]]
name = "Python"
service = "python"
strategy = "serial"
complexity = "one-queue"
users = 4
technique = "skip-locked"
"""


def test_a_held_snapshot_is_in_the_trace_with_what_the_database_told(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    ran = bench.run_of(EXPERIMENT, STUB_SERVICES="")
    assert ran.code == 0, ran.told
    (found,) = exported.read(bench.latest.exported_file).traces
    assert (found.seconds, found.errors) == (SECONDS, {})
    assert found.fault is not None
    assert found.fault.kind == "hold-snapshot"
    assert 0 < found.fault.begin_s < found.fault.end_s < SECONDS
    assert found.fault.before_per_s > 0
    assert (found.fault.dead_rows or 0) > 0, "nobody may remove what was popped meanwhile"
    assert [each.text for each in found.incidents if each.kind == "fault"] == ["hold-snapshot"]
    assert (found.growth or 0) > 0
    assert found.rows is not None
    assert found.totals["wal_records"] > 0
    assert found.totals["wal_syncs_per_operation"] > 0
    assert found.bloat["table_len"] > 0
    columns = {each.column for each in found.series}
    assert {"throughput_per_s", "dead_rows", "table_mib", "oldest_snapshot_s"} <= columns
    assert bench.still_running() == []
