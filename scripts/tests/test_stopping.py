"""The stop rule of the full profile, and the look at the machine before a cell."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fixture_run import cell

from restbench.analyse.measures import Measurement, Row
from restbench.drive import quiet
from restbench.experiment.cell import Shape
from restbench.experiment.records import Window
from restbench.machine import process
from restbench.schedule.stopping import imprecise, largest_half_width, verdict

WINDOW = Window(start_ms=0, end_ms=1_000, ended="enough")


def row(text: str, throughputs: list[float], flags: tuple[str, ...] = ()) -> Row:
    measured = tuple(
        Measurement(block=n, flags=flags, window=WINDOW, throughput_per_s=value)
        for n, value in enumerate(throughputs, start=1)
    )
    return Row(cell(text), Shape(rows=1, inner=1, columns=1), (), measured)


# t[.975; 4] = 2.776: with s / mean = 1.5811 % the relative half-width of 5 blocks is 1.963 %.
NARROW = [98.0, 99.0, 100.0, 101.0, 102.0]
WIDE = [97.0, 98.5, 100.0, 101.5, 103.0]


def test_the_allowed_half_width_is_g_over_one_plus_g() -> None:
    assert largest_half_width(0.02) == pytest.approx(0.0196078, abs=1e-7)


def test_a_cell_is_precise_when_its_t_interval_is_narrow_enough() -> None:
    assert imprecise([row("java serial low 10", [y * 0.99 + 1 for y in NARROW])], 0.02) == []
    assert imprecise([row("java serial low 10", WIDE)], 0.02) == ["java-serial-unbound-low-10u"]


def test_one_cell_that_is_not_precise_keeps_the_run_going() -> None:
    rows = [row("java serial low 10", [100.0] * 5), row("java pinned low 10", WIDE)]
    assert imprecise(rows, 0.02) == ["java-pinned-unbound-low-10u"]
    assert verdict(rows, 0.02, 5) == "1 of 2 cells are within 2.0% after 5 blocks"


def test_one_block_is_never_precise() -> None:
    assert imprecise([row("java serial low 10", [100.0])], 0.5) == ["java-serial-unbound-low-10u"]


def test_cells_that_can_get_no_number_do_not_keep_a_run_going() -> None:
    void = row("java serial low 10", WIDE, flags=("wrong-answers",))
    assert imprecise([void, row("java pinned low 10", [])], 0.02) == []


SERVICE = 7


def test_a_stranger_at_work_is_seen_and_our_own_service_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stat = tmp_path / "stat"
    used_ms = {SERVICE: 0.0, os.getpid(): 0.0}

    def two_seconds_of_cores(_seconds: float) -> None:
        """One is idle, the other has the service for 600 ms of it."""
        second = process.CLOCK_TICKS_PER_S
        stat.write_text(f"cpu  {second // 2} 0 {second // 2} {second} 0 0 0 0 0 0\ncpu0 1 2 3\n")
        used_ms[SERVICE] = 600.0

    def look(*pids: int) -> float:
        stat.write_text("cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 1 2 3\n")
        used_ms[SERVICE] = 0.0
        return quiet.look(pids).foreign_pct

    monkeypatch.setattr(quiet, "STAT", stat)
    monkeypatch.setattr(quiet.time, "sleep", two_seconds_of_cores)
    monkeypatch.setattr(process, "cpu_ms", lambda pids: sum(used_ms[pid] for pid in pids))
    assert look() == pytest.approx(50)
    assert look(SERVICE) == pytest.approx(20)


def test_the_machine_as_it_is_can_be_looked_at() -> None:
    seen = quiet.look((os.getpid(),), seconds=0.05)
    assert 0 <= seen.foreign_pct <= 100
    assert seen.load1 >= 0
