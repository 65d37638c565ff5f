"""What is a framework's own: where a request runs, and what the server around it leaves to it."""

import ctypes
import json
import os
import re
import select
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from live_metrics import in_flight, metric
from live_service import (
    JSON,
    LiveService,
    children,
    everyone_below,
    free_port,
    running,
    start,
    state_of,
    wait_until,
)
from raw_client import HEAD, answer_of, connected, everything, post_head
from test_killed_processes import SMALL, matrices

from restbench_service.frameworks import FRAMEWORKS, server_of

LONG = matrices(500, 2000, 50, "long")
SHORTER = matrices(500, 400, 50, "shorter")
ENDLESS = matrices(1000, 400, 500, "endless")  # far longer than any stop may take here
LONG_BODY = matrices(1, 30_000, 1, "long body")  # of 160 kB, soon computed
IN_A_LOOP = [name for name, it in FRAMEWORKS.items() if it.is_asynchronous]

SEES_CONNECTIONS = [name for name in FRAMEWORKS if name != "flask-granian"]
"""All but one can ask the connection: whether the client is silent, or gone."""


@pytest.fixture(scope="module")
def all_of_them(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, LiveService]]:
    """A service under each framework, for tests that leave it as it was."""
    folder = tmp_path_factory.mktemp("frameworks")
    settings = {"STRATEGIES": "serial", "KEEP_ALIVE_SECONDS": "3"}
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(running(folder / name, FRAMEWORK=name, **settings))
            for name in FRAMEWORKS
        }


@pytest.fixture(params=FRAMEWORKS)
def each(request: pytest.FixtureRequest, all_of_them: dict[str, LiveService]) -> LiveService:
    return all_of_them[request.param]


def health_of(service: LiveService) -> dict[str, object]:
    found: dict[str, object] = json.loads(service.request("GET", "/health").body)
    return found


def test_health_names_the_framework_and_its_server(each: LiveService) -> None:
    health = health_of(each)
    name = str(health["framework"])
    handoff = "thread" if name in IN_A_LOOP else None
    assert name in FRAMEWORKS
    assert (health["server"], health["handoff"], health["workers"]) == (server_of(name), handoff, 1)


def test_answers_have_a_date_and_no_name_of_the_server(each: LiveService) -> None:
    """gunicorn's own workers of WSGI write theirs, whatever the application says."""
    is_flask = health_of(each)["framework"] == "flask"
    allowed = ("gunicorn",) if is_flask else (None, "restbench")
    for path in ("/health", "/matrix/serial", "/nothing"):
        headers = each.request("POST", path, SMALL[0]).headers
        assert headers["Date"].endswith("GMT")
        assert headers["Server"] in allowed


PRODUCTS = re.compile(
    rb"gunicorn|granian|uvicorn|aiohttp|hyper|python|[0-9]+\.[0-9]+\.[0-9]+", re.I
)


def test_what_is_not_http_is_answered_without_the_name_of_the_server(each: LiveService) -> None:
    """aiohttp names itself there: the application does not see such a request."""
    with connected(each.port) as client:
        client.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        answer = everything(client)
    assert bool(PRODUCTS.search(answer)) == (health_of(each)["framework"] == "aiohttp")


def busy(services: Mapping[str, LiveService], seconds: float = 5.0) -> dict[str, int]:
    """Clock ticks of those that use more than 0.5 % of a core while nobody asks."""
    before = {name: service.web_ticks() for name, service in services.items()}
    time.sleep(seconds)
    used = {name: it.web_ticks() - before[name] for name, it in services.items()}
    most = 0.005 * seconds * os.sysconf("SC_CLK_TCK")
    return {name: ticks for name, ticks in used.items() if ticks > most}


def test_an_idle_service_uses_no_time(all_of_them: dict[str, LiveService]) -> None:
    assert not busy(all_of_them)


def sockets_of(pid: int) -> Iterator[socket.socket]:
    """A process's TCP sockets, as this process's own (pidfd_getfd)."""
    pidfd = os.pidfd_open(pid)
    try:
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(FileNotFoundError):
                if str(entry.readlink()).startswith("socket:"):
                    number = ctypes.CDLL(None).syscall(438, pidfd, int(entry.name), 0)
                    assert number >= 0
                    with socket.socket(fileno=number) as found:
                        if found.family == socket.AF_INET and found.type == socket.SOCK_STREAM:
                            yield found
    finally:
        os.close(pidfd)


def peer_of(it: socket.socket) -> object:
    """None where it is not connected."""
    with suppress(OSError):
        return it.getpeername()
    return None


def test_connections_send_at_once_and_1024_may_wait_to_be_accepted(each: LiveService) -> None:
    """gunicorn's ASGI worker has asyncio's default there, and no setting for it."""
    is_asgi_worker = health_of(each)["framework"] == "fastapi-gunicorn"
    listening = subprocess.run(
        ["ss", "-Hltn", f"sport = :{each.port}"], capture_output=True, text=True, check=True
    )
    assert listening.stdout.split()[2] == ("100" if is_asgi_worker else "1024")
    pids = [each.process.pid, *children(each.process.pid)]
    with connected(each.port) as client:
        client.sendall(post_head(len(SMALL[0])) + SMALL[0])
        assert answer_of(client).body == SMALL[1]
        ours = client.getsockname()
        delays = [
            it.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            for pid in pids
            for it in sockets_of(pid)
            if peer_of(it) == ours
        ]
    assert delays == [1]


def test_a_kept_connection_takes_one_long_body_after_the_other(each: LiveService) -> None:
    body, answer = LONG_BODY
    with connected(each.port) as client:
        for _ in range(60):
            client.sendall(post_head(len(body)) + body)
            assert answer_of(client).body == answer


def test_an_idle_connection_is_closed_after_its_time(all_of_them: dict[str, LiveService]) -> None:
    with ExitStack() as stack:
        clients = [stack.enter_context(connected(it.port)) for it in all_of_them.values()]
        for client in clients:
            client.sendall(post_head(len(SMALL[0])) + SMALL[0])
        assert [answer_of(client).body for client in clients] == [SMALL[1]] * len(clients)
        assert [everything(client) for client in clients] == [b""] * len(clients)


def test_what_a_client_held_that_left_while_its_request_ran_is_given_back(
    all_of_them: dict[str, LiveService],
) -> None:
    for service in all_of_them.values():
        with connected(service.port) as client:
            client.sendall(post_head(len(SHORTER[0])) + SHORTER[0])
            wait_until(lambda: in_flight(service) == 1)  # noqa: B023 - called in this round
    for service in all_of_them.values():
        wait_until(lambda: in_flight(service) == 0)  # noqa: B023
        wait_until(lambda: metric(service, "restbench_memory_held_bytes")[""] == 0)  # noqa: B023
        assert "Traceback" not in service.log.read_text()


@pytest.mark.parametrize("framework", ["flask-granian", "aiohttp", "rsgi"])
def test_a_port_that_another_service_has_ends_the_start(tmp_path: Path, framework: str) -> None:
    with socket.create_server(("127.0.0.1", free_port()), reuse_port=True) as other:
        variables = {
            "RESTBENCH_FRAMEWORK": framework,
            "RESTBENCH_STRATEGIES": "serial",
            "RESTBENCH_PORT": str(other.getsockname()[1]),
        }
        process = start(variables, tmp_path / "log")
        assert process.wait(60) == 1
    log = (tmp_path / "log").read_text()
    assert "in use" in log
    assert "Traceback" not in log


@pytest.mark.parametrize("framework", IN_A_LOOP)
@pytest.mark.parametrize("handoff", ["thread", "loop"])
def test_what_runs_in_the_event_loop_makes_all_else_wait_and_in_a_thread_does_not(
    tmp_path: Path, framework: str, handoff: str
) -> None:
    settings = {"FRAMEWORK": framework, "HANDOFF": handoff, "STRATEGIES": "serial"}
    with running(tmp_path / "log", **settings) as service, connected(service.port) as client:
        assert health_of(service)["handoff"] == handoff
        begun_ticks = service.web_ticks()
        client.sendall(post_head(len(LONG[0])) + LONG[0])
        wait_until(lambda: service.web_ticks() - begun_ticks > 30)
        assert service.request("GET", "/health").status == 200
        is_computed = client in select.select([client], [], [], 0)[0]
        assert is_computed == (handoff == "loop")
        assert answer_of(client).body == LONG[1]


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_told_to_stop_a_service_answers_what_it_has_and_exits_with_0(
    tmp_path: Path, framework: str
) -> None:
    """By Ctrl-C, and a second signal does no harm; TERM alone is a probe of the contract."""
    # A busy machine may take longer over the request than a stop may last by default.
    settings = {"FRAMEWORK": framework, "PROCESSES": "1", "STOP_TIMEOUT_SECONDS": "100"}
    with (
        running(tmp_path / "log", **settings) as service,
        connected(service.port) as client,
    ):
        everyone = everyone_below(service.process.pid)
        client.sendall(post_head(len(LONG[0])) + LONG[0])
        wait_until(lambda: in_flight(service) == 1)
        service.process.send_signal(signal.SIGINT)
        service.process.terminate()
        assert answer_of(client).body == LONG[1]
        assert service.process.wait(60) == 0
    wait_until(lambda: {state_of(pid) for pid in everyone} <= {"X"})
    assert "Traceback" not in (tmp_path / "log").read_text()


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_request_that_runs_longer_than_a_stop_may_take_is_cut_off(
    tmp_path: Path, framework: str
) -> None:
    settings = {"FRAMEWORK": framework, "STRATEGIES": "serial", "STOP_TIMEOUT_SECONDS": "1"}
    with running(tmp_path / "log", **settings) as service, connected(service.port) as client:
        pids = [service.process.pid, *children(service.process.pid)]
        client.sendall(post_head(len(ENDLESS[0])) + ENDLESS[0])
        wait_until(lambda: in_flight(service) == 1)
        service.process.terminate()
        assert service.process.wait(60) == 0
        assert ENDLESS[1] not in everything(client)
        wait_until(lambda: {state_of(pid) for pid in pids} <= {"X", "Z"})


@pytest.mark.parametrize("framework", [name for name in FRAMEWORKS if "granian" in server_of(name)])
def test_a_worker_ends_with_granian_s_main_process(tmp_path: Path, framework: str) -> None:
    settings = {"FRAMEWORK": framework, "STRATEGIES": "serial"}
    with pytest.raises(AssertionError), running(tmp_path / "log", **settings) as service:
        workers = children(service.process.pid)
        service.process.kill()
        wait_until(lambda: {state_of(pid) for pid in workers} <= {"X", "Z"})


@pytest.mark.parametrize("framework", SEES_CONNECTIONS)
def test_a_sender_that_falls_silent_is_given_up_and_a_stop_waits_for_it_no_longer(
    tmp_path: Path, framework: str
) -> None:
    limits = {"RECEIVE_TIMEOUT_SECONDS": "2", "STOP_TIMEOUT_SECONDS": "3600"}
    with (
        running(tmp_path / "log", FRAMEWORK=framework, STRATEGIES="serial", **limits) as service,
        connected(service.port) as client,
    ):
        client.sendall(post_head(1000) + b"{")
        wait_until(lambda: in_flight(service) == 1)
        service.process.terminate()
        answer = answer_of(client)
        assert answer.status == 400 and b"the body was cut off" in answer.body
        assert service.process.wait(60) == 0


@pytest.mark.parametrize("body", [b"zz\r\n", b"5\r\nabcdefgh", b"3;\x01\r\n"])
def test_malformed_chunks_are_a_client_s_error(service: LiveService, body: bytes) -> None:
    with connected(service.port) as client:
        client.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + body + b"x" * 100)
        assert answer_of(client).status == 400


def test_a_connection_is_good_for_the_next_request_after_a_refused_body(
    service: LiveService,
) -> None:
    body = b"x" * 1_000_000
    with connected(service.port) as client:
        client.sendall(post_head(len(body)).replace(b"/serial", b"/none") + body)
        assert answer_of(client).status == 404
        client.sendall(post_head(len(SMALL[0])) + SMALL[0])
        assert answer_of(client).body == SMALL[1]


VALUE = "4815162342"


def test_the_log_has_no_values_of_requests(each: LiveService) -> None:
    body = SMALL[0].replace(b"1,1", VALUE.encode() + b",1")
    for path in ("/matrix/serial", f"/matrix/{VALUE}", f"/matrix/serial?kernel={VALUE}"):
        for sent in (body, body[:-1], body.replace(b",1", b",x")):
            each.request("POST", path, sent, {**JSON, "X-Secret": VALUE})
    for unfinished in (f"GET {VALUE} {VALUE}\r\n\r\n".encode(), post_head(1000)):
        with connected(each.port) as client:
            client.sendall(unfinished + VALUE.encode())
            client.shutdown(socket.SHUT_WR)
            everything(client)
    assert VALUE not in each.log.read_text()
