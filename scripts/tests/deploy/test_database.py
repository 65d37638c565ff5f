"""The harness' PostgreSQL: how it starts, what is left when something is killed, who knows what."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest
from database_server import DEBIAN, session
from other_process import beside
from waiting import PATIENCE_S, await_true

from restbench.deploy import database as room
from restbench.deploy import postgres
from restbench.deploy.database import Database, Victim, attached
from restbench.deploy.fronts import NOBODY
from restbench.deploy.migrations import ROLES
from restbench.failures import BadConfiguration, EnvironmentProblem

pytestmark = pytest.mark.live
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root has to become another user")


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    made = Database(tmp_path_factory.mktemp("own"), overrides={"shared_buffers": "16MB"})
    made.start()
    made.migrate()
    yield made
    made.stop()


@pytest.fixture
def own(one: Database) -> Database:
    """One that these tests may kill; whatever became of it in the last one, it runs."""
    one.overrides = {"shared_buffers": "16MB"}
    one.start()
    assert await_true(one._answers)
    return one


def is_ended(connection: psycopg.Connection[Any]) -> bool:
    try:
        connection.execute("SELECT 1").fetchall()
    except psycopg.OperationalError:
        return True
    return False


# --- killed, and started again -------------------------------------------------------------------
@pytest.mark.parametrize("victim", ["postmaster", "all"])
def test_what_was_committed_is_there_after_a_kill_and_on_the_same_port(
    own: Database, victim: Victim
) -> None:
    port = own.port
    with session(own) as ours:
        before = own.pids()
        assert ours.pid in before
        queue = ours.queue()
        message = ours.send(queue)
        killed = own.kill(victim)
        assert (ours.pid in killed) == (victim == "all")
        own.restart()
        with pytest.raises(psycopg.OperationalError):
            ours.send(queue)
    assert own.port == port
    assert not set(before) & set(own.pids())
    with session(own) as ours:
        popped = ours.one("pop-skip-locked", queue_id=queue, receiver=0)
    assert popped["id"] == message


def test_a_server_goes_on_after_one_of_a_services_backends_was_killed(own: Database) -> None:
    with own.connect() as owner, session(own) as ours:
        before = own.postmaster()
        assert own.kill("backend") == (ours.pid,)
        for ended in (owner, ours.connection):  # all begin anew: shared memory may be broken
            assert await_true(lambda: is_ended(ended))  # noqa: B023 - at once
    assert await_true(own._answers)
    assert own.postmaster() == before


def test_without_a_services_backend_none_is_killed(own: Database) -> None:
    with own.connect() as owner:
        assert own.kill("backend") == ()
        assert owner.execute("SELECT 1").fetchall() == [(1,)]


def test_one_that_is_paused_answers_nobody_and_goes_on(own: Database) -> None:
    with own.connect() as owner:
        own.kill("all", signal.SIGSTOP)
        answers: list[object] = []
        asking = threading.Thread(
            target=lambda: answers.append(owner.execute("SELECT 1").fetchone()), daemon=True
        )
        asking.start()
        asking.join(0.2)
        assert answers == []
        own.kill("all", signal.SIGCONT)
        asking.join(PATIENCE_S)
        assert answers == [(1,)]


def test_one_that_is_paused_is_stopped_all_the_same(own: Database) -> None:
    own.kill("all", signal.SIGSTOP)
    own.stop()
    assert own.pids() == ()
    assert not own.alive()
    with pytest.raises(EnvironmentProblem, match=r"no database runs in .* that could be killed"):
        own.kill("all")
    own.start()


def test_starting_one_that_runs_changes_nothing(own: Database) -> None:
    before = own.postmaster()
    own.start()
    assert own.postmaster() == before


# --- who it runs as, and what is known of it -----------------------------------------------------
def test_it_listens_on_loopback_alone_and_not_as_root(own: Database) -> None:
    (postmaster,) = own.kill("postmaster", signal.SIGCONT)
    listening = {each.laddr.ip for each in psutil.Process(postmaster).net_connections("tcp")}
    assert listening == {"127.0.0.1"}
    effective = Path(f"/proc/{postmaster}/status").read_text()
    namespace = Path(f"/proc/{postmaster}/ns/user").readlink()
    is_root = "\nUid:\t0\t0" in effective and namespace == Path("/proc/self/ns/user").readlink()
    assert not is_root


def command_and_environment(pid: int) -> tuple[str, ...]:
    """Nothing of a process that ended meanwhile, as the database's own workers do."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return tuple(Path(f"/proc/{pid}/{file}").read_text() for file in ("cmdline", "environ"))
    return ()


def test_passwords_are_in_files_of_ours_alone(own: Database) -> None:
    words = {role: own.password_file(role).read_text() for role in ROLES}
    assert len(set(words.values())) == len(ROLES)
    for role in ROLES:
        mode = own.password_file(role).stat().st_mode
        assert stat.S_IMODE(mode) == 0o600
    told = [said for pid in own.pids() for said in command_and_environment(pid)]
    assert told
    with own.connect() as owner:
        seen = owner.execute("SELECT query FROM pg_stat_statements").fetchall()
    log = own.log.read_text()
    for word in words.values():
        assert len(word) == 48
        assert word not in "".join([*told, log, str(seen), repr(own)])
        assert word not in str(own.described()) + "".join(own.environment().values())


def test_no_message_is_in_the_log(own: Database) -> None:
    with session(own) as ours:
        queue = ours.queue()
        with pytest.raises(psycopg.Error):
            ours.connection.execute(
                "INSERT INTO messages.message (queue_id, sender, body) VALUES (%s, -1, %s)",
                [queue, "a secret"],
            )
        with pytest.raises(psycopg.Error):
            ours.connection.execute("SELECT 'a secret' FROM nowhere")
    log = own.log.read_text()
    assert "violates check constraint" in log
    assert "a secret" not in log


def test_clients_of_its_own_find_the_password_by_a_file(own: Database) -> None:
    done = subprocess.run(
        [own.program("psql"), own.url("service"), "-Atc", "SELECT current_user"],
        env=os.environ | own.client_environment("service"),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "restbench_service\n"


def test_another_process_finds_it_by_its_folder_and_starts_no_other(own: Database) -> None:
    found, running = attached(own.folder), own.postmaster()
    assert found.url("owner") == own.url("owner")
    with pytest.raises(EnvironmentProblem, match=r"a database runs in .*'restbench database stop'"):
        Database(own.folder).start()
    assert found.postmaster() == running is not None


def test_its_version_and_settings_are_told(own: Database) -> None:
    told = own.described()
    assert told["version"].startswith("PostgreSQL ")
    assert told["settings"]["shared_buffers"] == "16MB"
    assert told["settings"]["max_connections"] == "500"
    assert told["settings"]["track_functions"] == "pl"
    assert "port" not in told["settings"]
    assert own.durable
    assert own.fdatasync_us() > 0


@pytest.mark.parametrize("setting", room.DURABILITY)
def test_what_may_lose_a_commit_is_not_durable(own: Database, setting: str) -> None:
    with own.connect() as owner:
        owner.execute(f"ALTER SYSTEM SET {setting} = off")
        owner.execute("SELECT pg_reload_conf()")
        try:
            assert await_true(lambda: not own.durable)
        finally:
            owner.execute(f"ALTER SYSTEM RESET {setting}")
            owner.execute("SELECT pg_reload_conf()")
    assert await_true(lambda: own.durable)


# --- that it cannot start is one line, and nothing is left ----------------------------------------
def test_a_setting_that_there_is_not_is_named(own: Database) -> None:
    own.stop()
    own.overrides = {"shared_bufers": "16MB"}
    with pytest.raises(EnvironmentProblem, match=r'ended at once.*"shared_bufers"') as problem:
        own.start()
    assert "\n" not in str(problem.value)
    assert own.pids() == ()
    own.overrides = {"shared_buffers": "16MB"}
    own.start()


def test_what_it_refuses_at_its_first_start_is_told_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a full disk is, which has no room for one more database."""
    monkeypatch.setattr(room, "NAME", "table")
    new = Database(tmp_path / "cluster", overrides={"shared_buffers": "16MB"})
    with pytest.raises(EnvironmentProblem, match="the database: syntax error") as found:
        new.start()
    assert "\n" not in str(found.value)
    assert new.pids() == ()


def test_a_folder_without_the_programs_is_named(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentProblem, match="has no program postgres"):
        Database(tmp_path / "cluster", tmp_path).start()


def test_without_the_package_the_mend_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "package_folder", lambda _name: None)
    with pytest.raises(EnvironmentProblem, match=r"'make setup' installs .*--postgres-bin"):
        Database(tmp_path).start()


@AS_ROOT
def test_root_that_may_become_nobody_else_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "_succeeds", lambda _line: False)
    with pytest.raises(EnvironmentProblem, match=r"does not run as root.*--database-url") as found:
        Database(tmp_path).start()
    assert found.value.exit_code == 3
    assert "\n" not in str(found.value)


def test_a_folder_that_it_makes_can_be_passed_through_and_not_listed(tmp_path: Path) -> None:
    """By the user nobody, as which root starts the server."""
    server = postgres.Server(tmp_path / "new" / "cluster")
    server.take_folder()
    assert stat.S_IMODE(server.folder.stat().st_mode) == 0o711


BY_A_USER = """
import os, sys
from pathlib import Path
from restbench.deploy.database import Database

made = Database(Path(sys.argv[1]), overrides={"shared_buffers": "16MB"})
made.start()
made.migrate()
print(os.geteuid() != 0, made.ordinary_user(), made.pids() != ())
made.stop()
"""


@AS_ROOT
@pytest.mark.skipif(not postgres._succeeds(["unshare", "--user", "true"]), reason="no namespaces")
def test_an_ordinary_user_starts_it_as_itself(tmp_path: Path) -> None:
    """In a namespace of its own root is nobody in particular; other tests here may be root's."""
    line = ["unshare", "--user", "--", sys.executable, "-c", BY_A_USER, str(tmp_path)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("True [] True\n", "")


@AS_ROOT
@pytest.mark.skipif(DEBIAN is None, reason="nobody has to reach the programs: no Debian's")
def test_root_becomes_nobody_where_nobody_reaches_it() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o711)
        made = Database(Path(folder), DEBIAN, overrides={"shared_buffers": "16MB"})
        try:
            made.start()
            made.migrate()
            (postmaster,) = made.kill("postmaster", signal.SIGCONT)
            assert psutil.Process(postmaster).uids().effective == NOBODY
            assert made.password_file("owner").stat().st_uid == os.geteuid()
        finally:
            made.stop()
            shutil.rmtree(made.data, ignore_errors=True)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("mysql://owner@localhost:1/a", "must be like postgresql://OWNER@HOST:5432/DATABASE"),
        ("postgresql://localhost:5432/a", "must be like"),
        ("postgres://owner@localhost:5432/a", "must be like"),
        ("postgresql://owner@localhost/a", "must be like"),
        ("postgresql://owner@localhost:5432/a?sslmode=require", "with nothing more"),
        ("postgresql://owner:word@localhost/a", "must not contain the password"),
    ],
)
def test_a_url_that_cannot_be_is_refused(tmp_path: Path, url: str, said: str) -> None:
    with pytest.raises(BadConfiguration, match=said) as problem:
        Database(tmp_path, own_url=url)
    assert "word" not in str(problem.value).replace("password", "")


def test_one_that_others_run_is_only_used(own: Database, tmp_path: Path) -> None:
    for role in ROLES:
        shutil.copy(own.password_file(role), tmp_path)
    theirs = Database(tmp_path, own_url=own.url("owner"))
    theirs.start()
    assert theirs.migrate() == []
    assert theirs.url("service") == own.url("service")
    assert own.environment()["RESTBENCH_DATABASE_FREE_PATH"] == str(own.data)
    assert "RESTBENCH_DATABASE_FREE_PATH" not in theirs.environment()  # its disk may be elsewhere
    assert theirs.pids() == ()
    theirs.stop()
    assert own.alive()
    with theirs.connect("service") as service:
        assert service.execute("SELECT current_user").fetchall() == [("restbench_service",)]


def test_one_that_does_not_answer_is_named(tmp_path: Path) -> None:
    theirs = Database(tmp_path, own_url="postgresql://owner@127.0.0.1:1/a")
    with pytest.raises(EnvironmentProblem, match=r"owner@127\.0\.0\.1:1/a does not answer: "):
        theirs.start()


def test_a_server_is_known_after_a_step_of_the_clock(own: Database) -> None:
    lock = own.data / "postmaster.pid"
    lines = lock.read_text().splitlines()
    lines[2] = str(int(lines[2]) - 10)
    lock.write_text("\n".join([*lines, ""]))
    assert own.alive()


def test_a_process_that_got_the_number_of_a_postmaster_is_left_alone(own: Database) -> None:
    own.kill("all")
    with beside() as stranger:
        assert await_true(lambda: not own.pids())
        lock = own.data / "postmaster.pid"
        lines = lock.read_text().splitlines()
        lock.write_text("\n".join([str(stranger.pid), *lines[1:]]))
        assert not own.alive()
        own.restart()
        assert stranger.poll() is None
    assert own.alive()
