"""On which cores services and load generator run, as a cell's placement and the machine say."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fixture_run import cell
from made_blocks import View, order_of

from restbench.drive import generator
from restbench.failures import EnvironmentProblem
from restbench.schedule import allocation, block, deployments, under_load
from restbench.schedule.block_run import BlockOrder
from restbench.schedule.deployments import Deployments
from restbench.store import store
from restbench.store.store import Run

#: By the cores of a machine that nobody has calibrated: service unbound, bound to core 0, JMeter.
PLACES = {(0, 1): ("0,1", "0", None), (0, 1, 2, 3): ("0,1", "0", "2,3")}


@pytest.fixture(params=PLACES)
def allowed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[int, ...]:
    monkeypatch.setattr(store, "allowed_cores", lambda: request.param)
    cores: tuple[int, ...] = request.param
    return cores


def test_a_service_is_started_on_the_cores_of_its_cells_placement(
    allowed: tuple[int, ...], tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[str | None] = []
    order = order_of(tmp_path, 1, 1)

    def start(_name: str, _front: str, cores: str | None, _folder: Path, **_more: Any) -> None:
        given.append(cores)
        raise EnvironmentProblem("not here")

    monkeypatch.setattr(deployments.service, "start", start)
    for placement in ("unbound", "core0"):
        Deployments(run, 1, order).start([cell(f"java serial low 10 {placement}").service_group])
    unbound, bound, _ = PLACES[allowed]
    assert given == [unbound, unbound, bound, bound], "each has a second attempt"


def test_the_load_generator_has_its_own_cores_where_there_are_enough_and_the_block_names_them(
    allowed: tuple[int, ...], tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[str | None] = []

    @contextmanager
    def services(*_of: Any, **_more: Any) -> Iterator[Any]:
        yield SimpleNamespace()

    def started(_users: int, _folder: Path, cores: str | None) -> Any:
        given.append(cores)
        raise EnvironmentProblem("no JMeter here")

    monkeypatch.setattr(under_load, "services", services)
    monkeypatch.setattr(generator, "started", started)
    order = order_of(tmp_path, 1, 1)
    wanted = BlockOrder(order, run, View(), 1, allocation.groups_of(order), 60.0)
    with pytest.raises(EnvironmentProblem, match="no JMeter here"):
        block.measure(wanted)
    assert given == [PLACES[allowed][2]]
    (begun,) = run.trials.blocks()
    own = [2, 3] if len(allowed) == 4 else [0, 1]
    assert begun.facts["load_cores"] == own
