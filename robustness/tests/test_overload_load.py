"""A load counts what really came: each planted fault is found, and an honest server passes."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from asyncio import StreamReader, StreamWriter
from pathlib import Path

import pytest
import stub_server
from stub_server import Behaviour, serving

from restbench_robustness.overload import loads
from restbench_robustness.overload.answers import Verdict
from restbench_robustness.overload.connection import Connection, LostError
from restbench_robustness.overload.load import Plan

PER_S = 40.0


def plan(
    address: tuple[str, int],
    per_s: float | None = None,
    seconds: float = 1.0,
    timeout_s: float = 60.0,
) -> Plan:
    host, port = address
    return Plan(
        host=host,
        port=port,
        path="/matrix/serial",
        connections=4,
        seconds=seconds,
        timeout_s=timeout_s,
        mix="work",
        work=0,
        seed=1,
        per_s=per_s,
    )


def test_an_honest_server_is_right_each_time(tmp_path: Path) -> None:
    with serving(stub_server.right) as address:
        outcome = loads.carried_out(plan(address, PER_S), tmp_path)
    assert set(outcome.counts) == {Verdict.RIGHT}
    assert 0 < outcome.sent + outcome.held_back < 2 * PER_S
    assert outcome.examples == []


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
def test_a_planted_fault_is_found(behaviour: Behaviour, verdict: Verdict, tmp_path: Path) -> None:
    with serving(behaviour) as address:
        hasty = plan(address, timeout_s=3.0 if verdict is Verdict.HUNG else 60.0)
        outcome = loads.carried_out(hasty, tmp_path)
    assert outcome.sent >= 4
    assert set(outcome.counts) == {verdict}
    assert bool(outcome.examples) == (verdict is not Verdict.REFUSED)


def test_what_is_not_http_is_found_in_an_open_load_as_well(tmp_path: Path) -> None:
    with serving(stub_server.not_http) as address:
        outcome = loads.carried_out(plan(address, PER_S), tmp_path)
    assert outcome.sent > 0
    assert outcome.counts == {Verdict.WRONG: outcome.sent}
    assert "not HTTP" in outcome.examples[0]


def test_a_server_that_is_not_there_loses_every_request(tmp_path: Path) -> None:
    with serving(stub_server.right) as address:
        pass
    outcome = loads.carried_out(plan(address), tmp_path)
    assert set(outcome.counts) == {Verdict.LOST}


def test_arrivals_that_find_no_connection_free_are_held_back_not_forgotten(tmp_path: Path) -> None:
    with serving(stub_server.silent) as address:
        outcome = loads.carried_out(plan(address, PER_S, 2.0, timeout_s=6.0), tmp_path)
    assert outcome.sent == 4
    assert outcome.held_back > 0


def test_a_load_that_is_told_to_finish_does_so_and_leaves_no_process(tmp_path: Path) -> None:
    asked = threading.Event()

    async def right(reader: StreamReader, writer: StreamWriter, body: bytes) -> None:
        await stub_server.right(reader, writer, body)
        asked.set()

    with serving(right) as address, loads.running(plan(address, seconds=600), tmp_path) as load:
        assert asked.wait(60)
        outcome = load.finish()
    assert outcome.counts[Verdict.RIGHT] > 0
    with pytest.raises(ProcessLookupError):
        os.kill(load.process.pid, signal.SIG_DFL)


def test_an_answer_that_comes_before_the_body_was_sent_is_read() -> None:
    async def exchange(address: tuple[str, int]) -> int:
        head = b"POST / HTTP/1.1\r\nContent-Length: 50000000\r\n\r\n"
        async with Connection(address) as connection:
            return (await connection.exchange(head + bytes(50_000_000))).status

    with serving(stub_server.refused, reads_bodies=False) as address:
        assert asyncio.run(exchange(address)) == 503


def test_a_connection_that_the_server_closed_meanwhile_is_opened_again() -> None:
    async def exchange_twice(address: tuple[str, int]) -> None:
        request = b"POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n"
        async with Connection(address) as connection:
            await connection.exchange(request)
            while not connection._ended():
                await asyncio.sleep(0.01)
            await connection.exchange(request)

    with serving(stub_server.refused, reads_bodies=False) as address:
        asyncio.run(exchange_twice(address))


def test_a_connection_closed_without_an_answer_is_said_to_be_lost() -> None:
    async def exchange(address: tuple[str, int]) -> None:
        async with Connection(address) as connection:
            await connection.exchange(b"POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n")

    with serving(stub_server.closed) as address, pytest.raises(LostError, match="after 0 bytes"):
        asyncio.run(exchange(address))
