"""sar and pidstat beside a cell: one that ends too early is noticed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from stub_service import Stub, serving

from restbench.deploy import service
from restbench.deploy.service import Service
from restbench.drive import monitor
from restbench.experiment.records import Window
from restbench.observe import sysstat
from restbench.store.cell_folder import CellFolder


@pytest.fixture
def attached() -> Iterator[Service]:
    with serving(Stub("java", {})) as stub:
        running = service.attach("java", stub.url)
        yield running
        running.stop()


@pytest.mark.parametrize("killed", ["sar", "pidstat"])
def test_a_collector_that_was_killed_is_named(
    attached: Service, tmp_path: Path, killed: str
) -> None:
    with monitor.collectors(attached, os.getpid(), CellFolder(tmp_path)) as monitors:
        assert monitors.ended() == []
        os.kill(monitors.running[killed].pid, signal.SIGKILL)
        deadline = time.monotonic() + 60
        while not monitors.ended() and time.monotonic() < deadline:
            time.sleep(0.02)
        assert monitors.ended() == [killed]


def test_each_sample_of_sar_can_be_awaited_and_the_end_waits_for_none(
    attached: Service, tmp_path: Path
) -> None:
    folder = CellFolder(tmp_path)
    with monitor.collectors(attached, os.getpid(), folder) as monitors:
        for _ in range(2):
            before, deadline = monitors.sampled_bytes(), time.monotonic() + 60
            while monitors.sampled_bytes() == before and time.monotonic() < deadline:
                time.sleep(0.02)
            assert monitors.sampled_bytes() != before
    span = Window(start_ms=0, end_ms=round(time.time() * 1000) + 60_000, ended="capped")
    assert len(sysstat.core_series(folder.sar_json, span).at_ms) >= 1


def test_without_sar_there_is_no_sample_to_wait_for(
    attached: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(monitor, "missing_tools", lambda: ["sar"])
    with monitor.collectors(attached, os.getpid(), CellFolder(tmp_path)) as monitors:
        assert monitors.sampled_bytes() is None
