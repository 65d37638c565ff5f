"""What is in the database after the migration, who may do what, and which way a pop goes there."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeAlias

import psycopg
import pytest
from database_server import STATEMENTS, Session, session

from restbench.deploy import migrations
from restbench.deploy.database import Database
from restbench.failures import EnvironmentProblem

pytestmark = pytest.mark.live
FILES = ["V1__messages.sql", "V2__pgmq.sql", "V3__rights.sql", "V4__keys.sql"]


@pytest.fixture
def empty(database: Database) -> Iterator[Database]:
    """A database of the same server without anything in it."""
    with database.connect() as owner:
        owner.execute("CREATE DATABASE empty")
    other = Database(database.folder, own_url=f"{database.url('owner').rpartition('/')[0]}/empty")
    yield other
    with database.connect() as owner:
        owner.execute("DROP DATABASE empty WITH (FORCE)")


def test_a_second_migration_has_nothing_to_do(empty: Database) -> None:
    assert empty.migrate() == FILES
    assert empty.migrate() == []


def test_of_those_who_migrate_at_once_one_does(empty: Database) -> None:
    with ThreadPoolExecutor(4) as threads:
        applied = list(threads.map(lambda _number: empty.migrate(), range(4)))
    assert sorted(applied) == [[], [], [], FILES]


def test_a_file_that_was_changed_after_it_was_applied_is_named(
    empty: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty.migrate()
    files = migrations.files()
    files["V1__messages.sql"] += "-- more"
    monkeypatch.setattr(migrations, "files", lambda: files)
    with pytest.raises(EnvironmentProblem, match=r"V1__messages\.sql was changed after"):
        empty.migrate()


def test_a_migration_that_fails_leaves_nothing(
    empty: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = migrations.files() | {"V4__broken.sql": "CREATE TABLE messages.more (); SELECT 1/0"}
    monkeypatch.setattr(migrations, "files", lambda: broken)
    with pytest.raises(EnvironmentProblem, match="cannot be made: division by zero"):
        empty.migrate()
    with empty.connect() as owner:
        found = owner.execute("SELECT to_regnamespace('messages'), to_regnamespace('restbench')")
        assert found.fetchall() == [(None, None)]


def test_files_are_applied_by_their_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "migrations").mkdir()
    for name in ("V10__b.sql", "V1__a.sql"):
        (tmp_path / "migrations" / name).write_text("SELECT 1")
    monkeypatch.setattr(migrations, "CONTRACT", tmp_path)
    assert list(migrations.files()) == ["V1__a.sql", "V2__pgmq.sql", "V10__b.sql"]


NAMES = ("a", "a-b", "a0", "a_b", "aa", "b", "z", "zz", "é", "ﬀ", "😀")
"""In the order of their code points; a dictionary has é before f, and - counts last there."""


@pytest.fixture
def dictionary(database: Database) -> Iterator[Database]:
    """A database with another order, of a server whose owner has chosen it."""
    with database.connect() as owner:
        try:
            owner.execute(
                "CREATE DATABASE dictionary TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en'"
            )
        except psycopg.errors.FeatureNotSupported:
            pytest.skip("this PostgreSQL has one order only: it is built without ICU")
    url = f"{database.url('owner').rpartition('/')[0]}/dictionary"
    other = Database(database.folder, own_url=url)
    other.migrate()
    yield other
    with database.connect() as owner:
        owner.execute("DROP DATABASE dictionary WITH (FORCE)")


def test_names_are_listed_by_their_code_points_whatever_the_order_of_the_database(
    dictionary: Database,
) -> None:
    with dictionary.connect() as owner:
        owner.execute("ALTER TABLE messages.queue DROP CONSTRAINT queue_name_check")
        for name in reversed(NAMES):
            add = "INSERT INTO messages.queue (technique, name) VALUES ('blocking', %s)"
            owner.execute(add, [name])
        ((by_words,),) = owner.execute(
            'SELECT array_agg(name ORDER BY name COLLATE "default") FROM messages.queue'
        ).fetchall()
    assert by_words != list(NAMES)
    with session(dictionary) as ours:
        for place, after in enumerate(("", *NAMES)):
            rows = ours.all("list-queues", after=after, limit=len(NAMES))
            assert [row["name"] for row in rows] == list(NAMES[place:])
            if after:
                assert ours.one("find-queue", queue=after) is not None


def test_the_order_of_names_is_that_of_the_table(database: Database) -> None:
    query = (
        "SELECT collation_name FROM information_schema.columns "
        "WHERE table_schema = 'messages' AND table_name = 'queue' AND column_name = 'name'"
    )
    with database.connect() as owner:
        assert owner.execute(query).fetchall() == [("C",)]


REFUSED = (
    "CREATE TABLE messages.more ()",
    "CREATE TABLE public.more ()",
    "CREATE TEMP TABLE more ()",
    "CREATE SCHEMA more",
    "CREATE FUNCTION pg_temp.more() RETURNS int LANGUAGE sql RETURN 1",
    "CREATE EXTENSION amcheck SCHEMA messages",
    "DROP TABLE messages.message",
    "ALTER TABLE messages.message ADD more int",
    "ALTER ROLE restbench_service SUPERUSER",
    "TRUNCATE messages.message",
    "INSERT INTO messages.queue (technique, name) VALUES ('blocking', 'a')",
    "UPDATE messages.queue SET name = 'a'",
    "DELETE FROM messages.queue",
    "UPDATE messages.message SET body = 'a'",
    "SELECT FROM restbench.migration",
    "SELECT FROM pgmq.meta",
    "SELECT pgmq.create('q1')",
    "SELECT pgmq.purge_queue('q1')",
    "SELECT pgmq.drop_queue('q1')",
    "COPY messages.message TO '/tmp/restbench-copied'",
    "COPY messages.receipt FROM '/etc/passwd'",
    "COPY messages.message TO PROGRAM 'true'",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_reload_conf()",
    "SELECT public.pg_stat_statements_reset()",
    "SET ROLE restbench_owner",
    "SET ROLE restbench_monitor",
    "SET SESSION AUTHORIZATION restbench_owner",
    "SET session_replication_role = replica",
)


@pytest.mark.parametrize("statement", REFUSED)
def test_a_service_may_not(ours: Session, statement: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        ours.connection.execute(statement.encode())


@pytest.mark.parametrize("other", ["postgres", "template1"])
def test_a_service_may_not_enter_another_database(database: Database, other: str) -> None:
    """By default everybody may, and may make temporary tables there."""
    with pytest.raises(EnvironmentProblem, match="permission denied for database"):
        database.connect("service", other)


def test_a_service_may_not_end_the_owners_sessions(database: Database, ours: Session) -> None:
    with database.connect() as owner, pytest.raises(psycopg.errors.InsufficientPrivilege):
        ours.connection.execute("SELECT pg_terminate_backend(%s)", [owner.info.backend_pid])


@pytest.mark.parametrize("table", ["message", "queue", "receipt"])
@pytest.mark.parametrize("act", ["SELECT", "DELETE"])
def test_the_monitor_reads_no_message_and_changes_none(
    database: Database, table: str, act: str
) -> None:
    refused = pytest.raises(psycopg.errors.InsufficientPrivilege)
    with database.connect("monitor") as monitor, refused:
        monitor.execute(f"{act} FROM messages.{table}".encode())


def test_the_monitor_reads_what_a_trace_needs(database: Database) -> None:
    with database.connect("monitor") as monitor:
        for query in (
            "SELECT n_live_tup, n_dead_tup FROM pg_stat_user_tables WHERE relname = 'message'",
            "SELECT tuple_count, dead_tuple_count FROM pgstattuple('messages.message')",
            "SELECT pg_total_relation_size('messages.message')",
            "SELECT count(query) FROM pg_stat_statements",
            "SELECT wal_records, wal_bytes FROM pg_stat_wal",
            "SELECT backend_xmin FROM pg_stat_activity WHERE usename = 'restbench_owner' LIMIT 1",
        ):
            assert len(monitor.execute(query.encode()).fetchall()) == 1


def test_a_function_with_the_owners_rights_looks_nowhere_else_and_is_for_services_alone(
    database: Database,
) -> None:
    with database.connect() as owner:
        rows = owner.execute(
            "SELECT proname, prosecdef, proconfig, has_function_privilege('restbench_monitor', "
            "p.oid, 'EXECUTE') FROM pg_proc p WHERE pronamespace = 'messages'::regnamespace"
        ).fetchall()
    assert len(rows) == 7
    for name, owns, configured, is_for_all in rows:
        assert configured == ["search_path=pg_catalog, pg_temp"], name
        assert owns == (name not in ("send", "pop", "lock_key")), name
        assert not is_for_all, name


@pytest.mark.parametrize("database_name", ["postgres", "template1"])
def test_nobody_else_has_a_password(database: Database, database_name: str) -> None:
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(database.url("owner"), dbname=database_name, password="", passfile="/none")


def test_a_service_gives_up_after_5_seconds_and_is_ended_when_it_idles(ours: Session) -> None:
    for name in ("statement_timeout", "idle_in_transaction_session_timeout"):
        assert ours.connection.execute(b"SHOW " + name.encode()).fetchall() == [{name: "5s"}]


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for each in plan.get("Plans", ()):
        yield from nodes(each)


POPS = ("skip-locked", "blocking", "plain")
#: Messages of two queues, 50 000 each.
FILL = (
    "INSERT INTO messages.message (queue_id, sender, body) "
    "SELECT unnest(%s::bigint[]), 1, repeat('x', 20) FROM generate_series(1, 50000)"
)
Nodes: TypeAlias = list[dict[str, Any]]


@pytest.fixture(scope="module")
def plans(database: Database) -> dict[str, tuple[Nodes, Nodes]]:
    """The nodes of each pop that was planned while there was no message, as it ran when its queue
    and another were full, and as it ran on a third queue, which was empty; `unguarded` is one of
    another role than the services'."""
    with database.connect() as owner, session(database) as ours:
        owner.execute("TRUNCATE messages.message")
        owner.execute("ALTER TABLE messages.message SET (autovacuum_enabled = off)")
        owner.execute("VACUUM ANALYZE messages.message")
        queue, other, empty = (ours.queue() for _ in range(3))
        pops: dict[str, tuple[psycopg.Connection[Any], str]]
        pops = {"unguarded": (owner, "skip-locked")}
        pops |= {name: (ours.connection, name) for name in POPS}
        try:
            for name, (connection, pop) in pops.items():
                text = STATEMENTS[f"pop-{pop}"]
                text = text.replace(":queue_id", "$1").replace(":receiver", "$2")
                connection.execute("SET plan_cache_mode = force_generic_plan")
                connection.execute(f'PREPARE "{name}" (bigint, bigint) AS {text}'.encode())
                popped = connection.execute(f'EXECUTE "{name}" ({queue}, 0)'.encode())
                assert popped.fetchall() == []
            owner.execute(FILL, [[queue, other]])
            return {
                name: (explained(connection, name, queue), explained(connection, name, empty))
                for name, (connection, _) in pops.items()
            }
        finally:
            owner.execute("TRUNCATE messages.message")
            owner.execute("ALTER TABLE messages.message RESET (autovacuum_enabled)")


def explained(connection: psycopg.Connection[Any], name: str, queue: int) -> Nodes:
    text = f'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE "{name}" ({queue}, 0)'
    (row,) = connection.execute(text.encode()).fetchall()
    ((found,),) = row.values() if isinstance(row, dict) else row
    return list(nodes(found["Plan"]))


@pytest.mark.parametrize("name", POPS)
def test_a_pop_that_was_planned_on_an_empty_table_reads_one_row_of_many(
    plans: dict[str, tuple[Nodes, Nodes]], name: str
) -> None:
    found, of_empty = plans[name]
    scans = [each for each in found if "Scan" in each["Node Type"]]
    assert {each["Node Type"] for each in scans} <= {"Index Scan", "Index Only Scan"}
    assert {each["Index Name"] for each in scans} == {"message_pkey"}
    assert all("queue_id" in each["Index Cond"] for each in scans)
    assert not any("Sort" in each["Node Type"] for each in found)
    assert sum(each["Actual Rows"] for each in scans) == 2
    assert found[0]["Shared Hit Blocks"] + found[0]["Shared Read Blocks"] < 40
    # Next to full queues an empty one is a look into the index.
    assert sum(each["Actual Rows"] for each in of_empty) == 0
    assert of_empty[0]["Shared Hit Blocks"] + of_empty[0]["Shared Read Blocks"] < 10


def test_without_the_guard_it_would_read_them_all(plans: dict[str, tuple[Nodes, Nodes]]) -> None:
    found, _ = plans["unguarded"]
    assert any("Sort" in each["Node Type"] for each in found)
    assert max(each["Actual Rows"] for each in found) == 50_000
