"""A load counts what really came: each planted fault is found, and an honest server passes."""

from __future__ import annotations

import asyncio
import itertools
import time

import pytest
import stub_server
from stub_server import Behaviour, serving

from restbench_robustness.overload.exchange import Connection, Judged, Verdict
from restbench_robustness.overload.load import Load, Outcome
from restbench_robustness.overload.mix import LOW, draw, work_mix

PER_S = 40.0
RIGHT, REFUSED = Verdict.RIGHT, Verdict.REFUSED


def load(address: tuple[str, int], timeout_s: float = 60.0) -> Load:
    return Load(address, "/matrix/serial", draw(work_mix(LOW), 1), 4, timeout_s)


def closed(address: tuple[str, int], timeout_s: float = 60.0) -> Outcome:
    """Every user asks until somebody has asked often enough."""
    looks = itertools.count()
    return asyncio.run(load(address, timeout_s).closed(lambda: next(looks) < 12))


def opened(address: tuple[str, int], seconds: float = 1.0, timeout_s: float = 60.0) -> Outcome:
    return asyncio.run(load(address, timeout_s).open(PER_S, seconds))


def test_an_honest_server_is_right_each_time() -> None:
    with serving(stub_server.right) as address:
        outcome = opened(address)
    assert set(outcome.counts) == {Verdict.RIGHT}
    assert 0 < len(outcome.ends) + outcome.held_back < 2 * PER_S


@pytest.mark.parametrize(
    ("behaviour", "verdict"),
    [
        (stub_server.wrong, Verdict.WRONG),
        (stub_server.refused_without_a_time, Verdict.WRONG),
        (stub_server.not_http, Verdict.WRONG),
        (stub_server.no_length, Verdict.WRONG),
        (stub_server.refused, Verdict.REFUSED),
        (stub_server.cut_off, Verdict.LOST),
        (stub_server.closed, Verdict.LOST),
        (stub_server.silent, Verdict.HUNG),
    ],
)
def test_a_planted_fault_is_found(behaviour: Behaviour, verdict: Verdict) -> None:
    with serving(behaviour) as address:
        outcome = closed(address, timeout_s=3.0 if verdict is Verdict.HUNG else 60.0)
    assert len(outcome.ends) >= 4
    assert set(outcome.counts) == {verdict}


def test_a_server_that_is_not_there_loses_every_request() -> None:
    with serving(stub_server.right) as address:
        pass
    assert set(closed(address).counts) == {Verdict.LOST}


def test_arrivals_that_find_no_connection_free_are_held_back_not_forgotten() -> None:
    with serving(stub_server.silent) as address:
        outcome = opened(address, seconds=2.0, timeout_s=6.0)
    assert len(outcome.ends) == 4
    assert outcome.held_back > 0


def test_an_answer_that_comes_before_the_body_was_sent_is_read() -> None:
    async def exchange(address: tuple[str, int]) -> int:
        head = b"POST / HTTP/1.1\r\nContent-Length: 50000000\r\n\r\n"
        return (await Connection(address).exchange(head + bytes(50_000_000))).status

    with serving(stub_server.refused, reads_bodies=False) as address:
        assert asyncio.run(exchange(address)) == 503


def seen(*ends: tuple[float, float, Verdict]) -> Outcome:
    outcome = Outcome(began_s=time.monotonic())
    outcome.ends = [Judged(verdict, began, ended, "") for began, ended, verdict in ends]
    return outcome


def test_a_service_is_back_with_the_first_answer_after_which_all_are_right() -> None:
    ends = seen((0, 1, RIGHT), (2, 3, REFUSED), (4, 5, RIGHT), (6, 7, REFUSED), (8, 9, RIGHT))
    assert ends.back_after(1.5) == 7.5


def test_a_service_is_not_back_while_the_last_answer_was_a_refusal() -> None:
    assert seen((0, 1, RIGHT), (2, 3, REFUSED)).back_after(0) is None
    assert seen().back_after(0) is None
