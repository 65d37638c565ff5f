"""sar and pidstat beside a cell: one that ends too early is noticed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from stub_service import Stub, serving
from waiting import await_true

from restbench.deploy import service
from restbench.deploy.service import Service
from restbench.drive import monitor
from restbench.experiment.records import Window
from restbench.observe import sysstat
from restbench.store.folders import CellFolder


@pytest.fixture
def attached() -> Iterator[Service]:
    with serving(Stub("java", {})) as stub, service.attach("java", stub.url) as running:
        yield running


@pytest.mark.parametrize("killed", ["sar", "pidstat"])
def test_a_collector_that_was_killed_is_named(
    attached: Service, tmp_path: Path, killed: str
) -> None:
    with monitor.collectors(attached, os.getpid(), CellFolder(tmp_path)) as running:
        assert monitor.ended(running) == []
        os.kill(running[killed].pid, signal.SIGKILL)
        await_true(lambda: monitor.ended(running))
        assert monitor.ended(running) == [killed]


def test_what_sar_saw_until_the_end_is_read(attached: Service, tmp_path: Path) -> None:
    folder, sizes = CellFolder(tmp_path), set[int]()

    def has_grown_twice() -> bool:
        sizes.update({folder.sar_binary.stat().st_size} if folder.sar_binary.exists() else set())
        return len(sizes) > 2

    with monitor.collectors(attached, os.getpid(), folder):
        assert await_true(has_grown_twice), "by a sample each time"
    span = Window(start_ms=0, end_ms=round(time.time() * 1000) + 60_000)
    assert sysstat.machine_use(folder.sar_json, span) is not None


def test_collectors_keep_off_the_services_cores(attached: Service, tmp_path: Path) -> None:
    last = max(os.sched_getaffinity(0))
    with monitor.collectors(attached, os.getpid(), CellFolder(tmp_path), str(last)) as running:
        for each in running.values():
            # A new process has ours until it is what it shall be.
            assert await_true(lambda pid=each.pid: os.sched_getaffinity(pid) == {last})
