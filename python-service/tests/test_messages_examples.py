"""The contract's examples of messages in the situations that its own runner cannot make."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from answers import Expectation, unlike
from cases import LOST_AT_COMMIT, Selection, cases, examples, exchange, prepare
from cases import try_example as tried
from cutting_proxy import CuttingProxy
from live_database import LiveDatabase, unused_address
from live_service import LiveService, running, wait_until
from service import Service

from restbench_service.coded_workloads import WHOLE_REQUEST_STRATEGIES

STRATEGIES = [*WHOLE_REQUEST_STRATEGIES]
BOTH = ["serial", "process-per-request"]
LOST = examples({LOST_AT_COMMIT})
DOWN = examples({"database-down"})
WITHOUT_ROOM = examples({"queue-without-room"})
SETTINGS = {"STRATEGIES": ",".join(STRATEGIES), "PROCESSES": "2", "POOL_THREADS": "3"}


def as_the_runner_sees(service: LiveService, strategies: list[str]) -> Service:
    return Service(
        "127.0.0.1", service.port, {"messages": strategies}, 1 << 26, 20.0, None, has_database=True
    )


def test_without_a_database_that_answers_a_service_starts_and_does_nothing(tmp_path: Path) -> None:
    """Each request waits for a second, so they do so together."""
    nowhere = {"DATABASE_URL": unused_address().url, "PROCESSES": "4"}
    with (
        running(tmp_path / "log", STRATEGIES=",".join(BOTH), **nowhere) as service,
        ThreadPoolExecutor(len(DOWN)) as users,
    ):
        assert service.health()["database"] == {"up": False}
        seen = as_the_runner_sees(service, BOTH)
        outcomes = list(users.map(lambda it: tried(seen, *it), DOWN.items()))
    assert len(outcomes) > 10
    assert [(it.name, it.faults) for it in outcomes if it.faults] == []
    assert "Traceback" not in (tmp_path / "log").read_text()


def test_without_room_nothing_is_sent_and_the_rest_goes_on(
    database: LiveDatabase, tmp_path: Path
) -> None:
    full = {"DATABASE_FREE_PATH": "/proc"}  # no disk: nothing is free there
    with running(tmp_path / "log", **SETTINGS, **full, **database.variables) as service:
        seen = as_the_runner_sees(service, STRATEGIES)
        outcomes = [tried(seen, *it) for it in WITHOUT_ROOM.items()]
    assert [(it.name, it.faults) for it in outcomes if it.faults] == []
    assert [it.name[:3] for it in outcomes] == ["014", "014", "ok-", "ok-"]


# --- a connection that ends behind the deciding statement -----------------------------------------


@pytest.fixture(scope="module")
def cut_off(
    database: LiveDatabase, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Service, CuttingProxy]]:
    """A service with one connection a process, by way of the proxy."""
    proxy = CuttingProxy(int(database.url.rpartition(":")[2].partition("/")[0]))
    log = tmp_path_factory.mktemp("cut") / "log"
    variables = {**database.at(proxy.port).variables, "DATABASE_CONNECTIONS": "1", "PROCESSES": "1"}
    with running(log, STRATEGIES=",".join(BOTH), **variables) as service:
        yield as_the_runner_sees(service, BOTH), proxy
    proxy.close()


def asked(service: Service, case: dict[str, Any], proxy: CuttingProxy, at: int = 0) -> list[str]:
    """What is wrong in an answer whose connection was cut behind so many statements; 0: at none."""

    def is_ready() -> bool:
        paths = (f"/messages/{strategy}/queues?limit=1" for strategy in BOTH)
        requests = ({"method": "GET", "path": path, "headers": {}} for path in paths)
        return all(exchange(service, it).status == 200 for it in requests)

    wait_until(is_ready)
    earlier, request = prepare(service, case)
    proxy.statements = 0
    proxy.arm(at, "behind")
    return list(unlike(Expectation(case, earlier), exchange(service, request)))


@pytest.mark.parametrize("name", LOST)
def test_what_broke_behind_the_deciding_statement_is_unknown(
    cut_off: tuple[Service, CuttingProxy], name: str
) -> None:
    service, proxy = cut_off
    pairs = zip(*(cases(LOST[name], service, Selection()) for _ in range(2)), strict=True)
    for rehearsed, case in pairs:
        assert asked(service, rehearsed, proxy)[0].startswith("status 200")
        last, cuts = proxy.statements, proxy.cuts
        assert last > 0
        assert asked(service, case, proxy, last) == [], case["names"]
        assert proxy.cuts == cuts + 1
