"""What a block does before its first trial: it warms each strategy up, and knows when to stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from closed_driver import answers, order
from fixture_run import cell
from made_blocks import block_of

from restbench.analyse.estimates import measurements
from restbench.drive.generator import CORRECT, WRONG
from restbench.experiment.cell import Cell
from restbench.failures import EnvironmentProblem, NotOffered
from restbench.machine import jvm, process
from restbench.schedule import preparation, under_load
from restbench.schedule.closed_load import ClosedDriver
from restbench.schedule.pace import TrialGroup
from restbench.schedule.preparation import WARM_SHARE, WARMING_S
from restbench.store.store import Run
from restbench.store.trials import Trial

SERIAL, LARGE, PINNED = (
    cell(f"java {of} 10") for of in ("serial low", "serial high", "pinned low")
)
LOGS = cell("java serial logs-low 10")
RIGHT = np.full(1_000, 10_000)
Warmed = Callable[..., list[Cell]]
WORK = {"low": 12_000, "high": 2_000_000, "logs-low": 640}


class Service:
    """A JVM whose compilers take a share of each short load's CPU time, load by load; its clock is
    the loads'."""

    def __init__(self, *shares: float) -> None:
        self.shares: Iterator[float] = iter(shares)
        self.now_s = self.compilers_ms = self.service_ms = 0.0
        self.loads: list[Cell] = []
        self.notes: list[str] = []

    def load(self, _here: object, which: Cell, _users: int, seconds: float) -> object:
        self.loads.append(which)
        self.now_s += seconds
        self.service_ms += 1000 * seconds
        self.compilers_ms += 1000 * seconds * next(self.shares)
        return object()


@pytest.fixture
def warmed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Warmed:
    """Warms cells up on a service; the cells that had a short load, in order."""

    def requests(which: Cell) -> Any:
        workload = "logs" if which is LOGS else "matrix"
        return {"one": SimpleNamespace(work=WORK[which.complexity], workload=workload)}

    def warm(service: Service, *cells: Cell, most_s: float = 40.0) -> list[Cell]:
        order = SimpleNamespace(profile=SimpleNamespace(warm_max_s={"java": most_s}))
        up = SimpleNamespace(of=lambda _cell: None)
        here = block_of(tmp_path, order, [TrialGroup("all", cells)], up=up)
        monkeypatch.setattr(here, "requests", requests)
        monkeypatch.setattr(preparation, "short_load", service.load)
        monkeypatch.setattr(preparation.time, "monotonic", lambda: service.now_s)
        monkeypatch.setattr(jvm, "compilers_cpu_ms", lambda _pids: service.compilers_ms)
        monkeypatch.setattr(process, "cpu_ms", lambda _pids: service.service_ms)
        preparation.warm(here)
        service.notes = here.view.notes
        return service.loads

    return warm


def test_rule_3_a_strategy_is_warm_when_its_compilers_are_quiet(warmed: Warmed) -> None:
    shares = (0.5, 1.01 * WARM_SHARE, 0.99 * WARM_SHARE, 1.0)
    assert warmed(Service(*shares), SERIAL) == 3 * [SERIAL]


def test_rule_3_a_service_is_warm_when_they_are_quiet_under_all_its_strategies(
    warmed: Warmed,
) -> None:
    service = Service(0.5, 0.0, 0.0, 0.3, 0.0, 0.0)
    assert warmed(service, SERIAL, PINNED) == 3 * [SERIAL, PINNED]


def test_rule_3_its_time_for_that_is_limited(warmed: Warmed) -> None:
    loads = warmed(Service(*100 * [0.5]), SERIAL, PINNED, most_s=4 * WARMING_S)
    assert loads == 2 * [SERIAL, PINNED], "both strategies' loads are the service's time"


@pytest.mark.parametrize(
    ("share", "by", "note"),
    [
        (0.0, "quiet", "block 1: warm after 1 s"),
        (
            0.5,
            "maximum",
            "block 1: warm after 2 s; the compilers of java-unbound-none were still busy at the "
            "maximum",
        ),
    ],
)
def test_rule_3_a_block_says_by_which_of_both_its_services_were_warm(
    tmp_path: Path, warmed: Warmed, share: float, by: str, note: str
) -> None:
    service = Service(0.5, *10 * [share])
    warmed(service, SERIAL, most_s=4 * WARMING_S)
    (block,) = Run(tmp_path).trials.blocks()
    assert block.facts["warm_by"] == {SERIAL.service_group.name: by}
    assert service.notes == [note]


def test_the_smallest_size_of_a_strategy_warms_it_up(warmed: Warmed) -> None:
    assert warmed(Service(0.0), LARGE, SERIAL) == [SERIAL]


def test_each_workload_of_a_strategy_is_warmed_up(warmed: Warmed) -> None:
    assert warmed(Service(0.0, 0.0), LARGE, SERIAL, LOGS) == [LOGS, SERIAL]


@pytest.mark.parametrize(
    ("lack", "kinds"),
    [(EnvironmentProblem, ["failed", "failed"]), (NotOffered, ["failed", "not-offered"])],
)
def test_a_service_that_did_not_come_up_may_offer_what_its_runtime_has(
    tmp_path: Path, lack: type[EnvironmentProblem], kinds: list[str]
) -> None:
    """A run that lacked all of its cells of an optional strategy was said to be whole."""
    optional = cell("java virtual-threads low 10")
    up = SimpleNamespace(lacks=lambda _cell: lack("its reason"))
    here = block_of(tmp_path, None, [TrialGroup("all", (SERIAL, optional))], up=up)
    preparation.look(here)
    assert [each.kind for each in here.file.events()] == kinds


def test_cells_of_a_service_that_ended_and_does_not_come_up_are_lost_and_others_go_on(
    tmp_path: Path,
) -> None:
    up = SimpleNamespace(of=lambda _cell: None, lacks=lambda _cell: "out of memory")
    here = block_of(tmp_path, None, [TrialGroup("all", (SERIAL, PINNED))], up=up)
    assert under_load._counts(here) == {}
    preparation.prove(here)
    assert here.lost == dict.fromkeys((SERIAL, PINNED), "out of memory")


class Answers:
    """What a service that stays up answers to each load of a cell; without a word all is right."""

    def __init__(self, *outcomes: int, of: Cell) -> None:
        self.outcomes, self.of = outcomes, of
        self.asked: list[str] = []

    def trial(self, name: str, *_given: object) -> Any:
        self.asked.append(name)
        sent = answers([0.01] * 4)
        sent.first_error = "another product"
        if name == self.of.id:
            sent.records["outcome"][: len(self.outcomes)] = self.outcomes
        return sent

    def block(self, folder: Path, number: int) -> Any:
        """A block of two cells, with this behind its load generator."""
        service = SimpleNamespace(pids=tuple, serves=lambda: True)
        running = SimpleNamespace(service=service, cores=SimpleNamespace(service=(0, 1)))
        up = SimpleNamespace(of=lambda _cell: running, up={"java": running})
        asked_for = order()
        asked_for.profile.warm_max_s = {"java": 40.0}
        here = block_of(folder, asked_for, [TrialGroup("all", (SERIAL, PINNED))], number, up=up)
        matrix = {"one": SimpleNamespace(workload="matrix", work=1)}
        here.requests = lambda _cell: matrix
        here.load.trial = self.trial
        return here


@pytest.mark.parametrize(
    "loads",
    [
        pytest.param([preparation.warm], id="warm-up"),
        pytest.param([lambda here: ClosedDriver(here).pilot()], id="pilot"),
        pytest.param([preparation.warm] * 2, id="told once"),
    ],
)
def test_rule_5_a_wrong_answer_to_a_load_before_the_trials_voids_its_cell_there_and_nothing_else(
    tmp_path: Path, loads: list[Callable[[Any], None]]
) -> None:
    """Among right ones it was seen by nobody: the cell had its trials, and all of these counted."""
    for number, outcomes in ((1, ()), (2, (CORRECT, WRONG)), (3, ())):
        service = Answers(*outcomes, of=PINNED)
        here = service.block(tmp_path, number)
        for load in loads:
            load(here)
        assert service.asked == len(loads) * [SERIAL.id, PINNED.id]
        assert here.lost == {}, "its trials go on"
        here.file.add(Trial(number, 1, name, 10, 0, 1.0, RIGHT) for name in (SERIAL.id, PINNED.id))
    told = [(each.kind, each.block, each.cell) for each in here.file.events()]
    assert told == [("wrong", 2, PINNED.id)]
    by_cell = measurements(here.file.trials(), here.file.events(), here.file.blocks(), cores=2)
    flags = {(name, each.block): each.flags for name, found in by_cell.items() for each in found}
    void = flags.pop((PINNED.id, 2))
    assert "wrong-answers" in void
    assert flags == dict.fromkeys(flags, ())
    assert len(flags) == 2 * 3 - 1


def test_where_every_answer_was_wrong_that_is_told_and_not_only_that_none_was_right(
    tmp_path: Path,
) -> None:
    """A run with nothing but wrong products ended as one whose service had been away."""
    here = Answers(*4 * [WRONG], of=PINNED).block(tmp_path, 1)
    preparation.warm(here)
    assert here.lost == {PINNED: "another product"}
    by_cell = measurements([], here.file.events(), here.file.blocks(), cores=2)
    assert {name: [each.flags for each in found] for name, found in by_cell.items()} == {
        PINNED.id: [("wrong-answers", "failed")]
    }


def test_what_ran_on_other_cores_than_it_was_given_is_kept_at_its_cells_and_nothing_else_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = cell("python serial low 10")
    shares = {SERIAL.service_group: 0.25, python.service_group: 0.0}
    up = {group: SimpleNamespace(off_cores_share=lambda of=of: of) for group, of in shares.items()}
    groups = [TrialGroup("all", (SERIAL, PINNED, python))]
    here = block_of(tmp_path, None, groups, up=SimpleNamespace(up=up))
    for name in ("look", "prove"):
        monkeypatch.setattr(preparation, name, lambda _here: None)
    monkeypatch.setattr(under_load, "_counts", lambda _here: {})
    monkeypatch.setattr(under_load, "_check_counts", lambda *_of: None)
    with under_load.proven(here):
        pass
    (block,) = here.file.blocks()
    assert block.facts["off_cores_share"] == {SERIAL.id: 0.25, PINNED.id: 0.25}
