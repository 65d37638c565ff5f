"""What is a framework's own: where a request runs, and what the server around it leaves to it."""

import json
import select
import signal
from pathlib import Path

import pytest
from live_metrics import in_flight
from live_service import JSON, LiveService, cpu_ticks, running, wait_until
from raw_client import HEAD, answer_of, connected, everything, post_head
from test_killed_processes import SMALL, matrices

LONG = matrices(500, 2000, 50, "long")


@pytest.mark.parametrize("handoff", ["thread", "loop"])
def test_what_runs_in_the_event_loop_makes_all_else_wait_and_in_a_thread_does_not(
    tmp_path: Path, handoff: str
) -> None:
    with (
        running(tmp_path / "log", FRAMEWORK="fastapi", HANDOFF=handoff, PROCESSES="1") as service,
        connected(service.port) as client,
    ):
        health = json.loads(service.request("GET", "/health").body)
        facts = (health["framework"], health["server"].split()[0], health["handoff"])
        assert facts == ("fastapi", "uvicorn", handoff)
        begun_ticks = cpu_ticks(service.process.pid)
        client.sendall(post_head(len(LONG[0])) + LONG[0])
        wait_until(lambda: cpu_ticks(service.process.pid) - begun_ticks > 30)
        assert service.request("GET", "/health").status == 200
        is_computed = client in select.select([client], [], [], 0)[0]
        assert is_computed == (handoff == "loop")
        assert answer_of(client).body == LONG[1]


@pytest.mark.parametrize("framework", ["flask", "fastapi"])
@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_told_to_stop_a_service_answers_what_it_has_and_exits_with_0(
    tmp_path: Path, framework: str, ending: signal.Signals
) -> None:
    with (
        running(tmp_path / "log", FRAMEWORK=framework, PROCESSES="1") as service,
        connected(service.port) as client,
    ):
        client.sendall(post_head(len(LONG[0])) + LONG[0])
        wait_until(lambda: in_flight(service) == 1)
        service.process.send_signal(ending)
        assert answer_of(client).body == LONG[1]
        assert service.process.wait(60) == 0
    assert "Traceback" not in (tmp_path / "log").read_text()


@pytest.mark.parametrize("framework", ["flask", "fastapi"])
def test_a_sender_that_falls_silent_is_given_up_and_a_stop_waits_for_it_no_longer(
    tmp_path: Path, framework: str
) -> None:
    limits = {"RECEIVE_TIMEOUT_SECONDS": "2", "STOP_TIMEOUT_SECONDS": "3600"}
    with (
        running(tmp_path / "log", FRAMEWORK=framework, PROCESSES="1", **limits) as service,
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


@pytest.mark.parametrize("framework", ["flask", "fastapi"])
def test_the_log_has_no_values_of_requests(tmp_path: Path, framework: str) -> None:
    body = SMALL[0].replace(b"1,1", VALUE.encode() + b",1")
    with running(tmp_path / "log", FRAMEWORK=framework, PROCESSES="1") as quiet:
        for path in ("/matrix/serial", f"/matrix/{VALUE}", f"/matrix/serial?kernel={VALUE}"):
            for sent in (body, body[:-1], body.replace(b",1", b",x")):
                quiet.request("POST", path, sent, {**JSON, "X-Secret": VALUE})
        for unfinished in (f"GET {VALUE} {VALUE}\r\n\r\n".encode(), post_head(1000)):
            with connected(quiet.port) as client:
                client.sendall(unfinished + VALUE.encode())
                client.shutdown(1)
                everything(client)
    assert VALUE not in (tmp_path / "log").read_text()
