"""A fresh JVM meets the load itself before anything is measured on it; nothing of that stays."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from stub_loads import Loads

from restbench.deploy.service import Service
from restbench.drive import practice, warming
from restbench.drive.session import Session
from restbench.experiment import experiment
from restbench.experiment.cell import Cell
from restbench.experiment.order import Order
from restbench.experiment.plan import plan
from restbench.experiment.selection import Where
from restbench.machine.placement import Cores
from restbench.store.store import Run

EXPERIMENT = """
name = "practised"
title = "Of four sizes and a mix"
seed = 3
client = "streaming"

[complexities]
large = { rows = 40, inner = 10, columns = 10 }
small = { rows = 2, inner = 2, columns = 2 }
huge = { rows = 90, inner = 90, columns = 90 }
middle = { rows = 9, inner = 9, columns = 9 }

[mixes]
mix = { small = 0.9, huge = 0.1 }

[profiles.p]
blocks = 1
service_warmup_s = { java = 4.0, python = 1.0 }
practice_s = { java = 8.0 }
warmup_s = 1.0
window_min_s = 1.0
window_max_s = 1.0
slow_window_max_s = 1.0
enough_completions = 40

[[cells]]
name = "java"
service = "java"
strategy = ["pinned", "serial"]
complexity = ["large", "small", "mix", "huge", "middle"]
users = [2, 3, 10, 60]

[[cells]]
name = "python"
service = "python"
strategy = ["serial"]
complexity = ["small", "middle"]
users = [2]
"""


@pytest.fixture
def order() -> Order:
    read = experiment.Experiment.model_validate(tomllib.loads(EXPERIMENT))
    planned = plan(read, read.profile("p"), Where())
    return Order(read, EXPERIMENT, "p", planned, "restbench run")


def cells_of(order: Order, service: str) -> list[Cell]:
    return [each.cell for each in order.plan if each.cell.service == service]


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Loads:
    return Loads(monkeypatch, tmp_path)


@pytest.fixture
def practised(order: Order, tmp_path: Path) -> Callable[[list[Cell]], None]:
    session = Session(Service("java", "http://127.0.0.1:1"), Cores((0,), (1,)), (), "stub")
    return lambda cells: practice.practise(order, Run(tmp_path), cells, session)


def test_each_strategy_is_practised_with_its_middle_size_and_few_users_and_nothing_is_left(
    order: Order, loads: Loads, practised: Callable[[list[Cell]], None]
) -> None:
    practised(cells_of(order, "java"))
    told = {(each.cell.strategy, each.cell.complexity, each.cell.users) for each in loads.sent}
    assert told == {("serial", "large", 10), ("pinned", "large", 10)}
    assert len(loads.sent) == 2
    assert loads.waited == [8.0, 8.0]
    assert loads.ended()


def test_a_load_comes_up_while_the_one_before_is_at_work(
    order: Order, loads: Loads, practised: Callable[[list[Cell]], None]
) -> None:
    practised(cells_of(order, "java"))
    first, second = (each.cell.strategy for each in loads.sent)
    assert loads.events == [
        f"{first} comes up",
        f"{second} comes up",
        f"{first} is let go",
        f"{first} is stopped",
        f"{second} is let go",
        f"{second} is stopped",
    ]


@pytest.mark.parametrize(
    ("complexities", "middle"),
    [(["huge"], "huge"), (["huge", "small"], "small"), (["huge", "small", "middle"], "middle")],
)
def test_the_middle_size_is_that_of_what_is_measured(
    order: Order, complexities: list[str], middle: str
) -> None:
    cells = [cell for cell in cells_of(order, "java") if cell.complexity in complexities]
    assert {sizes[0].complexity for sizes in practice.cells_of(cells, order)} == {middle}


@pytest.mark.parametrize(
    ("takes_s", "expected"),
    [
        # Ten users' are done in the practice's 8 s.
        ({"large": 0.8, "middle": 9.0, "small": 9.0}, "large after 1"),
        # Large twice, for the first may have met code not compiled.
        ({"large": 0.9, "middle": 0.8, "small": 9.0}, "middle after 3"),
        # None is bearable: the smallest, without a look.
        ({"large": 9.0, "middle": 9.0, "small": 9.0}, "small after 4"),
    ],
)
def test_a_size_whose_requests_would_stay_in_flight_too_long_is_not_practised(
    order: Order,
    loads: Loads,
    practised: Callable[[list[Cell]], None],
    takes_s: dict[str, float],
    expected: str,
) -> None:
    for complexity, seconds in takes_s.items():
        loads.takes(order, complexity, seconds)
    practised([cell for cell in cells_of(order, "java") if cell.strategy == "serial"])
    (sent,) = loads.sent
    assert f"{sent.cell.complexity} after {len(loads.posted)}" == expected
    assert sent.cell.users == 10


def test_where_no_users_are_more_than_the_clients_it_was_warmed_up_with_they_are_the_most(
    order: Order,
) -> None:
    few = [cell for cell in cells_of(order, "java") if cell.users <= practice.WARMING_CLIENTS]
    assert {sizes[0].users for sizes in practice.cells_of(few, order)} == {3}


@pytest.mark.parametrize("drains", [True, False])
def test_work_that_it_leaves_behind_is_said_with_the_first_cell(
    order: Order, tmp_path: Path, loads: Loads, drains: bool
) -> None:
    loads.drains = drains
    session = Session(Service("java", "http://127.0.0.1:1"), Cores((0,), (1,)), (), "stub")
    practice.practise(order, Run(tmp_path), cells_of(order, "java"), session)
    assert ("busy-before" in session.take_flags()) is not drains


def test_a_practice_that_fails_stops_its_load_and_the_next_has_its_turn(
    order: Order, loads: Loads, practised: Callable[[list[Cell]], None]
) -> None:
    loads.fails = True
    practised(cells_of(order, "java"))
    assert [each.split()[-1] for each in loads.events].count("go") == 2
    assert loads.ended()


def test_a_load_that_does_not_come_up_keeps_no_other_from_its_turn(
    order: Order, loads: Loads, practised: Callable[[list[Cell]], None]
) -> None:
    loads.refuses = "serial"
    practised(cells_of(order, "java"))
    assert [each.cell.strategy for each in loads.sent] == ["pinned"]
    assert loads.waited == [8.0]
    assert loads.ended()


def test_a_service_that_is_not_said_to_practise_does_not(
    order: Order, tmp_path: Path, loads: Loads
) -> None:
    session = Session(Service("python", "http://127.0.0.1:1"), Cores((0,), (1,)), (), "stub")
    practice.practise(order, Run(tmp_path), cells_of(order, "python"), session)
    assert loads.sent == []


def test_its_time_is_planned_for(order: Order) -> None:
    java, python = cells_of(order, "java"), cells_of(order, "python")
    assert order.profile.warm_seconds(java) == 2 * (4.0 + 8.0)
    assert order.profile.warm_seconds([java[0]]) == 4.0 + 8.0
    assert order.profile.warm_seconds(python) == 1.0


@pytest.mark.parametrize("lives", [True, False])
def test_a_service_that_dies_of_it_is_not_measured_on(
    order: Order, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lives: bool
) -> None:
    session = Session(Service("java", "http://127.0.0.1:1"), Cores((0,), (1,)), ("serial",), "stub")
    alive = [True]
    monkeypatch.setattr(Service, "serves", lambda _: alive[0])
    monkeypatch.setattr(warming, "_warm", lambda *_: None)
    monkeypatch.setattr(warming, "practise", lambda *_: alive.__setitem__(0, lives))
    java = [each for each in order.plan if each.cell.service == "java"]
    warming.warm_all(order, Run(tmp_path), java, session)
    assert session.spent is not lives
