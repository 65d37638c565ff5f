"""What a response and the log tell, and what they do not."""

import logging
import pickle
from collections.abc import Iterator

import pytest
from live_service import JSON, LiveService, kill, running, wait_until
from raw_client import HEAD, answer_of, connected, everything, post_head
from restbench_service.execution.pool.fault import WorkerDiedError, pack_error, places
from test_killed_processes import SMALL, computing, matrices

from restbench_service.errors import FaultError, described
from restbench_service.settings import Settings
from restbench_service.web import create_app

REQUESTS = [
    ("POST", "/matrix/serial", SMALL[0], 200),
    ("POST", "/matrix/serial", b"{", 400),
    ("POST", "/matrix/no-such", SMALL[0], 404),
    ("GET", "/matrix/serial", b"", 405),
    ("HEAD", "/health", b"", 200),
    ("TRACE", "/health", b"", 405),
    ("GET", "/health", b"", 200),
    ("GET", "/strategies", b"", 200),
    ("GET", "/metrics", b"", 200),
    ("GET", "/openapi.json", b"", 200),
    ("GET", "/docs", b"", 308),
    ("GET", "/docs/", b"", 200),
    ("GET", "/docs/start.js", b"", 200),
    ("GET", "/docs/swagger-ui.css", b"", 200),
    ("GET", "/docs/no-such", b"", 404),
    ("GET", "/docs/%2e%2e/settings.py", b"", 404),
    ("GET", "/docs/%00", b"", 404),
    ("GET", "/docs/" + "a" * 300, b"", 404),
    ("GET", "/no-such", b"", 404),
]


@pytest.mark.parametrize(("method", "path", "body", "status"), REQUESTS)
def test_every_response_has_the_security_headers_and_no_banner(
    service: LiveService, method: str, path: str, body: bytes, status: int
) -> None:
    answer = service.request(method, path, body)
    assert answer.status == status
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers.get_all("Cache-Control") == ["no-store"]
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    policy = answer.headers.get_all("Content-Security-Policy")
    assert policy is not None and len(policy) == 1
    assert policy[0].startswith("default-src 'none'; ")
    assert policy[0].endswith("frame-ancestors 'none'")
    is_page = path.startswith("/docs/") and status == 200
    assert is_page == ("script-src 'self'" in policy[0])
    assert "unsafe" not in policy[0]
    assert "Server" not in answer.headers


def test_the_page_of_the_contract_has_no_script_in_it(service: LiveService) -> None:
    page = service.request("GET", "/docs/").body
    assert page.count(b"<script") == page.count(b"></script>") == page.count(b"<script src=") > 0


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("POST", "/matrix/serial", {"Host": "a..b"}, 400),
        ("POST", "/matrix/serial", {"Host": "a" * 64}, 400),
        ("GET", "/docs/start.js", {"Range": "bytes=99999999-"}, 416),
    ],
)
def test_a_header_that_cannot_be_followed_is_a_client_s_error(
    service: LiveService, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    answer = service.request(method, path, SMALL[0], {**JSON, **headers})
    assert answer.status == status
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.body.startswith(b'{"requestId":null,"errorCode":"002","errorMessage":"the re')


NOT_HTTP = [
    b"GET\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"\x00\xff\x00\r\n\r\n",
    b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
    b"GET / HTTP/1.1\r\n bad: x\r\n\r\n",
    b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    b"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"GET /" + b"a" * 10_000 + b" HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 200 + b"\r\n",
    b"GET / HTTP/1.1\r\nX: " + b"y" * 70_000,
]


@pytest.mark.parametrize("sent", NOT_HTTP, ids=range(len(NOT_HTTP)))
def test_what_is_not_http_is_answered_in_the_form_of_the_contract(
    service: LiveService, sent: bytes
) -> None:
    with connected(service.port) as client:
        client.sendall(sent)
        answer = answer_of(client)
        assert everything(client) == b""
    assert answer.status == 400
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.body.startswith(
        b'{"requestId":null,"errorCode":"002","errorMessage":"the request'
    )
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "Server" not in answer.headers


@pytest.mark.parametrize("body", [b"zz\r\n", b"5\r\nabcdefgh", b"3;\x01\r\n"])
def test_malformed_chunks_are_a_client_s_error(service: LiveService, body: bytes) -> None:
    with connected(service.port) as client:
        client.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + body + b"x" * 100)
        answer = answer_of(client)
    assert answer.status in (400, 413)
    assert b'"errorCode":"00' in answer.body


VALUE = "4815162342"


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    with running(tmp_path_factory.mktemp("quiet") / "log", PROCESSES="1") as live:
        yield live


def test_the_log_has_no_values_of_requests(quiet: LiveService) -> None:
    body = SMALL[0].replace(b"1,1", VALUE.encode() + b",1")
    for path in ("/matrix/serial", f"/matrix/{VALUE}", f"/matrix/serial?kernel={VALUE}"):
        for sent in (body, body[:-1], body.replace(b",1", b",x")):
            quiet.request("POST", path, sent)
            quiet.request("POST", path, sent, {**JSON, "X-Secret": VALUE})
    with connected(quiet.port) as client:
        client.sendall(f"GET {VALUE} {VALUE}\r\n\r\n".encode())
        everything(client)
    with connected(quiet.port) as client:
        client.sendall(post_head(1000) + VALUE.encode())
    assert VALUE not in quiet.log.read_text()


def test_a_request_s_id_cannot_forge_a_line_of_the_log(quiet: LiveService) -> None:
    request = matrices(600, 600, 50, "\n2026 ERROR forged \x1b[31m\u2028é")[0]
    pid = quiet.pool()["restbench-PR-0"]
    busy = computing([pid])
    with connected(quiet.port) as client:
        head = post_head(len(request)).replace(b"serial", b"process-per-request")
        client.sendall(head + request)
        wait_until(busy)
        kill(pid)
        assert answer_of(client).status == 500
    log = quiet.log.read_text()
    assert r"request '\n2026 ERROR forged \x1b[31m\u2028\xe9' failed: " in log
    assert "WorkerDiedError: the process that had this request died" in log


def test_a_fault_in_another_process_is_logged_with_its_places_and_without_its_text(
    caplog: pytest.LogCaptureFixture,
) -> None:
    try:
        int(VALUE + "x")
    except ValueError as error:
        arrived = pickle.loads(pack_error(error))  # noqa: S301
    text = described(arrived)
    assert "ValueError" in text and "test_closed_by_default.py" in text
    assert VALUE not in text
    assert "died" in described(WorkerDiedError("it died"))
    assert places(ValueError()) == ""


def test_a_fault_outside_of_the_stages_is_logged_without_its_text(
    caplog: pytest.LogCaptureFixture,
) -> None:
    app = create_app(Settings(), {})

    def fail() -> str:
        raise KeyError(VALUE) from FaultError(1)

    app.add_url_rule("/fail", view_func=fail)
    with caplog.at_level(logging.DEBUG):
        assert app.test_client().get("/fail").status_code == 500
    assert "KeyError" in caplog.text and VALUE not in caplog.text
