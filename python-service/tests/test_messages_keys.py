"""What a key of a message promises: one effect and one answer, however often it is asked."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from live_database import LiveDatabase, fresh_name
from message_calls import ON_DATABASE, Caller, Told

from restbench_service.workloads.messages.database import Database
from restbench_service.workloads.messages.receipts import purge

on_database = pytest.mark.parametrize("technique", ON_DATABASE)


def replayed(told: Told) -> bool:
    return told.headers.get("Idempotent-Replayed") == "true"


@on_database
def test_a_repeated_key_has_one_effect_and_one_answer(caller: Caller, technique: str) -> None:
    one, two, key = caller.queue(technique), caller.queue(technique), fresh_name()
    asked = {"requestId": 1, "sender": 3, "queues": [two, one], "body": "é"}
    calls: dict[str, Callable[[], Told]] = {
        "send": lambda: caller.send(one, "é", key=f"{key}-send"),
        "broadcast": lambda: caller.ask("POST", "/broadcast", **asked, key=f"{key}-all"),
        "pop": lambda: caller.pop(one, key=f"{key}-pop"),
    }
    for name, call in calls.items():
        first, second = call(), call()
        assert (first.status, replayed(first), replayed(second)) == (200, False, True), name
        assert second.members == first.members
    assert (caller.count(one), caller.count(two)) == (1, 1)


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


def test_a_key_is_not_used_up_by_an_empty_pop_and_belongs_to_its_client(caller: Caller) -> None:
    queue, key = caller.queue(), fresh_name()
    assert caller.pop(queue, key=key).members["id"] is None
    message = caller.send(queue, "one").members["id"]
    assert caller.pop(queue, key=key).members["id"] == message
    again = caller.pop(queue, key=key)
    assert (again.members["id"], replayed(again)) == (message, True)
    assert caller.pop(queue, key=key, client=6).members["id"] is None
    assert (caller.send(queue, key=key, sender=5).code, caller.count(queue)) == ("013", 0)


def test_receipts_are_forgotten_when_they_are_old(caller: Caller, database: LiveDatabase) -> None:
    queue, key = caller.queue(), fresh_name()
    assert not replayed(caller.send(queue, key=key))
    own = Database(database.of_a_worker(database_connections=1))
    own.open()
    try:
        purge(own, 600)
        assert replayed(caller.send(queue, key=key))
        database.value(
            "UPDATE messages.receipt SET at = at - interval '601 s' WHERE key = %s RETURNING 1", key
        )
        purge(own, 600)
    finally:
        own.close()
    assert not replayed(caller.send(queue, key=key))
    assert caller.count(queue) == 2
