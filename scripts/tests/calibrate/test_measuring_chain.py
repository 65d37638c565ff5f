"""The measuring chain pointed at a stub whose truth is known: the stub itself, then each check."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import Mock

import pytest
from ports import free_port

from restbench.calibrate import generator_cost, latency, overhead, same_cell, stall, wrk_arm
from restbench.calibrate.bench import PAYLOAD, Bench
from restbench.calibrate.stub import Behaviour
from restbench.deploy.service import Service
from restbench.drive.generator import Generator
from restbench.machine import ports
from restbench.schedule.pace import Pace

pytestmark = pytest.mark.live

#: What a busy machine may add to a time that is short.
BUSY_MS = 200
SHORT = latency.Point(50, 20, 1)
#: For more responses than a p99 needs, so that it is the latency that a check fails of.
LONG = latency.Point(50, 20, 4)
#: A pause of the machine looks like a stall of the stub, but not each time.
LOOKS = 5
#: A load generator that is told of every stub, and sends nothing.
NOBODY = Mock()


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ports, "free", free_port)
        yield Bench(tmp_path_factory.mktemp("chain"), print)


@pytest.fixture(scope="module")
def load(bench: Bench) -> Iterator[Generator]:
    with bench.generator(stall.OPEN_USERS) as running:
        yield running


def test_the_stub_answers_the_exact_product_after_its_delay(bench: Bench) -> None:
    with bench.stub(NOBODY, Behaviour(delay_ms=80)) as stub:
        stub.post("/matrix/serial", PAYLOAD.body("first"))
        begun = time.monotonic()
        answer = stub.post("/matrix/serial", PAYLOAD.body("u1-2"))
        taken_ms = 1000 * (time.monotonic() - begun)
    assert answer.content == PAYLOAD.answer("u1-2")
    assert taken_ms >= 80


def test_the_stub_stops_once_and_everybody_waits(bench: Bench) -> None:
    assert any(stalls(bench) == 1 for _ in range(LOOKS))


def stalls(bench: Bench) -> int:
    """How many requests waited for most of a stall, of those that begin until it must be over."""
    with bench.stub(NOBODY, Behaviour(stall_after_s=0.1, stall_s=1.0)) as stub:
        taken_s = []
        deadline = time.monotonic() + 1.6
        while time.monotonic() < deadline:
            begun = time.monotonic()
            stub.post("/matrix/serial", PAYLOAD.body("u1-1"))
            taken_s.append(time.monotonic() - begun)
    return sum(each > 0.6 for each in taken_s)


def test_a_chain_that_tells_the_truth_measures_the_stub_s_delay(
    bench: Bench, load: Generator
) -> None:
    values = latency.check(bench, load, [SHORT]).values
    # Not the check's own limit: a machine that is busy adds to it.
    assert 50 <= values["50_ms.median_ms"] < 50 + BUSY_MS


def test_a_relay_adds_its_delay_in_each_direction(
    bench: Bench, load: Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(latency, "RELAYED", latency.Point(5, 4, 2))
    monkeypatch.setattr(latency, "RELAY_MS", BUSY_MS)
    added_ms = latency.check_relay(bench, load).values["relay_added_ms"]
    # Not the check's own limit: a machine that is busy adds to it, and to the direct way.
    assert abs(added_ms - 2 * BUSY_MS) < BUSY_MS / 2


def test_a_stub_that_hides_10_ms_is_found_out(
    bench: Bench, load: Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = Bench.stub

    @contextmanager
    def lying(self: Bench, load: Generator, behaviour: Behaviour) -> Iterator[Service]:
        with honest(self, load, replace(behaviour, delay_ms=behaviour.delay_ms + 10)) as stub:
            yield stub

    monkeypatch.setattr(Bench, "stub", lying)
    check = latency.check(bench, load, [LONG])
    assert check.values["50_ms.median_ms"] >= 60
    assert not check.passed


def test_what_the_load_generator_can_send_is_measured(
    bench: Bench, load: Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generator_cost, "TIMES_S", (0.2, 0.5))
    users, found = generator_cost.ceiling(bench, load)
    assert users in generator_cost.CEILING_USERS
    assert min(found.per_s, found.service_ms, found.generator_ms) > 0


def test_an_open_load_shows_a_stall_in_its_percentiles(bench: Bench, load: Generator) -> None:
    brief = stall.Stall(stall_s=1.5, window_s=3.0)
    found = stall.opened(bench, load, brief)
    # Half of the arrivals wait; a busy machine only adds to it.
    for percent in (90.0, 100.0):
        truth_ms = brief.expected_ms(percent)
        assert 0.75 * truth_ms <= found[percent] <= 1.25 * truth_ms + 10 * BUSY_MS


def test_a_closed_load_shows_a_stall_in_its_slowest_response(bench: Bench, load: Generator) -> None:
    brief = stall.Stall(stall_s=1.5, window_s=3.0)
    found = stall.closed(bench, load, brief)
    assert 1_400 <= found["slowest_ms"] <= 1_500 + 10 * BUSY_MS
    assert found["touched"] >= 1


def test_what_is_done_with_a_java_service_measures_both_generators_and_the_collectors(
    bench: Bench, load: Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a busy machine a service may have no turn in a trial of 0.1 s.
    monkeypatch.setattr(same_cell, "PACE", Pace(response_s=0.1))
    with bench.java() as service:
        bench.announce(load, service, *wrk_arm.STRATEGIES)
        trials = same_cell.measure(bench, load, service.pids(), batches=2)
        (turns,) = wrk_arm.measure(bench, load, service, rounds=1)
        (pair,) = overhead.measure(bench, load, service, pairs=1)
    assert sorted((each.block, each.arm) for each in trials) == [
        (1, ""),
        (1, "again"),
        (2, ""),
        (2, "again"),
    ]
    assert all(each.completions and not each.errors and not each.wrong for each in trials)
    assert len(turns) == len(wrk_arm.GENERATORS) * len(wrk_arm.STRATEGIES)
    for each in turns.values():
        assert min(each.per_s, each.service_ms, each.generator_ms) > 0
    assert min(pair.watched_per_s, pair.bare_per_s, pair.cpu_share) > 0
    assert 0 < bench.foreign_ms + 1 < bench.machine_ms
