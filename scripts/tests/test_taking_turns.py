"""Of a load that strategies take turns at: until when it goes on, and what is made of its turns."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
from jtl_lines import Sample, jtl
from stub_bench import Bench

from restbench.analyse.measurement import NOTHING
from restbench.analyse.measures import measurement
from restbench.commands import ordering
from restbench.deploy.service import Service
from restbench.drive import taking_turns
from restbench.drive.cutting import Course
from restbench.drive.measure import Task
from restbench.drive.taking_turns import LONGEST_STRETCH, Taken
from restbench.drive.turns import Mark, Turn
from restbench.experiment.records import Disturbance
from restbench.failures import EnvironmentProblem
from restbench.machine.placement import Cores
from restbench.schedule import attempts
from restbench.schedule.attempts import Group
from restbench.store.cell_folder import CellFolder
from restbench.store.store import Run

STRATEGIES = ["serial", "adaptive"]
TURN_S, MEASURED_S = 0.2, 0.3


@pytest.fixture
def tasks(tmp_path: Path) -> list[Task]:
    path = Path(Bench(tmp_path).experiment({"java": STRATEGIES}))
    rule = f"turns = [{{ turn_s = {TURN_S}, measured_s = {MEASURED_S} }}]"
    text = path.read_text().replace("seed = 3", 'seed = 3\nclient = "streaming"')
    path.write_text(text.replace("blocks = 1", f"blocks = 1\n{rule}"))
    order = ordering.order_for(str(path), "p", "", [])
    group = Group(order, Run(tmp_path / "run"), order.plan, lambda _line: None)
    return sorted(
        (attempts.task_of(group, each, Cores((0,), (0,)), None) for each in order.plan),
        key=lambda task: STRATEGIES.index(task.cell.strategy),
    )


class Clock:
    """A course under which a turn of each strategy is over at each wait, if there are any."""

    def __init__(self, turns: list[Turn]) -> None:
        self.turns, self.now_s = turns, 0.0

    def wait(self, seconds: float, phase: str, _elapsed_s: float) -> None:
        assert phase == "window"
        self.now_s += seconds

    def read(self, _path: Path) -> list[Turn]:
        return self.turns[: round(self.now_s / taking_turns.LOOK_S)]


def turn(strategy: str, at_ms: int, ms: int = 160) -> Turn:
    return Turn(strategy, Mark(at_ms, at_ms, at_ms // 10), Mark(at_ms + ms, at_ms + 90, at_ms // 9))


def rounds(
    tasks: list[Task], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> tuple[list[Turn], list[tuple[float, float]]]:
    told: list[tuple[float, float]] = []
    monkeypatch.setattr("restbench.drive.taking_turns.time.monotonic", lambda: clock.now_s)
    monkeypatch.setattr("restbench.drive.taking_turns.time.time", lambda: 0.0)
    monkeypatch.setattr("restbench.drive.taking_turns.turns.read", clock.read)
    course, folder = cast("Course", clock), CellFolder(Path())
    found = taking_turns._rounds(course, tasks, folder, lambda *now: told.append(now))
    return found, told


def test_it_goes_on_until_each_was_measured_long_enough_in_whole_rounds(
    tasks: list[Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    every = [turn(name, 200 * number) for number, name in enumerate(STRATEGIES * 4)]
    found, told = rounds(tasks, Clock(every), monkeypatch)
    assert found == every[:4]  # twice 0.16 s each
    assert told[-1] == (pytest.approx(0.32), MEASURED_S)


def test_turns_that_never_come_end_it_and_the_line_says_what_to_change(
    tasks: list[Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock([turn("serial", 0)] * 4000)  # two of them are a round, but not of both
    with pytest.raises(EnvironmentProblem, match=r"serial, adaptive: .* give them a longer turn_s"):
        rounds(tasks, clock, monkeypatch)
    assert clock.now_s >= MEASURED_S * len(tasks) * LONGEST_STRETCH


def taken(beside: Disturbance, *, changed: bool = False) -> Taken:
    found = [turn("serial", 1000), turn("adaptive", 1300), turn("serial", 1600)]
    return Taken(found, beside, compilers_share=0.1, processes=(1,), changed=changed)


@pytest.fixture(autouse=True)
def own_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Service, "attached", False)


CALM = Disturbance(foreign_pct=0.5, steal_pct=0.2)
OURS = Service("java", "http://127.0.0.1:1")


def test_a_cell_has_the_cpu_time_and_the_requests_of_its_own_turns(tasks: list[Task]) -> None:
    cell = tasks[0].cell
    before: dict[str, float | None] = {"serial": 10.0, "adaptive": 3.0}
    after: dict[str, float | None] = {"serial": 25.0, "adaptive": 4.0}
    usage = taking_turns._usage(OURS, cell, taken(CALM), before, after)
    assert usage.service_cpu_ms == 180
    assert usage.compilers_cpu_ms == pytest.approx(18)
    assert usage.service_requests == 15
    assert usage.beside == CALM


def test_nothing_is_known_of_processes_that_were_not_the_same(tasks: list[Task]) -> None:
    usage = taking_turns._usage(OURS, tasks[0].cell, taken(CALM, changed=True), {}, {})
    assert usage.service_cpu_ms is None
    assert usage.service_requests is None


@pytest.mark.parametrize(
    ("beside", "flag"),
    [
        (Disturbance(foreign_pct=5.1, steal_pct=0.0), "foreign-load"),
        (Disturbance(foreign_pct=0.0, steal_pct=1.1), "steal"),
        (CALM, None),
    ],
)
def test_what_others_did_meanwhile_is_judged_without_a_collector(
    tasks: list[Task], tmp_path: Path, beside: Disturbance, flag: str | None
) -> None:
    run, task = Run(tmp_path / "run"), tasks[0]
    folder = run.cell(1, task.cell.id)
    folder.path.mkdir(parents=True)
    ends = [*range(1000, 1160, 4), *range(1600, 1760, 4)]
    folder.samples.write_text(jtl([Sample(end, 8) for end in ends]))
    window = taking_turns._window(task, taken(beside), run, 400)
    assert window.turns == ((1000, 1160), (1600, 1760))
    assert (window.seconds, window.ended) == (pytest.approx(0.32), "enough")
    usage = taking_turns._usage(OURS, task.cell, taken(beside), {}, {})
    found = measurement(task.record("measured", window=window, usage=usage), folder, NOTHING)
    assert found.samples == len(ends)
    assert found.throughput_per_s == pytest.approx(len(ends) / 0.32)
    assert found.service_cpu_pct == pytest.approx(100 * 180 / 320)
    assert found.timeline is None
    assert set(found.flags) & {"foreign-load", "steal", "no-sar"} == ({flag} if flag else set())


@pytest.mark.parametrize(("load_start_ms", "short"), [(-4000, False), (500, True), (None, True)])
def test_a_strategy_that_came_late_was_warmed_up_by_the_others(
    tasks: list[Task], tmp_path: Path, load_start_ms: int | None, *, short: bool
) -> None:
    run, task = Run(tmp_path / "run"), tasks[0]
    folder = run.cell(1, task.cell.id)
    folder.path.mkdir(parents=True)
    folder.samples.write_text(jtl([Sample(end, 8) for end in range(1000, 1160, 4)]))
    window = taking_turns._window(task, taken(CALM), run, load_start_ms)
    usage = taking_turns._usage(OURS, task.cell, taken(CALM), {}, {})
    record = task.record("measured", window=window, usage=usage)
    planned = record.model_copy(update={"warmup_s": 5.0})
    assert ("duration" in measurement(planned, folder, NOTHING).flags) is short
