"""The front server: Apache httpd passes everything through and keeps its connections."""

import http.client
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from live_service import JSON, SERVICE, Answer, LiveService, free_port, request, wait_until
from raw_client import answer_of, connected
from test_core import GOOD

APACHE = shutil.which("apache2", path=f"{os.environ['PATH']}:/usr/sbin")
pytestmark = pytest.mark.skipif(
    APACHE is None, reason="apache2 is not installed: apt-get install apache2-bin"
)


@contextmanager
def fronting(service_port: int, folder: Path) -> Iterator[int]:
    """Apache before a service's port; the front's own."""
    port = free_port()
    settings = {
        "RESTBENCH_FRONT_RUN": str(folder),
        "RESTBENCH_FRONT_PORT": str(port),
        "RESTBENCH_PORT": str(service_port),
        "RESTBENCH_RECEIVE_TIMEOUT_SECONDS": "20",
        "RESTBENCH_MAX_BODY_BYTES": "67108864",
    }
    process = subprocess.Popen(
        [str(APACHE), "-f", str(SERVICE / "apache" / "httpd.conf"), "-DFOREGROUND"],
        env={**os.environ, **settings},
    )
    try:
        wait_until(lambda: process.poll() is not None or listens(port))
        yield port
    finally:
        process.terminate()
        assert process.wait(60) == 0


@pytest.fixture(scope="module")
def front(
    service: LiveService, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[int, Path]]:
    """The front's port and the directory it runs in."""
    folder = tmp_path_factory.mktemp("apache")
    with fronting(service.port, folder) as port:
        yield port, folder
        # before it is stopped: it logs an error where a machine is too busy for its stop
        assert "error" not in (folder / "error.log").read_text()


def listens(port: int) -> bool:
    try:
        request(port, "GET", "/health")
    except OSError:
        return False
    return True


def established(port: int) -> int:
    """Connections that the owner of this port has open."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(row[1].endswith(f":{port:04X}") and row[3] == "01" for row in rows)


def test_connections_are_kept_on_both_sides(service: LiveService, front: tuple[int, Path]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", front[0], timeout=120)
    before = established(service.port)
    for _ in range(20):
        connection.request("POST", "/matrix/serial", GOOD, JSON)
        response = connection.getresponse()
        assert json.loads(response.read()) == {"requestId": "1", "rows": [[6]]}
        assert response.headers["Connection"] != "close"
    assert established(service.port) <= before + 1
    connection.close()


def test_sixty_users_are_served_at_once(front: tuple[int, Path]) -> None:
    with ThreadPoolExecutor(60) as users:
        found = list(
            users.map(lambda _: request(front[0], "POST", "/matrix/serial", GOOD), range(240))
        )
    assert {answer.status for answer in found} == {200}


def test_nothing_is_written_but_the_error_log_and_the_pid(front: tuple[int, Path]) -> None:
    assert {path.name for path in front[1].iterdir()} == {"error.log", "httpd.pid"}


def check_closed(answer: Answer, status: int, code: str, text: str) -> None:
    assert answer.status == status
    assert answer.headers["Content-Type"] == "application/json"
    error = {"requestId": None, "errorCode": code, "errorMessage": text}
    assert json.loads(answer.body) == error
    for name in ("X-Content-Type-Options", "Cache-Control", "Content-Security-Policy"):
        assert len(answer.headers.get_all(name) or []) == 1
    assert answer.headers["Server"] == "Apache"


REFUSED = "the request is refused with status {}"


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 414),
        (b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 9000 + b"\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nExpect: y\r\n\r\n", 417),
    ],
    ids=["long path", "long header", "expectation"],
)
def test_its_own_errors_have_the_words_of_the_contract(
    front: tuple[int, Path], sent: bytes, status: int
) -> None:
    with connected(front[0]) as client:
        client.sendall(sent)
        check_closed(answer_of(client), status, "002", REFUSED.format(status))


def test_the_service_s_headers_pass_once(front: tuple[int, Path]) -> None:
    no_path = "no such path or strategy; GET /strategies lists the strategies"
    check_closed(request(front[0], "POST", "/matrix/no"), 404, "009", no_path)
    page = request(front[0], "GET", "/docs/").headers
    assert page.get_all("Cache-Control") == ["no-store"]
    assert "script-src" in page["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("sent", "status", "code", "text"),
    [
        (b"TRACE /health", 405, "002", REFUSED.format(405)),
        (b"POST /", 413, "007", "the body is larger than the limit of 67108864 bytes"),
    ],
    ids=["trace", "long chunk"],
)
def test_so_have_those_that_it_logs(
    tmp_path: Path, sent: bytes, status: int, code: str, text: str
) -> None:
    rest = b" HTTP/1.1\r\nHost: x\r\n"
    if status == 413:
        rest += b"Transfer-Encoding: chunked\r\n\r\n" + b"f" * 17
    with fronting(free_port(), tmp_path) as port, connected(port) as client:
        client.sendall(sent + rest + b"\r\n")
        check_closed(answer_of(client), status, code, text)
