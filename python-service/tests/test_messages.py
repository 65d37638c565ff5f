"""The workload messages on a PostgreSQL: what each technique does, and who asks the database."""

import re
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn, cast

import psycopg
import pytest
from live_database import LiveDatabase, fresh_name, unused_address
from live_service import wait_until
from message_calls import ON_DATABASE, Caller, calling_at
from test_no_threads import no_new_thread

from restbench_service.workloads.messages import techniques
from restbench_service.workloads.messages.database import (
    Database,
    Session,
    StatementError,
    statements,
)
from restbench_service.workloads.messages.requests import TECHNIQUES
from restbench_service.workloads.messages.workload import MessagesWorkload

TIMING = re.compile(r".*, serialize;dur=\d+\.\d{3}, connection;dur=(\S+), database;dur=(\S+)")
every_technique = pytest.mark.parametrize("technique", TECHNIQUES)


# --- all techniques ---------------------------------------------------------------------------


@every_technique
def test_server_timing_tells_what_of_computing_was_the_database(
    caller: Caller, technique: str
) -> None:
    queue = caller.queue(technique)
    caller.send(queue)
    found = TIMING.fullmatch(caller.send(queue).headers["Server-Timing"])
    assert found
    assert (float(found[2]) > 0) == (technique != "memory")
    compute = re.search(r"compute;dur=(\S+),", found[0])
    assert compute and float(compute[1]) + 0.002 >= float(found[1]) + float(found[2])


@pytest.mark.parametrize("technique", ON_DATABASE)
def test_a_deleted_queue_that_was_known_is_012_and_its_successor_is_found(
    caller: Caller, database: LiveDatabase, technique: str
) -> None:
    """Of a queue in memory one process knows all that happens to it."""
    queue = caller.queue(technique)
    caller.send(queue)
    with calling_at(database, database_connections=1) as another:
        assert another.ask("DELETE", f"/queues/{queue}").members["deleted"] is True
        for told in (
            caller.send(queue),
            caller.pop(queue),
            caller.ask("GET", f"/queues/{queue}/messages"),
            caller.ask("DELETE", f"/queues/{queue}/messages/1"),
            caller.broadcast(queue),
        ):
            assert (told.status, told.code) == (404, "012")
        for name in ("blocking", technique):
            another.renew(queue, name)
            assert caller.send(queue, name).status == 200
            assert another.pop(queue).members["body"] == name


def test_a_broadcast_names_the_first_queue_that_is_gone(
    caller: Caller, database: LiveDatabase
) -> None:
    known = caller.queue()
    with calling_at(database, database_connections=1) as another:
        another.ask("DELETE", f"/queues/{known}")
    told = caller.broadcast(known, fresh_name())
    assert (told.code, told.members["errorMessage"]) == ("012", "queues[0]: does not exist")


@pytest.mark.parametrize("what", ["send", "pop", "peek", "count"])
def test_a_queue_that_others_make_anew_meanwhile_is_found_each_time(
    caller: Caller, database: LiveDatabase, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    queue = caller.queue("pgmq")
    means, rest = MessagesWorkload._means, [1, 2]
    with calling_at(database, database_connections=1) as another:

        def after_it_is_made_anew(self: MessagesWorkload, *its: Any) -> Any:
            if rest:
                rest.pop()
                another.renew(queue, "pgmq")
            return means(self, *its)

        monkeypatch.setattr(MessagesWorkload, "_means", after_it_is_made_anew)
        path = f"/queues/{queue}"
        asked = {
            "send": lambda: caller.send(queue),
            "pop": lambda: caller.pop(queue),
            "peek": lambda: caller.ask("GET", f"{path}/messages"),
            "count": lambda: caller.ask("GET", path),
        }
        assert asked[what]().status == 200
    assert rest == []


def test_a_queue_of_another_technique_by_now_has_its_own_rules(
    caller: Caller, database: LiveDatabase
) -> None:
    queue, other = caller.queue("pgmq"), caller.queue()
    assert caller.send(queue).status == 200
    assert caller.send(queue, receiver=7).code == "013"
    with calling_at(database, database_connections=1) as another:
        another.renew(queue, "skip-locked")
        assert caller.broadcast(queue, other).status == 200
        another.renew(queue, "pgmq")
        assert caller.send(queue).status == 200
        another.renew(queue, "skip-locked")
        assert caller.send(queue, receiver=7).status == 200


# --- what a technique is ----------------------------------------------------------------------


def test_advisory_waits_for_who_has_the_queue_s_lock(
    caller: Caller, database: LiveDatabase, users: ThreadPoolExecutor
) -> None:
    queue = caller.queue("advisory")
    message = caller.send(queue).members["id"]
    number = database.value("SELECT id FROM messages.queue WHERE name = %s", queue)
    with database.connect() as other:
        other.execute("SELECT pg_advisory_lock(%s)", [number])
        removals = [
            users.submit(caller.pop, queue),
            users.submit(caller.ask, "DELETE", f"/queues/{queue}/messages/{message}"),
        ]
        wait_until(lambda: database.waiting("advisory") > 0)
        assert not any(each.done() for each in removals)
    popped, deleted = (each.result(60).members for each in removals)
    assert (popped["id"] == message) != deleted["deleted"]


class Losing:
    """A session whose transactions all lose against another."""

    def __init__(self) -> None:
        self.begun = 0

    @contextmanager
    def transaction(self, *_begin: bytes) -> Iterator[None]:
        self.begun += 1
        yield

    def do(self, _name: str, _values: object) -> NoReturn:
        raise StatementError("40001")


def test_a_pop_of_repeatable_read_that_always_loses_is_tried_again_50_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session, pauses, lost = Losing(), list[float](), list[None]()
    monkeypatch.setattr(techniques, "sleep", pauses.append)
    values = {"key": None, "receiver": 0}
    with pytest.raises(StatementError) as error:
        techniques.QUEUE_TECHNIQUES["repeatable-read"].pop_one(
            cast(Session, session), values, lambda: lost.append(None)
        )
    assert error.value.sqlstate == "40001"
    assert (session.begun, len(lost), len(pauses)) == (51, 50, 50)


def test_memory_asks_no_database(caller: Caller) -> None:
    queue = caller.queue("memory")
    told = [
        caller.send(queue),
        caller.ask("GET", f"/queues/{queue}/messages"),
        caller.ask("GET", f"/queues/{queue}"),
        caller.pop(queue),
        caller.pop(queue),
    ]
    for each in told:
        assert each.headers["Server-Timing"].endswith("connection;dur=0.000, database;dur=0.000")


def test_queues_of_one_process_are_not_for_several_workers(database: LiveDatabase) -> None:
    with calling_at(database, workers=1, database_connections=1) as alone:
        queue = alone.queue("memory")
        with pytest.MonkeyPatch.context() as patch:
            workload = alone.core._workloads["messages"].workload
            patch.setattr(workload, "_settings", database.settings(workers=2))
            told = alone.send(queue)
            assert (told.status, told.code) == (422, "003")
            assert told.members["errorMessage"] == "technique: memory is not offered under serial"


# --- the database and who asks it ---------------------------------------------------------------


def test_a_statement_is_prepared_once_whatever_the_size_of_its_numbers(
    database: LiveDatabase,
) -> None:
    with calling_at(database, database_connections=1) as caller:
        queue = caller.queue()
        for sender in (1, 2**15, 2**31, 2**63 - 1):
            for receiver in (1, 2**40):
                assert caller.send(queue, sender=sender, receiver=receiver).status == 200
        connection = caller.database.take()
        rows = connection.execute("SELECT statement FROM pg_prepared_statements").fetchall()
        caller.database.give_back(connection)
    assert sum("INSERT INTO messages.message" in text for (text,) in rows) == 1


def test_connections_that_the_server_has_ended_are_not_given_to_a_request(
    database: LiveDatabase,
) -> None:
    with calling_at(database, database_connections=5) as caller:
        queue = caller.queue()
        taken = [caller.database.take() for _ in range(5)]
        pids = [each.info.backend_pid for each in taken]
        for each in taken:
            caller.database.give_back(each)
        with database.connect() as other:
            for pid in pids:
                other.execute("SELECT pg_terminate_backend(%s)", [pid])
        wait_until(
            lambda: (
                not database.value(
                    "SELECT count(*) FROM pg_stat_activity WHERE pid = ANY(%s)", pids
                )
            )
        )
        assert [caller.send(queue).status for _ in range(10)] == [200] * 10
        assert caller.page("/health")["database"] == {"up": True}


def test_a_request_waits_a_second_for_a_connection_and_is_then_not_done(
    database: LiveDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    with calling_at(database, database_connections=1) as caller:
        queue = caller.queue()
        connection = caller.database.take()
        told = caller.send(queue)
        assert (told.status, told.code) == (503, "014")
        (record,) = caplog.records
        assert record.getMessage().endswith("SQLSTATE 08001: it gives no connection")
        caller.database.give_back(connection)
        assert caller.send(queue).status == 200
        assert caller.count(queue) == 1


def test_a_statement_that_the_server_ends_is_not_done(
    caller: Caller, database: LiveDatabase, users: ThreadPoolExecutor
) -> None:
    queue = caller.queue("blocking")
    caller.send(queue)
    with database.locked_head(queue, delete=False) as other:
        popping = users.submit(caller.pop, queue)
        wait_until(lambda: database.waiting("transactionid") > 0)
        text = (
            "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'transactionid'"
        )
        other.execute(text)
        assert (popping.result(60).status, popping.result().code) == (503, "014")
    assert caller.count(queue) == 1


@contextmanager
def broken(**texts: bytes) -> Iterator[None]:
    """Statements have other texts; `_` stands for `-` in their names."""
    others = {name.replace("_", "-"): text for name, text in texts.items()}
    every = {**statements(), **others}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("restbench_service.workloads.messages.database.statements", lambda: every)
        yield


def test_the_log_has_neither_bodies_nor_what_the_server_said(
    caller: Caller, caplog: pytest.LogCaptureFixture
) -> None:
    queue = caller.queue()
    with broken(send=b"SELECT %(body)s::int"):
        told = caller.send(queue, "secret-4815162342")
    assert (told.status, told.code) == (503, "014")
    assert "22P02" in caplog.text
    assert "4815162342" not in caplog.text and "invalid" not in caplog.text


@pytest.mark.parametrize("sqlstate", ["40P01", "53200", "57014", "XX000"])
def test_the_log_says_when_requests_begin_to_fail_and_when_they_no_longer_do(
    caller: Caller, caplog: pytest.LogCaptureFixture, sqlstate: str
) -> None:
    """Not when a transaction begins that will fail."""
    queue = caller.queue("statements")
    assert caller.send(queue).status == 200
    caplog.clear()
    failing = f"DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '{sqlstate}'; END $$"
    with broken(pop_statements_delete=failing.encode()):
        assert [caller.pop(queue).code for _ in range(3)] == ["014"] * 3
    assert [caller.pop(queue).status for _ in range(2)] == [200] * 2
    began, ended = (record.getMessage() for record in caplog.records)
    assert began == f"the database fails with SQLSTATE {sqlstate}"
    assert ended == "the database answers again"


def test_the_log_names_what_makes_tables_that_are_missing(
    caller: Caller, caplog: pytest.LogCaptureFixture
) -> None:
    caller.queue()
    caplog.clear()
    none = b"SELECT 1 FROM nowhere.nothing"
    with broken(list_queues=none, find_queue=none, create_queue=b"SELECT nowhere.nothing()"):
        assert caller.ask("GET", "/queues").code == "014"
        assert caller.send(fresh_name()).code == "014"
        assert caller.ask("POST", "/queues", requestId=1, queue=fresh_name()).code == "014"
    tables, schema = (record.getMessage() for record in caplog.records)
    assert tables.endswith("SQLSTATE 42P01: tables are missing: restbench database migrate")
    assert schema.endswith("SQLSTATE 3F000: tables are missing: restbench database migrate")


def test_health_is_answered_and_nothing_done_while_the_database_accepts_and_says_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent_one = unused_address().at(silent.getsockname()[1])
        with calling_at(silent_one, database_connections=1) as caller:
            asked = [caller.page("/health")["database"] for _ in range(2)]
            assert asked == [{"up": False}, {"up": False}]
            assert caller.database._asked and not caller.database._asked.done()
            told = caller.send("a")
            assert (told.status, told.code) == (503, "014")


def test_whether_it_is_up_is_asked_again_whatever_went_wrong_before(
    own: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No thread could be started, or something failed in it. Who asks waits for the answer."""
    monkeypatch.setattr("restbench_service.workloads.messages.database.UP_CHECK_SECONDS", 30.0)
    with no_new_thread("is it up"), pytest.raises(RuntimeError):
        own.is_up()
    with monkeypatch.context() as patched:
        patched.setattr(psycopg, "connect", lambda *_, **__: 1 / 0)
        assert not own.is_up()
    assert own.is_up()


def test_a_database_whose_connections_are_all_in_use_is_up(database: LiveDatabase) -> None:
    with calling_at(database, database_connections=1) as caller:
        connection = caller.database.take()
        assert caller.send("a").code == "014"
        wait_until(lambda: caller.page("/health")["database"] == {"up": True})
        caller.database.give_back(connection)


def test_the_password_is_the_first_line_of_its_file_without_white_space_around_it(
    database: LiveDatabase, tmp_path: Path
) -> None:
    password = tmp_path / "password"
    password.write_text(f" {database.password_file.read_text().strip()} \r\nanother\n")
    with calling_at(replace(database, password_file=password)) as caller:
        assert caller.ask("GET", "/queues").status == 200
        wait_until(lambda: caller.page("/health")["database"] == {"up": True})


def test_a_body_of_a_delete_is_ignored(caller: Caller) -> None:
    told = caller.raw("DELETE", f"/queues/{caller.queue()}", b"[")
    assert (told.status, told.members["deleted"]) == (200, True)
