"""What a key of a message promises: one effect and one answer, however often it is asked."""

import math
from concurrent.futures import ThreadPoolExecutor

import pytest
from live_database import LiveDatabase, fresh_name
from live_service import wait_until
from message_calls import ON_DATABASE, Caller, Told, calling_at

from restbench_service.workloads.messages import workload
from restbench_service.workloads.messages.database import Database
from restbench_service.workloads.messages.receipts import BATCH, purge
from restbench_service.workloads.workload import InvalidRequestError

on_database = pytest.mark.parametrize("technique", ON_DATABASE)


def replayed(told: Told) -> bool:
    return told.headers.get("Idempotent-Replayed") == "true"


@on_database
def test_one_key_from_many_at_once_is_one_message(caller: Caller, technique: str) -> None:
    queue, key = caller.queue(technique), fresh_name()
    with ThreadPoolExecutor(8) as users:
        sent = list(users.map(lambda _: caller.send(queue, key=f"{key}-s"), range(8)))
        assert caller.count(queue) == 1
        caller.send(queue, "another")
        popped = list(users.map(lambda _: caller.pop(queue, key=f"{key}-p"), range(8)))
    for told in (sent, popped):
        assert {each.status for each in told} == {200}
        assert len({each.members["id"] for each in told}) == 1
        assert [replayed(each) for each in told].count(False) == 1
    assert caller.count(queue) == 1


def test_receipts_are_forgotten_when_they_are_old(
    caller: Caller, database: LiveDatabase, own: Database
) -> None:
    queue, key = caller.queue(), fresh_name()
    assert not replayed(caller.send(queue, key=key))
    purge(own, 600)
    assert replayed(caller.send(queue, key=key))
    database.value(
        "UPDATE messages.receipt SET at = at - interval '601 s' WHERE key = %s RETURNING 1", key
    )
    purge(own, 600)
    assert not replayed(caller.send(queue, key=key))
    assert caller.count(queue) == 2


def test_a_service_that_runs_forgets_receipts_that_are_old(
    database: LiveDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workload, "PURGE_SECONDS", 0.05)
    client = 9_000_002
    with database.connect() as connection:
        connection.execute(
            "INSERT INTO messages.receipt SELECT %s, age, '', '{}', now() - age * interval '1 s' "
            "FROM unnest(ARRAY[8, -3600]) age",
            [client],
        )
    with calling_at(database, receipt_seconds=7):
        text = "SELECT array_agg(key) FROM messages.receipt WHERE client = %s"
        wait_until(lambda: database.value(text, client) == ["-3600"])


def test_receipts_are_forgotten_in_batches(database: LiveDatabase, own: Database) -> None:
    """So that however many there are, no statement takes as long as its role may."""
    client, many = 9_000_001, 2 * BATCH + 1
    with database.connect() as connection:
        connection.execute(
            "INSERT INTO messages.receipt SELECT %s, n, '', '{}', now() - interval '1 day' "
            "FROM generate_series(1, %s) n",
            [client, many],
        )
    purge(own, 600)
    text = "SELECT count(*) FROM messages.receipt WHERE client = %s"
    assert database.value(text, client) == 0


def test_what_is_done_every_so_often_goes_on_after_an_error(
    own: Database, caplog: pytest.LogCaptureFixture
) -> None:
    done = list[int]()

    errors = iter([MemoryError])

    def fails_once() -> None:
        for error in errors:
            raise error
        done.append(1)

    own.every(0.01, fails_once)
    wait_until(lambda: bool(done))
    assert "what is done every 0.01 s failed" in caplog.text


def test_that_all_connections_are_in_use_is_no_failure_of_the_database(
    own: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    wait = "restbench_service.workloads.messages.database.WAIT_SECONDS"
    monkeypatch.setattr(wait, 30.0)
    taken = own.take()
    monkeypatch.setattr(wait, 0.1)
    monkeypatch.setattr(own, "_answered_at", math.inf)  # others are answered all the time
    for _ in range(2):
        with pytest.raises(InvalidRequestError, match="it is not done"):
            own.take()
    own.give_back(taken)
    told = [each.getMessage() for each in caplog.records]
    assert told == ["a request got no connection to the database: all are in use"]
