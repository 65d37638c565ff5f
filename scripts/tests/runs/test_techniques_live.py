"""Every technique of the queues under clients at once, on both services and without a fault: their
history is held against all rules, of which order (R6) and honest empties (R7) need one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from ports import free_port
from waiting import await_true

from restbench.analyse.queue_checker import check
from restbench.deploy.database import Database, fresh
from restbench.deploy.service import Service, start
from restbench.drive import history
from restbench.drive.history import Clients, Record
from restbench.drive.queue_client import QueueCalls, RestQueues
from restbench.prove.messages import CLAIMS

pytestmark = pytest.mark.live

STRATEGY, CLIENTS, CHARACTERS = "worker-pool", 8, 200
#: So many messages each client sends first: a queue that is never empty shows a false empty.
FILLED = 10
REQUESTS = 1000


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    with fresh(Database(tmp_path_factory.mktemp("store") / "database")) as made:
        yield made


@pytest.fixture(scope="module", params=["java", "python"])
def service(
    request: pytest.FixtureRequest, store: Database, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    folder, settings = tmp_path_factory.mktemp(request.param), store.environment()
    with start(request.param, "none", None, folder, settings=settings, port=free_port()) as made:
        yield made


@pytest.mark.parametrize("technique", CLAIMS)
def test_no_rule_is_violated_by_clients_at_once(
    service: Service, store: Database, technique: str, tmp_path: Path
) -> None:
    name = f"{service.name}-{technique}"
    queues = [f"{name}-{number}" for number in (1, 2)]
    for queue in queues:
        QueueCalls(service, STRATEGY).create(queue, technique)
    clients = Clients(
        name, CLIENTS, [(queue, 0) for queue in queues], CHARACTERS, have_keys=False, filled=FILLED
    )
    record = Record(tmp_path / "history.jsonl")

    def way() -> RestQueues:
        return RestQueues(lambda: service.address, STRATEGY)

    with history.running(clients, way, record):
        assert await_true(lambda: len(record.requests) >= REQUESTS)
    history.drain(clients, way(), record)
    left = []
    if technique != "memory":
        with store.connect() as owner:
            left = history.left(owner, clients)
    report = check(record.requests, left)
    assert report.violations == 0, report.findings
    assert report.pops == report.sends > CLIENTS * FILLED
    # 503: of repeatable-read, a pop that lost its race too often.
    assert {each.status for each in record.requests} <= {200, 503}
    assert (record.wrongly_refused, record.unconnected) == ([], [])
