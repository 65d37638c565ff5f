"""What is seen of a cell while it runs: the readings, and how they stand on a terminal."""

from __future__ import annotations

import io
import os
from dataclasses import dataclass

import pytest
from fixture_run import cell
from rich.console import Console

from restbench.experiment.records import PlannedCell
from restbench.machine.live import LOOK_EVERY_S, Gauge, Live
from restbench.show.progress import ProgressView, readings

LOOK = Live(
    throughput_per_s=6675.4,
    mean_ms=1.0942,
    errors=0,
    service_cpu_pct=81.4,
    phase="window",
    elapsed_s=3.2,
)
LONG = PlannedCell(
    cell=cell("python process-per-request rows-200 60 core0"), block=3, order=7, test_ids=()
)


@dataclass
class Jtl:
    """A growing JTL, as `follower.Follower` shows it."""

    correct: int = 0
    correct_ms: int = 0
    others: int = 0
    polled: int = 0

    def add(self, *elapsed_ms: int) -> None:
        self.correct += len(elapsed_ms)
        self.correct_ms += sum(elapsed_ms)

    def poll(self) -> None:
        self.polled += 1


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def gauge_of(jtl: Jtl, pids: tuple[int, ...] = ()) -> tuple[Gauge, Clock]:
    clock = Clock()
    return Gauge(jtl, pids, clock), clock


def test_a_look_counts_only_what_came_since_the_look_before() -> None:
    jtl = Jtl()
    gauge, clock = gauge_of(jtl)
    jtl.add(10, 20, 30)
    clock.now_s += 1.5
    first = gauge.look("warm-up", 1.5)
    jtl.add(100, 200)
    jtl.others = 4
    clock.now_s += 2
    second = gauge.look("window", 0.5)
    assert first
    assert (first.throughput_per_s, first.mean_ms) == (2.0, 20.0)
    assert second == Live(1.0, 150.0, 4, None, "window", 0.5)


def test_nothing_is_looked_at_more_than_once_a_second() -> None:
    jtl = Jtl()
    gauge, clock = gauge_of(jtl)
    clock.now_s += 0.99 * LOOK_EVERY_S
    assert gauge.look("window", 1) is None
    assert jtl.polled == 0


def test_a_second_without_an_answer_has_no_mean() -> None:
    gauge, clock = gauge_of(Jtl())
    clock.now_s += 1
    look = gauge.look("window", 1)
    assert look
    assert (look.throughput_per_s, look.mean_ms) == (0.0, None)
    assert "no answer yet" in readings(look)


def test_the_cpu_share_is_that_of_the_service_s_processes() -> None:
    gauge, clock = gauge_of(Jtl(), (os.getpid(),))
    deadline = os.times().user + 0.3
    while os.times().user < deadline:
        pass
    clock.now_s += 1
    look = gauge.look("window", 1)
    assert look
    assert look.service_cpu_pct is not None
    assert look.service_cpu_pct >= 20


@pytest.mark.parametrize("width", [40, 60, 120])
def test_the_view_fits_terminals_of_any_width(width: int) -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=width, height=20)
    with ProgressView(console, 1800) as view:
        view.started(LONG, 36_000)
        view.measuring(LONG, LOOK)
        view._bar.refresh()
        shown = [
            "".join(segment.text for segment in line)
            for line in console.render_lines(view._bar.get_renderable())
        ]
    assert max(map(len, shown)) <= width
    assert len(shown) == 3
    assert shown[1].startswith("block 3  python-process-per-re")
    assert shown[2].startswith("window 3 s  6675/s  1.09 ms")


def test_where_there_is_no_terminal_a_look_prints_nothing() -> None:
    screen = io.StringIO()
    with ProgressView(Console(file=screen, width=100), 3) as view:
        view.started(LONG, 60)
        view.measuring(LONG, LOOK)
    assert screen.getvalue() == ""
