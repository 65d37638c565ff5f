"""Messages on both real services and a real database, in one short run: nothing lost, nothing
twice, every technique what it is called, and a limit next to it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from stub_bench import Bench

from restbench.analyse import measures
from restbench.analyse.messages import DATABASE, database_cost, share_of_limit
from restbench.prove.messages import CLAIMS
from restbench.store import exported

pytestmark = pytest.mark.live

EXPERIMENT = """
name = "live-messages"
title = "Messages on both services"
seed = 1
driver = "messages"
views = ["messages"]

[settings.java]
JAVA_OPTIONS = "-Xmx256m"

[complexities]
small = { characters = 200, queues = 10, filled = 100 }

[pgbench]
service = "java"
technique = ["skip-locked", "statements"]

[pgbench_at_rate]
service = "java"
technique = "statements"

[profiles.p]
minutes = 0.6
blocks = 1
warm_max_s = { java = 0.0, python = 0.0 }

[[cells]]
name = "Java"
service = "java"
strategy = "worker-pool"
complexity = "small"
users = 4
technique = TECHNIQUES

[[cells]]
name = "Python"
service = "python"
strategy = "worker-pool"
complexity = "small"
users = 4
technique = TECHNIQUES
"""


def test_messages_are_sent_popped_checked_and_held_against_the_limit(tmp_path: Path) -> None:
    every = json.dumps([*CLAIMS])
    bench = Bench(tmp_path)
    ran = bench.run_of(EXPERIMENT.replace("TECHNIQUES", every), STUB_SERVICES="")
    assert ran.code == 0, ran.told
    rows = measures.rows(bench.latest)
    assert len(rows) == 2 * len(CLAIMS)
    for row in rows:
        assert (row.value("throughput_per_s") or 0) > 0, (row.cell.id, row.flags)
        assert row.value("violations") == 0, row.cell.id
        kept = row.cell.technique != "memory"
        took = {name: row.value(name) for name in DATABASE}
        assert None not in took.values(), row.cell.id
        assert (took["database_memory_mib"] or 0) > 1, row.cell.id
        # The write-ahead log has the bodies of the messages: half of all operations are sends.
        assert not kept or (took["database_wal_kib_per_request"] or 0) > 0.09, row.cell.id
        assert ((row.value("database_ms") or 0) > 0) is kept, row.cell.id
    at_rate = {row.cell.technique for row in rows if database_cost(row, at_rate=True).estimate}
    assert at_rate == {"statements"}
    limited = {row.cell.technique for row in rows if share_of_limit(row).estimate}
    assert limited == {"skip-locked", "statements"}
    # What a strategy does with a matrix is test_live's.
    proofs = {
        (each.service, each.strategy): each
        for each in bench.latest.proofs()
        if " " in each.strategy
    }
    assert {of: each.evidence for of, each in proofs.items() if not each.does} == {}
    at_work = "20 connections and 20 threads of worker-pool"
    claimed = (at_work, *(f"technique {each}" for each in CLAIMS))
    assert {*proofs} == {(service, claim) for service in ("java", "python") for claim in claimed}
    assert "Of the limit" in bench.latest.report.read_text()
    databases = exported.read(bench.latest.exported_file).versions.databases or {}
    assert databases["usual"].version.startswith("PostgreSQL ")
    assert databases["usual"].settings["track_functions"] == "pl"
    assert bench.latest.messages_csv.exists()
    assert bench.still_running() == []
