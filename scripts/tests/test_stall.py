"""A service that stops for a while: open load shows the stall at its size, closed load hides it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from ports import free_port

from restbench.analyse import open_samples
from restbench.deploy import service
from restbench.deploy.service import Service
from restbench.drive import load, open_step
from restbench.drive.open_step import Rate, Way
from restbench.drive.payload import ROWS, make_payload
from restbench.experiment.arrivals import Phases
from restbench.experiment.cell import Cell, Shape
from restbench.machine.placement import allowed_cores, core_list
from restbench.machine.whole_lines import pieces
from restbench.store.cell_folder import CellFolder

pytestmark = pytest.mark.live

USERS = 10
DELAY_MS = 5
STALL_AFTER_S, STALL_S = 1.5, 2.0
PHASES = Phases(warmup_s=0.5, window_s=5.0, tail_s=3.0)
TOLERANCE = 0.15
#: What waited through the stall is served one after the other: that takes a moment too, and longer
#: on a busy machine, which adds to every time and takes from none.
BUSY_MS = 2000
CELL = Cell(service="java", strategy="serial", complexity="tiny", users=USERS)


@contextmanager
def stalling(folder: Path) -> Iterator[Service]:
    payload = make_payload(Shape(rows=2, inner=2, columns=2), 1, 0, 50)
    payload.write(folder)
    behaviour = {
        "port": free_port(),
        "rows_file": str(folder / ROWS),
        "delay_ms": DELAY_MS,
        "stall_after_s": STALL_AFTER_S,
        "stall_s": STALL_S,
    }
    command = [sys.executable, "-m", "restbench.calibrate.stub", json.dumps(behaviour)]
    with subprocess.Popen(command) as stub:
        try:
            attached = service.attach("java", f"http://127.0.0.1:{behaviour['port']}")
            yield attached
            attached.stop()
        finally:
            stub.kill()


def test_open_load_shows_a_stall_at_its_analytic_size(tmp_path: Path) -> None:
    rate = Rate(CELL, 1, 50.0, PHASES, "poisson", seed=3)
    folder = CellFolder(tmp_path / "step")
    with stalling(tmp_path) as stub:
        open_step.offer(stub, rate, Way(tmp_path, core_list(allowed_cores())), folder)
    answered = open_samples.read(folder.samples, folder.arrivals, PHASES.window_ms)
    expected_ms = analytic_ms(folder)
    assert answered.unsent == answered.errors == 0
    assert answered.correct_ms.size == len(expected_ms) == 250
    for percent in (90, 95, 99, 100):
        shown, truth = answered.correct_ms.percentile(percent), np.percentile(expected_ms, percent)
        assert is_shown(shown, truth), f"p{percent}"
    assert is_shown(answered.correct_ms.mean, expected_ms.mean())
    # What could not be sent in the stall, as every user waited, is told as late.
    in_stall = (expected_ms > DELAY_MS).sum()
    assert answered.lateness_ms.above(50) >= 0.8 * (in_stall - USERS)
    # Counted from the moment of sending, the same load would have hidden the stall.
    sent_ms, intended_ms = (
        each.percentile(95) for each in (answered.from_sending_ms, answered.correct_ms)
    )
    assert sent_ms < intended_ms / 2


def is_shown(found_ms: float, truth_ms: float) -> bool:
    """At its size; what a busy machine adds is not the plan's doing."""
    return (1 - TOLERANCE) * truth_ms <= found_ms <= (1 + TOLERANCE) * truth_ms + BUSY_MS


def analytic_ms(folder: CellFolder) -> np.ndarray:
    """Each arrival of the window waits for the stall's end, and for nothing else."""
    sent = pl.read_csv(folder.samples).join(pl.read_csv(folder.arrivals), on="arrival")
    start_ms = sent["intended_ms"][0] - sent["offset_ms"][0]
    # The stub counts from the first request that it got.
    stall_ends_ms = sent["timeStamp"].min() - start_ms + (STALL_AFTER_S + STALL_S) * 1000
    first, end = PHASES.window_ms
    inside = sent["offset_ms"].filter(sent["offset_ms"].is_between(first, end, closed="left"))
    wait_ms = stall_ends_ms - inside.to_numpy()
    return np.where((wait_ms > 0) & (wait_ms <= STALL_S * 1000), wait_ms, 0) + DELAY_MS


def test_closed_load_hides_the_same_stall(tmp_path: Path) -> None:
    folder = CellFolder(tmp_path / "closed")
    folder.path.mkdir()
    with stalling(tmp_path) as stub:
        wanted = load.Target(CELL, stub.address, tmp_path, duration_s=30)
        jmeter = load.start(wanted, folder, core_list(allowed_cores()))
        try:
            jmeter.await_started()
            elapsed_ms = after_the_stall(folder)
        finally:
            jmeter.stop()
    assert is_shown(elapsed_ms.max(), STALL_S * 1000)
    assert np.percentile(elapsed_ms, 90) < STALL_S * 1000 / 4


def after_the_stall(folder: CellFolder) -> np.ndarray:
    """Every response time, once one is of the stall's size and others are answered again."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        whole = next(pieces(folder.samples), b"") if folder.samples.exists() else b""
        elapsed_ms = pl.read_csv(whole)["elapsed"].to_numpy() if whole else np.zeros(0)
        if elapsed_ms.max(initial=0) >= STALL_S * 500 > elapsed_ms[-1]:
            return elapsed_ms
        time.sleep(0.1)
    raise AssertionError("no response was as slow as the stall")
