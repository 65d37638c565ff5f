"""What is answered when the database's file system, or the process, has hardly any room left."""

from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest
from live_database import LiveDatabase, fresh_name
from message_calls import Caller, calling_at

from restbench_service.settings import Settings
from restbench_service.workloads.messages import database as database_module
from restbench_service.workloads.messages.database import FreeSpace, Session, free_bytes
from restbench_service.workloads.messages.memory import MemoryMessages
from restbench_service.workloads.messages.requests import (
    MEMORY,
    TECHNIQUES,
    CreateQueue,
    DeleteQueue,
    Send,
)
from restbench_service.workloads.messages.workload import MessagesWorkload
from restbench_service.workloads.workload import InvalidRequestError

MINIMUM = 1000
NOT_DONE = "the database cannot do it now; it is not done"


class Disk:
    """What is measured, and when."""

    def __init__(self) -> None:
        self.free, self.now, self.looks = MINIMUM, 0.0, 0

    def measure(self, _path: str) -> int:
        self.looks += 1
        return self.free


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    disk = Disk()
    monkeypatch.setattr(database_module, "free_bytes", disk.measure)
    monkeypatch.setattr(database_module, "monotonic", lambda: disk.now)
    return disk


@pytest.fixture
def guarded(database: LiveDatabase, disk: Disk) -> Iterator[Caller]:
    room = {"database_free_path": "/", "database_min_free_bytes": MINIMUM}
    with calling_at(database, database_connections=1, **room) as caller:
        yield caller


def test_it_is_looked_at_once_a_second_at_most(disk: Disk) -> None:
    space = FreeSpace("/", MINIMUM)
    assert all(space.is_enough() for _ in range(5))
    disk.free, disk.now = MINIMUM - 1, 0.99
    assert space.is_enough() and disk.looks == 1
    disk.now = 1.0
    assert not space.is_enough() and not space.is_enough() and disk.looks == 2
    disk.free, disk.now = MINIMUM, 2.0
    assert space.is_enough()


def test_a_change_is_one_line_of_the_log(disk: Disk, caplog: pytest.LogCaptureFixture) -> None:
    space = FreeSpace("/", MINIMUM)
    for disk.now, disk.free in enumerate((MINIMUM, 999, 998, MINIMUM, MINIMUM + 1)):
        space.is_enough()
    told = [record.getMessage() for record in caplog.records]
    said = ["no message is taken", "messages are taken again"]
    assert [text.rpartition(": ")[2] for text in told] == said
    assert "has 999 bytes free, the minimum is 1000" in told[0]


def test_a_database_elsewhere_is_not_looked_at(disk: Disk) -> None:
    assert FreeSpace(None, 10**12).is_enough()
    assert disk.looks == 0


def test_where_nothing_can_be_told_there_is_no_room() -> None:
    assert free_bytes("/") > 0
    assert free_bytes("/no/such/place") == 0


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_without_room_nothing_is_sent_and_the_rest_goes_on(
    guarded: Caller, disk: Disk, technique: str
) -> None:
    queue, key = guarded.queue(technique), {"key": fresh_name()}
    key = {} if technique == "memory" else key
    sent = guarded.send(queue, **key)
    kept = guarded.send(queue).members["id"]
    disk.free, disk.now = MINIMUM - 1, disk.now + 1
    if technique == "memory":  # it takes no room there
        assert guarded.send(queue).status == 200
    else:
        for told in (
            guarded.send(queue),
            guarded.send(queue, key=fresh_name()),
            guarded.broadcast(queue),
        ):
            assert (told.status, told.code, told.headers["Retry-After"]) == (503, "014", "1")
            assert told.members["errorMessage"] == NOT_DONE
        again = guarded.send(queue, **key)
        assert again.members == sent.members  # it takes none, either
        assert guarded.send(queue, "other", **key).code == "013"
        assert guarded.count(queue) == 2
    assert guarded.send(fresh_name()).code == "012"
    (peeked,) = guarded.ask("GET", f"/queues/{queue}/messages").members["messages"]
    assert peeked["id"] == sent.members["id"]
    assert guarded.pop(queue).members["id"] == sent.members["id"]
    assert guarded.ask("DELETE", f"/queues/{queue}/messages/{kept}").members["deleted"] is True
    assert guarded.queue(technique) != queue
    assert guarded.ask("DELETE", f"/queues/{queue}").members["deleted"] is True


def test_messages_of_the_process_have_room_for_all_of_a_broadcast_or_none_is_sent() -> None:
    kept, none = MemoryMessages(2000), cast(Session, None)
    asked = {"queue_id": 7, "receiver": 0, "sender": 1, "body": "x" * 100}
    first = kept.send_one(none, asked)
    with pytest.raises(InvalidRequestError) as refused:
        kept.broadcast(none, asked, [7, 8])
    assert refused.value.code == "010"
    assert refused.value.message == "the request needs 1 MiB of memory, the limit is 0 MiB"
    assert (kept.count(none, {"queue_id": 7}), kept.count(none, {"queue_id": 8})) == (1, 0)
    popped = kept.pop_one(none, asked, lambda: None)
    assert popped is not None and popped.id == first
    for queue in (9, 10, 11):  # whatever takes a message gives its room back
        _, in_eight = kept.broadcast(none, asked, [queue, 8])
        kept.drop(queue)
        assert kept.delete(none, {"queue_id": 8, "id": in_eight})


def test_a_message_for_a_queue_that_was_dropped_meanwhile_is_gone_with_it() -> None:
    kept, none = MemoryMessages(2000), cast(Session, None)
    asked = {"queue_id": 7, "receiver": 0, "sender": 1, "body": "x" * 100}
    kept.drop(7)
    for _ in range(9):
        in_seven, in_eight = kept.broadcast(none, asked, [7, 8])
        assert in_seven != in_eight
        assert kept.pop_one(none, asked, lambda: None) is None
        assert kept.delete(none, {"queue_id": 8, "id": in_eight})
    assert kept._held_bytes == 0


def test_who_asks_for_many_receivers_leaves_nothing_in_memory() -> None:
    kept, none = MemoryMessages(2000), cast(Session, None)
    asked = {"queue_id": 7, "receiver": 0, "sender": 1, "body": "x", "limit": 1}
    for receiver in (0, 5):
        kept.send_one(none, {**asked, "receiver": receiver})
    ids = []
    for receiver in range(9):
        values = {**asked, "receiver": receiver}
        ids += [message.id for message in kept.peek(none, values)]
        kept.pop_one(none, values, lambda: None)
    assert ids == [1, 2]
    assert kept.delete(none, {"queue_id": 7, "id": kept.send_one(none, asked)})
    assert (kept._held_bytes, [*kept._queues.values()]) == (0, [{}])


def test_what_changes_nothing_is_008_where_others_have_all_memory_and_a_pop_is_told(
    database: LiveDatabase,
) -> None:
    most = 10**6
    with calling_at(database, memory_budget_bytes=most, input_cache_bytes=0) as caller:
        queue, budget = caller.queue(), caller.core.budget
        caller.send(queue, "x" * 1000)
        peek = f"/queues/{queue}/messages"
        assert caller.ask("GET", peek).status == 200
        others = most - 500
        budget.change(0, others)  # there is room for the message of neither
        refused = caller.ask("GET", peek)
        assert (refused.status, refused.code, refused.headers["Retry-After"]) == (503, "008", "1")
        popped = caller.pop(queue)
        assert (popped.status, popped.members["body"]) == (200, "x" * 1000)
        budget.change(others, most)
        assert [caller.ask("GET", path).code for path in ("/queues", f"/queues/{queue}")] == [
            "008",
            "008",
        ]
        assert budget.held_bytes == most


def test_a_peek_reserves_its_answer_before_the_database_is_asked(database: LiveDatabase) -> None:
    limits = {"memory_budget_bytes": 10**6, "input_cache_bytes": 0, "max_message_characters": 1000}
    with calling_at(database, **limits) as caller:
        queue, budget = caller.queue(), caller.core.budget
        held: list[int] = []
        budget.changed = lambda held_bytes: held.append(int(held_bytes))
        assert caller.ask("GET", f"/queues/{queue}/messages?limit=100").status == 200
        assert max(held) == 100 * 8 * 1000


def test_messages_of_the_process_are_in_the_memory_of_all_requests(database: LiveDatabase) -> None:
    with calling_at(database, memory_budget_bytes=40_000, input_cache_bytes=0) as caller:
        queue, budget = caller.queue("memory"), caller.core.budget
        assert caller.send(queue, "x" * 100).status == 200
        size_bytes = budget.held_bytes
        assert size_bytes == 700
        budget.change(0, others := 39_000 - size_bytes)
        assert [caller.send(queue, "x" * 200).code for _ in range(2)] == ["008"] * 2
        assert caller.count(queue) == 1
        assert caller.pop(queue).status == 200
        assert budget.held_bytes == others
        budget.change(others, 0)
        codes = [caller.send(queue, "x" * 100).code for _ in range(15)]
        assert codes == [""] * 14 + ["010"], "a quarter"
        caller.ask("DELETE", f"/queues/{queue}")
        assert budget.held_bytes == 0


class Deleting:
    """A session of a database with one queue, which is deleted while it is being looked up."""

    def __init__(self, workload: MessagesWorkload) -> None:
        self.workload, self.rows, self.is_first = workload, [(7, MEMORY)], True

    def ask(self, _name: str, _values: Mapping[str, Any]) -> Any:
        found = self.rows[:1]
        if self.is_first:
            self.is_first = False
            session = cast(Session, self)
            assert self.workload._delete_queue(session, DeleteQueue(queue="a"))
        return SimpleNamespace(fetchone=lambda: found[0] if found else None)

    def do(self, _name: str, _values: Mapping[str, Any]) -> Any:
        self.rows.clear()
        return SimpleNamespace(fetchall=lambda: [(True,)])


@pytest.fixture
def workload() -> MessagesWorkload:
    """Of a database that is not there."""
    return MessagesWorkload(Settings(database_url="postgresql://nobody@127.0.0.1:1/none"))


def test_a_queue_in_memory_that_is_deleted_while_it_is_looked_up_is_gone(
    workload: MessagesWorkload,
) -> None:
    session = cast(Session, Deleting(workload))
    assert workload._find(session, "a").id == 7, "it was there"
    assert not workload._queues
    with pytest.raises(InvalidRequestError) as refused:
        workload._find(session, "a")
    assert refused.value.code == "012"


class Renewing:
    """A session of a database with one queue, which is deleted and made anew while it is being
    deleted, and gets a message then."""

    def __init__(self, workload: MessagesWorkload) -> None:
        self.workload, self.number, self.is_there, self.deletions = workload, 5, True, 0

    def ask(self, _name: str, _values: Mapping[str, Any]) -> Any:
        found = (self.number, MEMORY) if self.is_there else None
        return SimpleNamespace(fetchone=lambda: found)

    def do(self, name: str, _values: Mapping[str, Any]) -> Any:
        if name == "create-queue":
            self.number, self.is_there = self.number + 1, True
            return SimpleNamespace(fetchall=lambda: [(self.number, MEMORY, True)])
        self.deletions += 1
        if self.deletions == 1:
            session = cast(Session, self)
            assert self.workload._delete_queue(session, DeleteQueue(queue="a"))
            assert self.workload._create(session, CreateQueue("a", MEMORY))
            assert self.workload._send(session, Send("a", 1, 0, "x", None))
        self.is_there = False
        return SimpleNamespace(fetchall=lambda: [(True,)])


def test_the_messages_of_whatever_queue_was_deleted_are_gone(workload: MessagesWorkload) -> None:
    renewing = Renewing(workload)
    assert workload._delete_queue(cast(Session, renewing), DeleteQueue(queue="a"))
    assert (renewing.deletions, renewing.number, renewing.is_there) == (2, 6, False)
    assert (workload._memory._held_bytes, workload._in_memory) == (0, {})


@pytest.mark.parametrize("technique", [MEMORY, "blocking"])
def test_the_messages_of_a_queue_that_another_process_has_replaced_are_gone(
    database: LiveDatabase, technique: str
) -> None:
    with calling_at(database) as caller, calling_at(database) as another:
        queue, budget = caller.queue(MEMORY), caller.core.budget
        assert caller.send(queue).status == 200
        assert budget.held_bytes > 0
        another.renew(queue, technique)
        made = {"requestId": 1, "queue": queue, "technique": technique}
        assert caller.ask("POST", "/queues", **made).members["created"] is False
        assert budget.held_bytes == 0
        assert caller.count(queue) == 0
