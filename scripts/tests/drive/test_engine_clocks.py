"""Where the clocks of engines that others run are held against the controller's."""

from __future__ import annotations

import os
import socket

import httpx
import pytest
from ports import free_port
from waiting import PATIENCE_S

from restbench.drive import engine_clocks, engines
from restbench.failures import EnvironmentProblem

BEGUN_MS = 1_000_000


def test_a_clock_is_compared_where_a_request_and_its_answer_were_quickest() -> None:
    """The engine is 80 ms ahead; half of its requests were 30 ms late on their way."""
    late = [30 * (number % 2) for number in range(10)]
    rows = [
        {"timeStamp": str(BEGUN_MS + 80 + 100 * at), "elapsed": str(2 + each)}
        for at, each in enumerate(late)
    ]
    heard = [BEGUN_MS + 100 * at + 1 + each for at, each in enumerate(late)]
    assert engine_clocks.offset_ms(rows[::-1], heard) == 80
    with pytest.raises(EnvironmentProblem, match="does not reach the controller's port 4103"):
        engine_clocks.offset_ms([], [])


def test_a_controller_and_the_clocks_of_its_machine_have_ports_of_their_own() -> None:
    """JMeter opens up to three ports from client.rmi.localport on."""
    assert engine_clocks.PORT not in range(engines.CONTROLLER_PORT, engines.CONTROLLER_PORT + 3)


def test_where_clocks_are_compared_a_taken_port_names_who_has_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        monkeypatch.setattr(engine_clocks, "PORT", port)
        taken = rf"port {port} is in use by .* \(pid {os.getpid()}\)"
        with (
            pytest.raises(EnvironmentProblem, match=taken),
            engine_clocks.listening("127.0.0.1", 1),
        ):
            pass


@pytest.mark.parametrize("length", ["5", "-1"])
def test_where_clocks_are_compared_no_body_is_taken_that_no_engine_sends(
    length: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()
    monkeypatch.setattr(engine_clocks, "PORT", port)
    with engine_clocks.listening("127.0.0.1", most_bytes=4) as heard_ms:
        right = httpx.post(f"http://127.0.0.1:{port}/", content=b"1234")
        assert (right.status_code, len(heard_ms)) == (200, 1)
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as stranger:
            stranger.sendall(f"POST / HTTP/1.1\r\nContent-Length: {length}\r\n\r\n".encode())
            assert stranger.recv(1) == b""
    assert len(heard_ms) == 1


def test_windows_are_refused_where_a_clock_is_off() -> None:
    engine_clocks.require_together({"10.0.0.2:1099": 50.0, "10.0.0.3:1099": -49.0})
    with pytest.raises(EnvironmentProblem, match=r"clock of 10\.0\.0\.3:1099 .* by -51 ms"):
        engine_clocks.require_together({"10.0.0.2:1099": 0.0, "10.0.0.3:1099": -51.0})
