"""A run that is interrupted: what was measured is kept, and nothing goes on without it."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest
from stub_bench import PATIENCE_S, Bench

pytestmark = pytest.mark.live


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_keeps_what_was_measured_and_leaves_nothing_running(
    bench: Bench, sent: signal.Signals
) -> None:
    path = bench.experiment({"java": ["serial", "pinned"]})
    faults = {bench.second_cell(path): "late"}  # it lasts for seconds
    started = bench.start("run", path, "--profile", "p", faults=faults)
    interrupt_in_second_cell(bench, started, sent)
    _, err = started.communicate(timeout=PATIENCE_S)
    assert started.returncode == 130, err
    assert "interrupted" in err
    assert bench.still_running() == []  # sadc ends at its next sample once sar is gone
    assert bench.latest.manifest().status == "interrupted"
    done = bench.restbench("report", "latest")
    assert done.returncode == 0, done.stderr
    rows = [bench.row(strategy) for strategy in ("serial", "pinned")]
    assert sorted("not-measured" in row["flags"] for row in rows) == [False, True]


def interrupt_in_second_cell(
    bench: Bench, started: subprocess.Popen[str], sent: signal.Signals
) -> None:
    """Twice, as an impatient user does, once the second cell's load has written a sample."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and started.poll() is None:
        measured = list(bench.folder.glob("latest/raw/block-1/*/cell.json"))
        loads = [
            path.stat().st_size for path in bench.folder.glob("latest/raw/block-1/*/samples.jtl")
        ]
        if len(measured) == 1 and len(loads) == 2 and min(loads) > 300:
            started.send_signal(sent)
            time.sleep(0.05)
            started.send_signal(sent)
            return
        time.sleep(0.02)
    started.kill()
    raise AssertionError("there was no second cell")
