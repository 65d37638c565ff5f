"""Messages in a service of its own: pools of processes, a database that goes."""

import json
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from live_database import LiveDatabase, fresh_name
from live_metrics import in_flight, metric
from live_service import Answer, LiveService, running, wait_until

from restbench_service.coded_workloads import WHOLE_REQUEST_STRATEGIES as STRATEGIES

NAMED = re.compile(r"connection;dur=(\S+), database;dur=(\S+)$")


@pytest.fixture(scope="module")
def served(
    database: LiveDatabase, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LiveService]:
    log = tmp_path_factory.mktemp("messages") / "log"
    settings = {"STRATEGIES": ",".join((*STRATEGIES, "adaptive")), "PROCESSES": "2"}
    with running(log, **settings, POOL_THREADS="3", **database.variables) as service:
        yield service


def call(
    service: LiveService, method: str, path: str, strategy: str = "serial", **members: Any
) -> Answer:
    body = json.dumps(members).encode() if method == "POST" else b""
    headers = {"Content-Type": "application/json"} if method == "POST" else {}
    return service.request(method, f"/messages/{strategy}{path}", body, headers)


def members_of(answer: Answer) -> dict[str, Any]:
    assert answer.status == 200, answer.body
    members: dict[str, Any] = json.loads(answer.body)
    return members


def test_strategies_say_which_workloads_each_takes(served: LiveService) -> None:
    rows = json.loads(served.request("GET", "/strategies").body)["strategies"]
    taking = [row["name"] for row in rows if "messages" in row["workloads"]]
    assert sorted(taking) == sorted(STRATEGIES)
    assert all("matrix" in row["workloads"] for row in rows)
    assert call(served, "GET", "/queues", "adaptive").status == 404


@pytest.mark.parametrize(
    ("strategy", "most"),
    [("process-per-request", 2), ("executor-per-request", 2), ("worker-pool", 3), ("serial", 6)],
)
def test_as_many_requests_are_at_the_database_as_the_strategy_has_places(
    served: LiveService,
    database: LiveDatabase,
    users: ThreadPoolExecutor,
    strategy: str,
    most: int,
) -> None:
    queue = fresh_name()
    path = f"/queues/{queue}"
    members_of(call(served, "POST", "/queues", requestId=1, queue=queue, technique="blocking"))
    for _ in range(6):
        members_of(
            call(served, "POST", f"{path}/messages", strategy, requestId=1, sender=1, body="x")
        )
    with database.connect() as other:
        other.execute("BEGIN")
        other.execute("SELECT 1 FROM messages.message FOR UPDATE")
        pops = [
            users.submit(call, served, "POST", f"{path}/pop", strategy, requestId=1, client=1)
            for _ in range(6)
        ]
        wait_until(lambda: in_flight(served) == 6 and database.waiting() >= most)
        time.sleep(0.2)  # for one that is too many
        assert database.waiting() == most
        other.execute("COMMIT")
    answers = [each.result(60) for each in pops]
    assert [each.status for each in answers] == [200] * 6
    timing = NAMED.search(answers[0].headers["Server-Timing"])
    assert timing and float(timing[2]) > 0
    ids = [members_of(each)["id"] for each in answers]
    assert len(set(ids) - {None}) == len([each for each in ids if each is not None])


def test_retries_are_counted_in_whatever_process_they_happen(
    served: LiveService, database: LiveDatabase, users: ThreadPoolExecutor
) -> None:
    for strategy in ("serial", "process-per-request", "executor-per-request"):
        queue = fresh_name()
        path, before = f"/queues/{queue}", retries(served)
        technique = {"technique": "repeatable-read"}
        members_of(call(served, "POST", "/queues", requestId=1, queue=queue, **technique))
        for _ in range(2):
            members_of(call(served, "POST", f"{path}/messages", requestId=1, sender=1, body="x"))
        with database.locked_head(queue, delete=True):
            popping = users.submit(
                call, served, "POST", f"{path}/pop", strategy, requestId=1, client=1
            )
            wait_until(lambda: database.waiting() == 1)
        assert members_of(popping.result(60))["id"] is not None
        assert retries(served) == before + 1


def retries(service: LiveService) -> float:
    return metric(service, "restbench_database_retries_total")[""]


@pytest.mark.parametrize("strategy", ["process-per-request", "executor-per-request"])
def test_a_process_of_a_pool_deletes_nothing_from_a_queue_of_the_web_process(
    served: LiveService, strategy: str
) -> None:
    """The contract's examples ask it for all else."""
    queue = fresh_name()
    members_of(call(served, "POST", "/queues", requestId=1, queue=queue, technique="memory"))
    for path in (f"/queues/{queue}", f"/queues/{queue}/messages/1"):
        refused = call(served, "DELETE", path, strategy)
        text = f"technique: memory is not offered under {strategy}"
        assert (refused.status, json.loads(refused.body)["errorMessage"]) == (422, text)


def test_without_an_address_there_are_no_messages(service: LiveService) -> None:
    assert "database" not in service.health()
    refused = call(service, "GET", "/queues")
    assert (refused.status, json.loads(refused.body)["errorCode"]) == (404, "009")


def test_it_finds_a_database_again_whose_backends_have_all_ended(
    served: LiveService, database: LiveDatabase
) -> None:
    text = (
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
        "WHERE pid <> pg_backend_pid() AND usename = current_user"
    )
    assert database.value(text) > 0
    calls: dict[str, Callable[[], Answer]] = {
        strategy: lambda strategy=strategy: call(served, "GET", "/queues", strategy)  # type: ignore[misc]
        for strategy in STRATEGIES
    }
    for ask in calls.values():
        wait_until(lambda: ask().status == 200)  # noqa: B023 - called in this round
    assert {ask().status for ask in calls.values() for _ in range(10)} == {200}
    assert served.health()["database"] == {"up": True}
