"""sar and pidstat beside a cell: one that ends too early is noticed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from stub_service import Stub, serving

from restbench import monitor, service
from restbench.cell_folder import CellFolder
from restbench.service import Service


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
