"""Starting what does not start: one line with the cause and the mend, nothing left behind."""

from __future__ import annotations

import errno
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import psutil
import pytest
from other_process import SLEEPS, beside
from ports import free_port
from waiting import await_true

from restbench.deploy import service
from restbench.failures import BadConfiguration, EnvironmentProblem
from restbench.machine import ports, process, watch


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind((ports.HOST, 0))
        listener.listen()
        yield listener.getsockname()[1]


def children() -> set[int]:
    """The guardian, which is there from the first start on, is one of them before and after."""
    watch.begin()
    return {child.pid for child in psutil.Process().children(recursive=True)}


def test_a_port_in_use_names_its_owner_and_the_variable(
    taken_port: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JAVA_PORT", str(taken_port))
    before = children()
    with pytest.raises(EnvironmentProblem) as caught:
        service.start("java", "none", None, tmp_path)
    message = str(caught.value)
    assert f"port {taken_port} is in use by" in message
    assert "set JAVA_PORT" in message
    assert children() <= before


def test_the_owner_of_a_port_that_the_kernel_does_not_name_is_not_said_to_be_us(
    taken_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    nameless = [each._replace(pid=None) for each in psutil.net_connections("tcp")]
    monkeypatch.setattr(psutil, "net_connections", lambda _kind: nameless)
    monkeypatch.setenv("JAVA_PORT", str(taken_port))
    with pytest.raises(EnvironmentProblem, match=f"port {taken_port} is in use: "):
        ports.free_port_of("java")


def test_a_port_that_only_root_may_use_is_not_said_to_be_in_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refused = PermissionError(errno.EACCES, "Permission denied")
    monkeypatch.setattr(socket.socket, "bind", Mock(side_effect=refused))
    monkeypatch.setenv("JAVA_PORT", "80")
    with pytest.raises(EnvironmentProblem, match="port 80 is only for root: set JAVA_PORT to one"):
        ports.free_port_of("java")


@pytest.mark.parametrize("text", ["http", "0", "65536", "-1", "8²"])
def test_a_port_that_is_none_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_PORT", text)
    with pytest.raises(BadConfiguration, match=f"PYTHON_PORT={text} is not a port"):
        ports.port("python")


def test_an_empty_port_is_the_usual_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_PORT", "")
    assert ports.port("python") == 8000


def start(folder: Path, program: str) -> None:
    """A Python program in the place of a service."""
    line = [sys.executable, "-c", program]
    service.start("java", "none", None, folder, command=line, port=free_port())


def test_a_service_that_dies_at_once_shows_the_end_of_its_log(tmp_path: Path) -> None:
    before = children()
    with pytest.raises(EnvironmentProblem, match="no such bean"):
        start(tmp_path, "print('no such bean'); raise SystemExit(1)")
    assert children() <= before


@pytest.mark.parametrize(("given", "expected"), [("", 10), ("7", 7)])
def test_a_service_stops_by_itself_before_it_is_killed(
    given: str, expected: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Else a request that does not come whole would end it, its pools left to the kernel."""
    if given:
        monkeypatch.setenv("RESTBENCH_STOP_TIMEOUT_SECONDS", given)
    told = "import os; raise SystemExit(os.environ['RESTBENCH_STOP_TIMEOUT_SECONDS'] + ' s')"
    with pytest.raises(EnvironmentProblem, match=f"\n{expected} s"):
        start(tmp_path, told)
    assert expected < process.STOP_TIMEOUT_S


def test_what_another_process_answers_at_its_port_is_not_taken_for_the_service(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It may have taken the port while the service came up; its numbers would be another's."""
    monkeypatch.setattr(service, "READY_TIMEOUT_S", 3.0)
    (tmp_path / "health").write_text("{}")
    port = free_port()
    other = f"import http.server as h, os; os.chdir({str(tmp_path)!r}); "
    other += f"h.HTTPServer(({ports.HOST!r}, {port}), h.SimpleHTTPRequestHandler).serve_forever()"
    with beside(other) as stranger:
        assert await_true(lambda: stranger.pid in ports.listeners(port))
        ours = [sys.executable, "-c", SLEEPS]
        with pytest.raises(EnvironmentProblem, match=f"another process answers.*{stranger.pid}"):
            service.start("java", "none", None, tmp_path, command=ours, port=port)


def test_a_service_that_never_answers_is_given_up_and_stopped(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(service, "READY_TIMEOUT_S", 0.5)
    before = children()
    with pytest.raises(EnvironmentProblem, match="did not come up"):
        start(tmp_path, SLEEPS)
    assert children() <= before


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("import os; os.kill(os.getpid(), 15)", "was stopped from outside (SIGTERM)"),
        ("raise SystemExit(143)", "was stopped from outside (SIGTERM)"),
        ("pass", "was stopped from outside (it shut down normally, with exit code 0)"),
        ("import os; os.kill(os.getpid(), 9)", "was killed (SIGKILL): from outside, or by the ker"),
        ("raise SystemExit(3)", "died with exit code 3; its log ends:\nout of memory"),
    ],
)
def test_a_service_that_was_stopped_is_not_said_to_have_died(
    program: str, told: str, tmp_path: Path
) -> None:
    log = tmp_path / "service.log"
    log.write_text("out of memory\n")
    ended = subprocess.Popen([sys.executable, "-c", program])
    found = service.Service("java", "http://127.0.0.1:1", [ended], log=log).ending()
    assert found.startswith(f"the java service {told}")
    assert ("log ends" in found) == ("died" in found)


def test_what_a_services_process_has_started_is_of_the_service() -> None:
    """gunicorn's workers and their pools serve: their CPU time is the service's."""
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {SLEEPS!r}])"
    started = subprocess.Popen([sys.executable, "-c", parent], start_new_session=True)
    running = service.Service("python", "http://127.0.0.1:1", [started])
    try:
        assert await_true(lambda: len(running.pids()) == 2)
        assert started.pid in running.pids()
    finally:
        process.stop(started)
    assert running.pids() == ()


def test_a_service_of_others_that_is_gone_is_named_by_its_address() -> None:
    found = service.Service("java", "http://java:8080").ending()
    assert found.startswith("the java service at http://java:8080, which is attached, does not ans")


def test_a_service_that_hangs_is_not_said_to_have_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "ENDING_S", 0.05)
    with beside() as hung:
        found = service.Service("java", "http://127.0.0.1:1", [hung]).ending()
    assert found == "the java service does not answer any more"
