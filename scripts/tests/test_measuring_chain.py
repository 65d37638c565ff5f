"""The measuring chain pointed at a stub whose truth is known: the stub itself, then each check."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from ports import free_port

from restbench.calibrate import ceiling, latency, stall
from restbench.calibrate.probe import COMPLEXITY, STUB_PORT, Probe, new_probe
from restbench.calibrate.stub import Behaviour
from restbench.deploy import service

pytestmark = pytest.mark.live

#: What a busy machine may add to a time that is short.
BUSY_MS = 200
SHORT = latency.Point(50, 20, 6, completions=latency.ENOUGH_FOR_P99)
#: A pause of the machine looks like a stall of the stub, but not each time.
LOOKS = 5


def silent(_line: str) -> None:
    """Nobody watches."""


@pytest.fixture
def probe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Probe:
    monkeypatch.setenv(STUB_PORT, str(free_port()))
    for check in (latency, ceiling):
        monkeypatch.setattr(check, "WARMUP_S", 0.5)  # nothing in a stub gets any warmer
    return new_probe(tmp_path)


def test_the_stub_answers_the_exact_product_after_its_delay(probe: Probe) -> None:
    with probe.stub(Behaviour(delay_ms=80)) as stub:
        stub.post("serial", "loops", probe.payloads[COMPLEXITY].body("first"))
        begun = time.monotonic()
        answer = stub.post("serial", "loops", probe.payloads[COMPLEXITY].body("u1-2"))
        taken_ms = 1000 * (time.monotonic() - begun)
    assert answer.content == probe.payloads[COMPLEXITY].answer("u1-2")
    assert taken_ms >= 80


def test_the_stub_tells_how_many_it_has_answered(probe: Probe) -> None:
    with probe.stub(Behaviour()) as stub:
        for number in range(3):
            stub.post("serial", "loops", probe.payloads[COMPLEXITY].body(f"u{number}"))
        told = stub.get("/metrics").text
    assert 'restbench_requests_total{strategy="serial"} 3\n' in told
    assert "restbench_requests_in_flight 0\n" in told


def test_the_stub_stops_once_and_everybody_waits(probe: Probe) -> None:
    assert any(stalls(probe) == 1 for _ in range(LOOKS))


def stalls(probe: Probe) -> int:
    """How many requests waited for most of a stall, of those that begin until it must be over."""
    with probe.stub(Behaviour(stall_after_s=0.1, stall_s=1.0)) as stub:
        taken_s = []
        deadline = time.monotonic() + 1.6
        while time.monotonic() < deadline:
            begun = time.monotonic()
            stub.post("serial", "loops", probe.payloads[COMPLEXITY].body("u1-1"))
            taken_s.append(time.monotonic() - begun)
    return sum(each > 0.6 for each in taken_s)


def test_a_stub_is_gone_after_its_check(probe: Probe) -> None:
    with probe.stub(Behaviour()) as stub:
        url = stub.base_url
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}/health", trust_env=False)


def test_a_chain_that_tells_the_truth_measures_the_stub_s_delay(probe: Probe) -> None:
    values = latency.check(probe, silent, [SHORT]).values
    # Not the check's own limit: a machine that is busy adds to it.
    assert 50 <= values["50_ms.median_ms"] < 50 + BUSY_MS


def test_a_stub_that_hides_10_ms_is_found_out(
    probe: Probe, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = Probe.stub

    @contextmanager
    def lying(self: Probe, behaviour: Behaviour) -> Iterator[service.Service]:
        with honest(self, replace(behaviour, delay_ms=behaviour.delay_ms + 10)) as stub:
            yield stub

    monkeypatch.setattr(Probe, "stub", lying)
    check = latency.check(probe, silent, [SHORT])
    assert check.values["50_ms.median_ms"] >= 60
    assert not check.passed


def test_the_load_generator_s_ceiling_is_measured_with_either_sampler(probe: Probe) -> None:
    loads = ceiling.check(probe, silent, users=(4,), window_s=1.0)
    assert [(each.client, each.users) for each in loads] == [("http-sampler", 4), ("streaming", 4)]
    assert all(each.throughput_per_s > 0 for each in loads)


def test_an_open_load_shows_a_stall_in_its_percentiles(probe: Probe) -> None:
    brief = stall.Stall(stall_s=1.5, window_s=3.0)
    found = stall.opened(probe, silent, brief)
    # Half of the arrivals wait; a busy machine only adds to it.
    for percent in (90.0, 100.0):
        truth_ms = brief.expected_ms(percent)
        assert 0.75 * truth_ms <= found[percent] <= 1.25 * truth_ms + 10 * BUSY_MS
