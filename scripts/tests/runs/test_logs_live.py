"""Lines of a log on both real services: every answer is the one that another program found."""

from __future__ import annotations

from pathlib import Path

import pytest
from stub_bench import Bench

from restbench.analyse import measures

pytestmark = pytest.mark.live

EXPERIMENT = """
name = "live-logs"
title = "Ten lines by 64 rules on both services"
seed = 1

[settings.java]
JAVA_OPTIONS = "-Xmx256m"

[complexities]
logs-low = { rules = "R64", lines = 10 }

[profiles.p]
minutes = 0.1
blocks = 1
warm_max_s = { java = 0.5, python = 0.0 }

[[cells]]
name = "Java"
service = "java"
strategy = ["serial", "shared-pool"]
complexity = "logs-low"
users = 4

[[cells]]
name = "Python"
service = "python"
strategy = ["serial", "process-per-element", "process-per-request"]
complexity = "logs-low"
users = 4
"""


def test_every_answer_of_both_services_is_right(tmp_path: Path) -> None:
    (tmp_path / "logs.toml").write_text(EXPERIMENT)
    bench = Bench(tmp_path)
    done = bench.restbench("run", str(tmp_path / "logs.toml"), "--profile", "p", STUB_SERVICES="")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = measures.rows(bench.latest)
    assert sorted((row.cell.service, row.cell.strategy) for row in rows) == [
        ("java", "serial"),
        ("java", "shared-pool"),
        ("python", "process-per-element"),
        ("python", "process-per-request"),
        ("python", "serial"),
    ]
    for row in rows:
        assert (row.value("throughput_per_s") or 0) > 0, (row.cell.id, row.flags)
        assert (row.value("wrong_answers"), row.value("errors")) == (0, 0), row.cell.id
        assert (row.value("samples") or 0) > 0
    assert bench.events("count-mismatch") == []
    assert bench.left_running() == []
