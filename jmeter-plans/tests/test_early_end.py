"""A run is stopped from outside at any time, at once, and its JTL is whole."""

import signal
import socket
import time

import pytest
from conftest import JMeter, JMeterRun
from stub_service import StubService, right

STOP_WITHIN_S = 90.0  # an in-flight request lasts 10 minutes: waiting for one would take longer


def wait_for_requests(service: StubService, count: int) -> None:
    deadline = time.monotonic() + 300
    while len(service.bodies) < count:
        assert time.monotonic() < deadline, f"{len(service.bodies)} of {count} requests came"
        time.sleep(0.02)


def seconds_to_end(run: JMeterRun) -> float:
    start = time.monotonic()
    run.process.communicate(timeout=400)
    return time.monotonic() - start


def test_sigterm_ends_the_run_without_waiting_for_requests_in_flight(jmeter: JMeter) -> None:
    with StubService(right, delay_s=600.0) as service:
        run = jmeter.start(service.port, users=60, duration_s=600)
        wait_for_requests(service, 60)
        run.process.send_signal(signal.SIGTERM)
        assert seconds_to_end(run) < STOP_WITHIN_S
    assert run.process.returncode == 143
    assert run.samples() == []


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_signal_under_full_load_leaves_whole_lines_and_no_invented_error(
    jmeter: JMeter, how: signal.Signals
) -> None:
    """SIGKILL loses no more than the requests in flight: a sample is on disk before its user sends
    the next."""
    with StubService(right) as service:
        run = jmeter.start(service.port, users=10, duration_s=600)
        wait_for_requests(service, 500)
        run.process.send_signal(how)
        assert seconds_to_end(run) < STOP_WITHIN_S
    assert run.jtl.read_bytes().endswith(b"\n")
    samples = run.samples()
    assert {sample["success"] for sample in samples} == {"true"}
    if how == signal.SIGKILL:
        # SIGTERM does: JMeter closes the JTL first, and its users go on sending while the JVM ends.
        assert len(service.bodies) - 10 <= len(samples) <= len(service.bodies)


def test_stoptestnow_ends_the_run_and_writes_requests_in_flight_as_failed(jmeter: JMeter) -> None:
    with StubService(right, delay_s=600.0) as service:
        run = jmeter.start(service.port, users=60, duration_s=600)
        wait_for_requests(service, 60)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(b"StopTestNow", ("127.0.0.1", run.shutdown_port))
        assert seconds_to_end(run) < STOP_WITHIN_S
    assert run.process.returncode == 0
    assert [sample["success"] for sample in run.samples()] == ["false"] * 60
