"""Trials of messages: which limits are measured among them, at which rate, on which queues."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import cast
from unittest.mock import MagicMock

import numpy as np
import psycopg
import pytest
from closed_driver import answers
from made_blocks import block_of

from restbench.deploy.database import Database
from restbench.drive import pgbench
from restbench.drive.messages import POP, SEND
from restbench.experiment import experiment
from restbench.experiment.cell import Cell
from restbench.experiment.level import Messages
from restbench.experiment.selection import Where
from restbench.failures import EnvironmentProblem
from restbench.observe import resources
from restbench.prove import messages as proofs
from restbench.schedule import deployments, reduction
from restbench.schedule.block import take_round
from restbench.schedule.closed_load import ClosedDriver
from restbench.schedule.messages import AT_RATE, PGBENCH, MessagesDriver, MessagesRun, Store
from restbench.schedule.pace import Pace, PlannedTrial, TrialGroup
from restbench.store.store import EXPERIMENTS
from restbench.store.trials import Trial

HUNDRED = Messages(characters=200)
#: Of a cell whose limit is measured.
TEN = Cell(service="java", strategy="worker-pool", complexity="200", users=10, technique="function")


def block(folder: Path, *cells: Cell, stores: object = None, **order: object) -> MessagesRun:
    kind = partial(MessagesRun, stores=stores)
    return block_of(folder, SimpleNamespace(**order), [TrialGroup("rest", cells)], kind=kind)


def test_a_thread_has_a_connection_where_nothing_else_is_said() -> None:
    usual = Cell(service="java", strategy="worker-pool", complexity="200", users=1)

    def settings(**levels: int | str) -> dict[str, str]:
        return deployments._of_factors(usual.model_copy(update=levels).service_group)

    threads, connections = "RESTBENCH_POOL_THREADS", "RESTBENCH_DATABASE_CONNECTIONS"
    assert settings() == {}
    assert settings(pool_threads=5) == {threads: "5", connections: "5"}
    assert settings(pool_threads=5, connections=3) == {threads: "5", connections: "3"}
    assert settings(connections=3) == {connections: "3"}
    assert settings(settings="A=1,JAVA_OPTIONS=-Xmx2g", connections=3) == {
        "A": "1",
        "JAVA_OPTIONS": "-Xmx2g",
        connections: "3",
    }


def test_databases_are_described_and_cells_of_one_that_may_lose_a_commit_are_marked(
    tmp_path: Path,
) -> None:
    usual = Cell(service="java", strategy="serial", complexity="200", users=1, technique="function")
    off = usual.model_copy(update={"postgres": "synchronous_commit=off"})
    kept_nowhere = off.model_copy(update={"technique": "memory"})

    def store(*, durable: bool) -> SimpleNamespace:
        told = {"described": lambda: {"version": "18.6"}, "fdatasync_us": lambda: 181.0}
        return SimpleNamespace(database=SimpleNamespace(durable=durable, **told))

    stores = {"": store(durable=True), off.postgres: store(durable=False)}
    profile = SimpleNamespace(minutes=20)
    here = block(tmp_path, usual, off, kept_nowhere, stores=stores, profile=profile)
    here.describe()
    told = {"version": "18.6", "fdatasync_us": 181.0}
    (known,) = here.file.blocks()
    assert known.facts == {"databases": {"usual": told, off.postgres: told}}
    assert [(each.kind, each.cell) for each in here.file.events()] == [("not-durable", off.id)]


def test_each_limit_that_cells_need_is_measured_once_among_their_rounds(tmp_path: Path) -> None:
    definition = experiment.load(EXPERIMENTS / "messages.toml")
    wanted = Where(users=[10], complexity=["200", "keyed"])
    cells = [cell for cell in definition.all_cells() if wanted.matches(cell)]
    here = block(tmp_path, *cells, experiment=definition)
    driver = MessagesDriver(here)
    driver.paces = {cell: Pace(0.01, users=cell.users, is_mix=True) for cell in cells}
    planned = [each for turn in driver.rounds(60.0) for each in turn]
    at_rate = {each.cell for each in planned if each.arm == AT_RATE}
    wanted = Where(
        complexity=["200"], strategy=["worker-pool"], technique=["skip-locked", "statements"]
    )
    assert at_rate == {each for each in cells if wanted.matches(each)}
    limits = [each.cell.technique for each in planned if each.arm == PGBENCH]
    assert sorted(limits) == sorted(set(proofs.CLAIMS) - {"memory"})
    assert {each.cell for each in planned if each.arm not in (PGBENCH, AT_RATE)} == set(cells)
    assert here.progress.planned == len(planned)


def beside_pgbench(folder: Path, **given: object) -> MessagesRun:
    store = SimpleNamespace(of=lambda _: MagicMock(), database=None)
    experiment = SimpleNamespace(seed=1, size=lambda *_: HUNDRED, **given)
    return block(folder, stores={"": store}, experiment=experiment)


GONE = psycopg.OperationalError("server closed the connection unexpectedly\n\tThis means")
IT_IS_GONE = "the database: server closed the connection unexpectedly"


@pytest.mark.parametrize(
    ("where", "why", "said"),
    [
        ("load", EnvironmentProblem("pgbench: too many clients"), "pgbench: too many clients"),
        ("load", GONE, IT_IS_GONE),
        ("fill", GONE, IT_IS_GONE),
        ("of", GONE, IT_IS_GONE),
    ],
)
def test_a_limit_that_is_not_found_costs_no_cell_and_not_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, why: Exception, said: str
) -> None:
    calls = {each: MagicMock() for each in ("of", "fill", "load")}
    calls[where].side_effect = why
    calls["of"].return_value.fill = calls["fill"]
    here = beside_pgbench(tmp_path)
    monkeypatch.setattr(here.stores[""], "of", calls["of"])
    monkeypatch.setattr(pgbench, "load", calls["load"])
    assert MessagesDriver(here).trial(PlannedTrial(1, TEN, PGBENCH)) is None
    (event,) = here.file.events()
    assert (event.kind, event.cell, event.text) == ("no-limit", TEN.id, said)


def test_a_database_that_is_gone_fails_a_trial_and_not_the_run(tmp_path: Path) -> None:
    here = beside_pgbench(tmp_path)
    here.stores[""].of = MagicMock(side_effect=GONE)  # type: ignore[method-assign]
    with pytest.raises(EnvironmentProblem, match=f"^{IT_IS_GONE}$"):
        here.before(TEN, 0.0)


def delivered_twice(folder: Path, monkeypatch: pytest.MonkeyPatch, *, alive: bool) -> MessagesRun:
    """A block in whose loads a message comes twice; the service has ended then, or is alive."""
    its = {"pids": tuple, "front_pids": tuple, "alive": lambda: alive, "ending": lambda: "it died"}
    here = beside_pgbench(folder)
    queues = MagicMock(**{"left.return_value": 0})
    monkeypatch.setattr(here.stores[""], "of", lambda _: queues)
    running = SimpleNamespace(service=SimpleNamespace(**its))
    monkeypatch.setattr(here, "running", lambda _: running)
    monkeypatch.setattr(reduction, "_helpers_ms", lambda _: (0.0, 0.0))
    sent = answers([0.1] * 3)
    sent.records["kind"], sent.records["token"], sent.first_error = [SEND, POP, POP], 1 << 40, ""
    sent.begun, sent.measured = SimpleNamespace(epoch_ms=0), sent.records
    monkeypatch.setattr(here.load, "trial", lambda *_: sent, raising=False)
    return here


def test_a_trial_that_is_too_short_to_count_hides_no_wrong_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was taken again before anybody had looked at its messages."""
    here = delivered_twice(tmp_path, monkeypatch, alive=True)
    monkeypatch.setattr(here.stores[""], "database", MagicMock())
    monkeypatch.setattr(here, "before", lambda *_: None)
    here.meter = MagicMock(**{"used.return_value": (0.0, {"cpu_ms": 1.0})})
    monkeypatch.setattr(resources, "memory_mib", lambda _: None)
    empty = Trial(1, 1, TEN.id, 10, 0, 1.0, np.zeros(0, np.int64))
    monkeypatch.setattr(reduction, "reduced", lambda *_: empty)
    driver = MessagesDriver(here)
    driver.paces = {TEN: Pace(0.02, users=10, is_mix=True)}
    found = driver.trial(PlannedTrial(1, TEN))
    assert found is not None
    assert found.wrong
    (event,) = here.file.events()
    assert event.kind == "wrong"
    assert event.text.startswith("R2 duplicated 1")


def test_what_a_service_broke_before_it_ended_is_noted_as_a_wrong_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message came twice; another attempt might find nothing."""
    here = delivered_twice(tmp_path, monkeypatch, alive=False)
    for cell in (TEN, TEN.model_copy(update={"technique": "memory"})):
        with pytest.raises(EnvironmentProblem, match="it died"):
            reduction.loaded(here, PlannedTrial(1, cell), 0.0, 1.0)
    (event,) = here.file.events()
    assert (event.kind, event.cell) == ("wrong", TEN.id), "what was in its memory is gone"
    assert event.text.startswith("R2 duplicated 1")


def test_a_limit_that_cells_share_is_measured_though_the_first_of_them_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = TEN.model_copy(update={"service": "python"})
    where = SimpleNamespace(matches=lambda _: True)
    here = beside_pgbench(tmp_path, pgbench=where, pgbench_at_rate=None)
    driver = MessagesDriver(here)
    driver.paces = {each: Pace(0.02, users=10, is_mix=True) for each in (TEN, other)}

    def rounds(*_: object) -> list[list[PlannedTrial]]:
        here.lose(TEN, "failed", "it died")
        return []

    monkeypatch.setattr(ClosedDriver, "rounds", rounds)
    monkeypatch.setattr(pgbench, "load", lambda *_, **__: pgbench.Load(500.0, 1.0, 0.4, 0, 0, 0))
    for turn in driver.rounds(60.0):
        take_round(driver, turn)
    (found,) = here.file.blocks()
    assert found.facts["extras"][other.id]["pgbench_per_s"] == 500.0


def test_pgbench_is_held_to_a_cells_own_rate_or_lasts_as_long_as_its_connections_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, object] = {}

    def load(*_: object, **named: object) -> pgbench.Load:
        given.update(named)
        return pgbench.Load(500.0, 1.0, 0.4, 0.3, 0.1, 0)

    monkeypatch.setattr(pgbench, "load", load)
    other = TEN.model_copy(update={"service": "python"})
    here = beside_pgbench(tmp_path)
    driver = MessagesDriver(here)

    def known() -> dict[str, dict[str, float]]:
        (found,) = here.file.blocks()
        return found.facts["extras"]

    driver.paces = {each: Pace(0.02, users=10, is_mix=True) for each in (TEN, other)}
    assert driver.trial(PlannedTrial(1, TEN, AT_RATE)) is None
    assert (given["connections"], given["per_s"]) == (20, 500.0)
    here.file.add([Trial(1, 1, TEN.id, 10, 0, 1.0, np.full(1000, 10_000))])
    assert driver.trial(PlannedTrial(1, TEN, AT_RATE)) is None
    assert given["per_s"] == 1000.0, "as its trials say"
    assert [*known()] == [TEN.id]
    assert known()[TEN.id]["pgbench_at_rate_database_cpu_ms"] == 0.4
    assert driver.trial(PlannedTrial(1, TEN, PGBENCH)) is None
    assert (given["connections"], given["per_s"], given["seconds"]) == (10, None, 1)
    assert [*known()] == [TEN.id, other.id]
    eighty = TEN.model_copy(update={"users": 80})
    driver.paces = {eighty: Pace(0.02, users=80, is_mix=True)}
    assert driver.trial(PlannedTrial(1, eighty, PGBENCH)) is None
    assert given["seconds"] == 4, "more connections need longer to plan their statements"


def test_ids_of_a_techniques_queues_have_no_gaps_whatever_is_filled_first() -> None:
    owner = MagicMock()
    owner.execute.return_value.fetchone.side_effect = [(number,) for number in range(1, 999)]
    store = Store(cast(Database, None), owner, owner, most=100)
    one = Cell(service="java", strategy="serial", complexity="200", users=1, technique="function")
    other = Cell(service="java", strategy="serial", complexity="200", users=1, technique="blocking")
    for cell, queues in ((one, 1), (other, 100), (one, 100)):
        store.of(cell).fill(Messages(characters=200, queues=queues), 1)
    for cell in (one, other):
        first, ids = store.of(cell).ids[0], [*store.of(cell).ids]
        assert ids == [*range(first, first + 100)]
