"""A reverse proxy before a service: it has the service's port, and root's has nobody's rights."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
from http.client import HTTPResponse
from pathlib import Path

import psutil
import pytest
from other_process import beside, line_of
from ports import free_port
from stub_cli import stub_command
from waiting import await_true

from restbench.deploy import fronts, programs, serve, service
from restbench.drive import monitor
from restbench.experiment import experiment
from restbench.experiment.cell import Front
from restbench.failures import BadConfiguration, EnvironmentProblem
from restbench.machine.ports import listeners

#: The program of the Python service; the other tests put a stub in its place.
OWN_PYTHON = programs.COMMANDS["python"]


@pytest.fixture(autouse=True)
def stubs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(serve, "serve_folder", lambda: tmp_path)
    for name in ("java", "python"):
        monkeypatch.setitem(programs.COMMANDS, name, lambda _, name=name: stub_command(name))
        monkeypatch.setenv(f"{name.upper()}_PORT", str(free_port()))


def skip_without(front: Front) -> None:
    try:
        fronts.program(front)
    except EnvironmentProblem as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("front", ["apache", "nginx", "haproxy"])
def test_it_listens_where_the_service_would_and_the_service_behind_it(
    front: Front, tmp_path: Path
) -> None:
    skip_without(front)
    with service.start("java", front, None, tmp_path) as started:
        assert started.base_url == f"http://127.0.0.1:{os.environ['JAVA_PORT']}"
        assert started.health()["service"] == "java"
        names = [psutil.Process(each.pid).name() for each in started.processes]
        assert names[1] == fronts.PROGRAMS[front][0]
        assert {psutil.Process(pid).name() for pid in started.front_pids()} == {names[1]}
        family = started.pids()
    assert await_true(lambda: not any(psutil.pid_exists(pid) for pid in family))


KILLED = """
import sys, time
from pathlib import Path
from restbench.deploy import service
front, port, folder, *command = sys.argv[1:]
service.start("java", front, None, Path(folder), command=command, port=int(port))
print("up", flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("front", ["apache", "nginx", "haproxy"])
def test_nothing_of_a_front_is_left_when_its_harness_is_killed(
    front: Front, tmp_path: Path
) -> None:
    skip_without(front)
    port = free_port()
    with beside(KILLED, front, str(port), str(tmp_path), *stub_command("java")) as harness:
        assert line_of(harness) == "up"
        its = listeners(port)
        assert its
        harness.kill()
        try:
            assert await_true(lambda: not listeners(port)), "a worker keeps the port"
        finally:
            for pid in its & listeners(port):
                os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("front", ["nginx", "haproxy"])
def test_a_front_of_root_is_nobodys(front: Front) -> None:
    skip_without(front)
    folders: list[Path] = []
    try:
        for each in serve.start_all(front):
            started = psutil.Process(each.processes[1].pid)
            title = " ".join(started.cmdline())
            folders.append(Path(re.findall(r"-[pf] (\S+)", title)[0]))
            users = {process.uids().real for process in [started, *started.children()]}
            assert users == {fronts.NOBODY if os.geteuid() == 0 else os.geteuid()}
            each.client.close()
    finally:
        assert serve.stop_all() == ["java", "python"]
    assert len(folders) == len(serve.NAMES)
    assert not any(each.exists() for each in folders)


@pytest.mark.parametrize("front", ["apache", "nginx", "haproxy"])
def test_what_a_front_says_by_itself_is_in_the_contracts_words(
    front: Front, tmp_path: Path
) -> None:
    """But for HAProxy's to what it cannot parse."""
    skip_without(front)
    with service.start("java", front, None, tmp_path) as started:
        refused = answer_to_no_http(int(os.environ["JAVA_PORT"]))
        started.processes[0].kill()
        started.processes[0].wait()
        away = [started.client.get(f"{started.base_url}/health") for _ in range(3)]
    text = "the request is refused with status 400"
    error = {"requestId": None, "errorCode": "002", "errorMessage": text}
    assert front == "haproxy" or json.loads(refused) == error
    text = "a fault of the service; its log says more"
    for answer in away:
        assert answer.status_code == (503 if front == "apache" else 500)
        assert answer.json() == {"requestId": None, "errorCode": "099", "errorMessage": text}
        assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("front", ["nginx", "haproxy"])
def test_an_instance_that_is_away_keeps_its_part_of_the_requests(
    front: Front, tmp_path: Path
) -> None:
    """A front that left it out would hide its errors and double the load of the other."""
    skip_without(front)
    with service.start("java", front, None, tmp_path, instances=(None, None)) as started:
        started.processes[0].kill()
        started.processes[0].wait()
        answers = [started.client.get(f"{started.base_url}/health") for _ in range(20)]
    failed = [answer.status_code == 500 for answer in answers]
    assert {answer.json()["errorCode"] for answer in answers if answer.is_error} == {"099"}
    assert 8 <= sum(failed) <= 12
    assert any(failed[-4:]) and not all(failed[-4:])


def answer_to_no_http(port: int) -> bytes:
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(b"no HTTP\r\n\r\n")
        response = HTTPResponse(connection)
        response.begin()
        return response.read()


@pytest.mark.parametrize(
    ("front", "told"),
    [
        ("apache", "apache2 is missing: apt-get install apache2-bin"),
        ("nginx", "nginx is missing: apt-get install nginx"),
        ("haproxy", "haproxy is missing: apt-get install haproxy"),
    ],
)
def test_a_front_that_is_not_installed_is_named_with_its_package(
    front: Front, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fronts.shutil, "which", lambda _name, **_where: None)
    with pytest.raises(EnvironmentProblem, match=told):
        fronts.program(front)


def test_the_environments_framework_and_no_choice_of_openblas_reach_a_service(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    monkeypatch.setenv("PYTHON_FRAMEWORK", "fastapi")
    with service.start("python", "none", None, tmp_path) as started:
        environment = psutil.Process(started.processes[0].pid).environ()
    assert "OPENBLAS_CORETYPE" not in environment
    assert environment["RESTBENCH_FRAMEWORK"] == "fastapi"


PYTHON_CELLS = """
name = "own"
title = "A front and its service"
seed = 1
[complexities]
low = { rows = 3, inner = 2, columns = 2 }
[profiles.quick]
description = "quick"
minutes = 1
blocks = 1
warm_max_s = { java = 1.0, python = 1.0 }
[[cells]]
name = "linked"
service = "python"
strategy = "serial"
complexity = "low"
users = 1
front = ["nginx", "haproxy"]
link = ["tcp", "unix"]
"""


def test_a_link_is_a_factor_of_the_cell_and_of_its_service(tmp_path: Path) -> None:
    cells = experiment.parse(PYTHON_CELLS, tmp_path / "own.toml").all_cells()
    assert [each.id.removeprefix("python-serial-unbound-low-1u-") for each in cells] == [
        "nginx",
        "nginx-unix",
        "haproxy",
        "haproxy-unix",
    ]
    assert cells[1].service_group.name == "python-unbound-nginx-unix"
    assert len({each.service_group for each in cells}) == len(cells)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('service = "python"', 'service = "java"'),
        ('front = ["nginx", "haproxy"]', 'front = ["nginx", "none"]'),
        ('front = ["nginx", "haproxy"]', 'front = "apache"'),
        ("users = 1", "users = 1\nworkers = 2"),
    ],
)
def test_a_unix_socket_that_nobody_could_use_is_refused_with_what_could(
    tmp_path: Path, old: str, new: str
) -> None:
    with pytest.raises(BadConfiguration, match=r"link: 'unix' is for service = 'python' with"):
        experiment.parse(PYTHON_CELLS.replace(old, new), tmp_path / "own.toml")


@pytest.mark.live
@pytest.mark.parametrize(("front", "instances"), [("nginx", ()), ("haproxy", (None, None))])
def test_a_front_reaches_the_python_service_over_a_unix_socket_alone(
    front: Front, instances: tuple[None, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_without(front)
    monkeypatch.setitem(programs.COMMANDS, "python", OWN_PYTHON)
    settings = {"RESTBENCH_STRATEGIES": "serial"}
    with service.start(
        "python", front, None, tmp_path, settings=settings, instances=instances, link="unix"
    ) as started:
        for _ in range(8):
            answer = started.post("/matrix/serial", json.dumps(serve.EXAMPLE).encode())
            assert answer.json()["requestId"] == "1"
        counts = monitor.answered_requests(started, "serial")
        assert (len(counts), sum(counts)) == (len(instances) or 1, 8)
        listening = {
            each.laddr.port
            for pid in started.pids()
            for each in psutil.Process(pid).net_connections("tcp")
            if each.status == psutil.CONN_LISTEN
        }
        assert listening == {int(os.environ["PYTHON_PORT"])}, "the front's own"
