"""`make serve` and `make stop`: what was started is ended, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import psutil
import pytest
from other_process import beside
from ports import free_port
from stub_cli import stub_command

from restbench.commands import services as command
from restbench.deploy import programs, serve
from restbench.deploy.database import Database
from restbench.deploy.service import Service
from restbench.failures import BadConfiguration, EnvironmentProblem


@pytest.fixture(autouse=True)
def stubs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setattr(serve, "serve_folder", lambda: tmp_path)
    monkeypatch.setitem(programs.COMMANDS, "java", lambda _settings: stub_command("java"))
    monkeypatch.setitem(programs.COMMANDS, "python", lambda _settings: stub_command("python"))
    monkeypatch.setenv("JAVA_PORT", str(free_port()))
    monkeypatch.setenv("PYTHON_PORT", str(free_port()))
    yield
    serve.stop_all()


def test_both_services_run_until_they_are_stopped() -> None:
    started = serve.start_all()
    assert set(serve.running()) == {"java", "python"}
    assert all(each.health()["service"] == each.name for each in started)
    with pytest.raises(EnvironmentProblem, match="'make stop' ends them"):
        serve.start_all()
    assert serve.stop_all() == ["java", "python"]
    assert not any(psutil.pid_exists(each.processes[0].pid) for each in started)
    assert serve.running() == {}
    for each in started:
        each.client.close()


def test_when_the_second_does_not_come_up_the_first_is_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dying = [sys.executable, "-c", "raise SystemExit('no flask')"]
    monkeypatch.setitem(programs.COMMANDS, "python", lambda _settings: dying)
    before = set(psutil.Process().children(recursive=True))
    with pytest.raises(EnvironmentProblem, match="no flask"):
        serve.start_all()
    assert set(psutil.Process().children(recursive=True)) <= before, "others may have ended"
    assert serve.running() == {}


@pytest.mark.parametrize("born", ["another-boot 12", 1_764_371_000.5, None], ids=str)
def test_a_process_that_got_the_number_of_a_service_is_left_alone(
    tmp_path: Path, born: object
) -> None:
    """Earlier versions noted seconds since the epoch."""
    with beside() as stranger:
        noted = {"java": [[stranger.pid, born]]}
        (tmp_path / "processes.json").write_text(json.dumps(noted))
        assert serve.stop_all() == []
        assert stranger.poll() is None


#: It has the name and the options of nginx, in a folder whose name has a space.
FRONT = """#!/bin/sh
trap 'exit 0' QUIT
echo listening
while :; do sleep 0.1; done
"""


def test_of_a_front_only_its_own_folder_is_removed(tmp_path: Path) -> None:
    own, other = tmp_path / "a b" / "nginx", tmp_path / "a"
    own.mkdir(parents=True)
    other.mkdir()
    program = tmp_path / "nginx"
    program.write_text(FRONT)
    program.chmod(0o755)
    with subprocess.Popen([program, "-p", own], stdout=subprocess.PIPE) as front:
        assert front.stdout
        assert front.stdout.readline() == b"listening\n"
        serve._note([Service("java", "", [front], front_folder=own)])
        assert serve.running() == {"java": [front.pid]}
        assert serve.stop_all() == ["java"]
    assert other.exists()
    assert not own.exists()


def test_services_are_known_after_a_step_of_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    for each in serve.start_all():
        each.client.close()
    told = psutil.Process.create_time
    with monkeypatch.context() as patch:
        patch.setattr(psutil.Process, "create_time", lambda process: told(process) + 10)
        assert set(serve.running()) == {"java", "python"}


def test_services_of_another_user_are_named_with_the_mend(monkeypatch: pytest.MonkeyPatch) -> None:
    for each in serve.start_all():
        each.client.close()
    with monkeypatch.context() as patch:
        patch.setattr(psutil.Process, "send_signal", Mock(side_effect=psutil.AccessDenied))
        with pytest.raises(EnvironmentProblem, match="belongs to another user: run 'make stop'"):
            serve.stop_all()
    assert set(serve.running()) == {"java", "python"}, "and still known"


@pytest.mark.live
def test_a_database_is_started_beside_the_services_and_ended_after_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    command.serve_services()
    shown = capsys.readouterr().out
    assert "/messages/serial/queues/a/pop" in shown
    server = Database(serve.database_folder())
    assert server.alive()
    for pids in serve.running().values():
        given = Path(f"/proc/{pids[0]}/environ").read_text().split("\0")
        assert f"RESTBENCH_DATABASE_PASSWORD_FILE={server.password_file('service')}" in given
        (url,) = [each for each in given if each.startswith("RESTBENCH_DATABASE_URL=")]
        assert url.startswith("RESTBENCH_DATABASE_URL=postgresql://restbench_service@127.0.0.1:")
        assert not any("restbench_owner" in each for each in given)
    command.stop_services()
    assert capsys.readouterr().out == "stopped: java, python, database\n"
    assert server.pids() == ()


@pytest.mark.live
def test_one_that_runs_already_is_taken_and_what_it_keeps_stays() -> None:
    folder = serve.database_folder()
    first = Database(folder, outlives_us=True)
    serve.start_database(first)
    with first.connect() as owner:
        owner.execute("INSERT INTO messages.queue (technique, name) VALUES ('blocking', 'kept')")
    second = Database(folder, outlives_us=True)
    serve.start_database(second)
    assert (second.port, second.postmaster()) == (first.port, first.postmaster())
    assert serve.stop_all() == ["database"]
    third = Database(folder, outlives_us=True)
    serve.start_database(third)
    with third.connect() as owner:
        assert owner.execute("SELECT name FROM messages.queue").fetchall() == [("kept",)]


@pytest.mark.live
def test_a_server_of_others_and_ours_do_not_share_passwords(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    theirs = Database(tmp_path / "theirs", overrides={"shared_buffers": "16MB"})
    theirs.start()
    monkeypatch.setenv("PGPASSFILE", theirs.client_environment("owner")["PGPASSFILE"])
    for url in (theirs.url("owner"), None, theirs.url("owner")):
        command.serve_services(database_url=url)
        assert "/messages/serial/queues/a/pop" in capsys.readouterr().out
        command.stop_services()
        assert ("database" in capsys.readouterr().out) == (url is None)
    theirs.stop()


@pytest.mark.live
def test_a_database_whose_tables_cannot_be_made_is_not_left_running(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = EnvironmentProblem("V3 was changed")
    monkeypatch.setattr(Database, "migrate", Mock(side_effect=changed))
    command.serve_services()
    assert "# without 'messages': V3 was changed\n" in capsys.readouterr().out
    assert Database(serve.database_folder()).pids() == ()


def test_without_a_database_all_else_is_served_and_one_line_says_so(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    command.serve_services(postgres_bin=tmp_path)
    first, *others = capsys.readouterr().out.splitlines()
    assert first == f"# without 'messages': {tmp_path} has no program postgres of PostgreSQL"
    assert not any("messages" in each for each in others)
    assert set(serve.running()) == {"java", "python"}
    assert serve.stop_all() == ["java", "python"]


@pytest.mark.parametrize(
    ("is_file", "told"),
    [
        (True, "cannot be written: Not a directory: a file stands where a folder is needed"),
        (False, "has files, but no database of restbench"),
    ],
)
def test_all_else_is_served_where_the_place_of_the_database_is_taken(
    is_file: bool, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place = serve.database_folder()
    notes = place if is_file else place / "notes.txt"
    notes.parent.mkdir(exist_ok=True)
    notes.write_text("mine")
    command.serve_services()
    first = capsys.readouterr().out.partition("\n")[0]
    assert first.startswith(f"# without 'messages': {place}")
    assert told in first
    assert serve.stop_all() == ["java", "python"]
    assert notes.read_text() == "mine"


@pytest.mark.parametrize(
    ("value", "lack", "told"),
    [
        ("undertow", "", "JAVA_FRAMEWORK=undertow: the java service offers "),
        (
            "helidon",
            "helidon: needs Java 21, this is 17",
            "JAVA_FRAMEWORK: helidon: needs Java 21, this is 17; there is ",
        ),
    ],
)
def test_a_framework_that_cannot_be_had_is_one_line_before_anything_is_started(
    value: str, lack: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is named beside it can be had."""
    monkeypatch.setenv("JAVA_FRAMEWORK", value)
    monkeypatch.setattr(
        programs, "why_unavailable", lambda _, framework: lack * (framework == "helidon")
    )
    with pytest.raises(BadConfiguration) as refused:
        command.serve_services()
    here = ["tomcat", "servlet", "jetty", "reactor-netty", "vertx", *["helidon"] * (not lack)]
    assert str(refused.value) == told + ", ".join(here)
    assert not serve.database_folder().exists()
    assert serve.running() == {}


def test_no_database_is_started_where_none_is_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    command.serve_services(with_database=False)
    assert "messages" not in capsys.readouterr().out
    assert not serve.database_folder().exists()


@pytest.mark.live
def test_a_database_that_was_started_for_services_that_cannot_start_is_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dying = [sys.executable, "-c", "raise SystemExit('no flask')"]
    monkeypatch.setitem(programs.COMMANDS, "python", lambda _settings: dying)
    with pytest.raises(EnvironmentProblem, match="no flask"):
        command.serve_services()
    assert Database(serve.database_folder()).pids() == ()


def test_a_broken_note_of_what_runs_is_one_line_with_what_to_do() -> None:
    serve._state().write_text("{")
    with pytest.raises(BadConfiguration, match=r"processes\.json: .*: remove it, and end services"):
        serve.stop_all()
    serve._state().unlink()
