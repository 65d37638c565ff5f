"""A run whose services compile while they are under load, as JVMs do."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from stub_bench import Bench, Ran
from stub_service import COMPILES_S

from restbench.analyse.audit import COMPILING_LIMIT_PCT

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def compiling(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """One of them is done with it before the longest warm-up is over, one is not."""
    bench = Bench(tmp_path_factory.mktemp("compiling"))
    path = Path(bench.experiment({"java": ["serial"], "python": ["process-per-request"]}))
    longest = "warmup_s = 0.3\nwarmup_max_s = 8.0"
    path.write_text(path.read_text().replace("warmup_s = 0.3", longest))
    faults = {"serial": "compiles", "process-per-request": "compiles-on"}
    return Ran(bench, bench.restbench("run", str(path), "--profile", "p", faults=faults))


def test_a_window_waits_for_the_compilers(compiling: Ran) -> None:
    assert compiling.done.returncode == 0, compiling.done.stdout + compiling.done.stderr
    record = compiling.bench.record("java", "serial")
    assert record.window is not None
    with compiling.bench.latest.cell(1, record.cell.id).samples.open() as samples:
        first_ms = min(int(line["timeStamp"]) for line in csv.DictReader(samples))
    assert record.window.start_ms - first_ms >= 1000 * COMPILES_S["compiles"]
    assert record.usage is not None
    assert record.usage.compilers_cpu_ms == 0
    assert "compiling" not in compiling.bench.row("serial")["flags"].split()


def test_a_window_that_can_wait_no_longer_is_marked(compiling: Ran) -> None:
    record = compiling.bench.record("python", "process-per-request")
    assert record.usage is not None
    assert record.usage.service_cpu_ms is not None
    assert record.usage.compilers_cpu_ms is not None
    share_pct = 100 * record.usage.compilers_cpu_ms / record.usage.service_cpu_ms
    assert COMPILING_LIMIT_PCT < share_pct <= 100
    row = compiling.bench.row("process-per-request", "python")
    assert "compiling" in row["flags"].split()
