"""The front server: Apache httpd passes everything through and keeps its connections."""

import http.client
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from live_service import JSON, SERVICE, LiveService, answers, free_port, request, wait_until

APACHE = shutil.which("apache2", path=f"{os.environ['PATH']}:/usr/sbin")
BODY = (
    b'{"requestId":1,"matrixOne":{"columnCount":1,"rows":[{"value":"2"}]},'
    b'"matrixTwo":{"columnCount":1,"rows":[{"value":"3"}]}}'
)
pytestmark = pytest.mark.skipif(
    APACHE is None, reason="apache2 is not installed: apt-get install apache2-bin"
)


@pytest.fixture(scope="module")
def front(
    service: LiveService, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[int, Path]]:
    """The front's port and the directory it runs in."""
    port, folder = free_port(), tmp_path_factory.mktemp("apache")
    settings = {
        "RESTBENCH_FRONT_RUN": str(folder),
        "RESTBENCH_FRONT_PORT": str(port),
        "RESTBENCH_PORT": str(service.port),
    }
    process = subprocess.Popen(
        [str(APACHE), "-f", str(SERVICE / "apache" / "httpd.conf"), "-DFOREGROUND"],
        env={**os.environ, **settings},
    )
    try:
        wait_until(lambda: process.poll() is not None or answers(port))
        yield port, folder
    finally:
        process.terminate()
        assert process.wait(60) == 0
    assert "error" not in (folder / "error.log").read_text()


def established(port: int) -> int:
    """Connections that the owner of this port has open."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(row[1].endswith(f":{port:04X}") and row[3] == "01" for row in rows)


def test_answers_and_errors_pass_through_unchanged(
    service: LiveService, front: tuple[int, Path]
) -> None:
    for path, body in [("/matrix/serial", BODY), ("/matrix/serial", b"{"), ("/matrix/no", BODY)]:
        direct = service.request("POST", path, body)
        passed = request(front[0], "POST", path, body)
        assert (passed.status, passed.body) == (direct.status, direct.body)
    assert request(front[0], "POST", "/matrix/serial", BODY).headers["Server-Timing"]
    assert request(front[0], "GET", "/matrix/serial").headers["Allow"] == "POST"


def test_connections_are_kept_on_both_sides(service: LiveService, front: tuple[int, Path]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", front[0], timeout=30)
    before = established(service.port)
    for _ in range(20):
        connection.request("POST", "/matrix/serial", BODY, JSON)
        response = connection.getresponse()
        assert json.loads(response.read()) == {"requestId": "1", "rows": [[6]]}
        assert response.headers["Connection"] != "close"
    assert established(service.port) <= before + 1
    connection.close()


def test_sixty_users_are_served_at_once(front: tuple[int, Path]) -> None:
    with ThreadPoolExecutor(60) as users:
        found = list(
            users.map(lambda _: request(front[0], "POST", "/matrix/serial", BODY), range(240))
        )
    assert {answer.status for answer in found} == {200}


def test_nothing_is_written_but_the_error_log_and_the_pid(front: tuple[int, Path]) -> None:
    assert {path.name for path in front[1].iterdir()} == {"error.log", "httpd.pid"}
