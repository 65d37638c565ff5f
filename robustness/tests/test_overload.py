"""wrk counts what really came: each planted fault is found; and what a scenario concludes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import psutil
import pytest
import stub_service
from stub_service import Answer

from restbench.deploy.service import Service
from restbench.experiment.cell import Front
from restbench.failures import EnvironmentProblem
from restbench.machine import clock, machine_lock, watch
from restbench.machine.process import is_alive
from restbench_robustness.overload import __main__ as command
from restbench_robustness.overload import scenarios
from restbench_robustness.overload.large import BODIES, Large
from restbench_robustness.overload.load import LOW, Load, Outcome, Verdict, overload_mix, valid
from restbench_robustness.overload.promises import Findings, broken
from restbench_robustness.overload.scenarios import UNFINISHED, Client, clients, crowd
from restbench_robustness.overload.subject import End, Subject, back_after, seconds_until
from restbench_robustness.soap import document

BUSY = b'{"requestId":null,"errorCode":"008","errorMessage":"busy"}'
KINDS = overload_mix("serial")
SMALL = [kind for kind in KINDS if len(kind.rest) < 50_000]


def error(request: bytes, code: bytes, echoed: bytes | None = None) -> bytes:
    number = request[len(b'{"requestId":') : request.index(b",")] if echoed is None else echoed
    return b'{"requestId":%s,"errorCode":"%s","errorMessage":"no"}' % (number, code)


def right(request: bytes) -> Answer:
    number, _, rest = request.removeprefix(b'{"requestId":').partition(b",")
    kind = next(kind for kind in KINDS if kind.rest == rest)
    if kind.answer_rest:
        return 200, b'{"requestId":"%s",%s' % (number, kind.answer_rest), {}
    echoed = b"null" if kind.code == "002" else number
    return kind.status, error(request, kind.code.encode(), echoed), {}


FAULTS: dict[str, tuple[Callable[[bytes], Answer | None], Verdict]] = {
    "another product": (lambda it: (200, right(it)[1].replace(b"]]", b"0]]"), {}), Verdict.WRONG),
    "another id": (lambda it: (200, right(it)[1].replace(b':"', b':"9'), {}), Verdict.WRONG),
    "a byte more": (lambda it: (200, right(it)[1] + b"\n", {}), Verdict.WRONG),
    "refused without a time": (lambda _: (503, BUSY, {}), Verdict.WRONG),
    "refused for no time": (lambda _: (503, BUSY, {"Retry-After": "soon"}), Verdict.WRONG),
    "refused by another code": (lambda _: (503, b"<html>", {"Retry-After": "1"}), Verdict.WRONG),
    "refused": (lambda _: (503, BUSY, {"Retry-After": "1"}), Verdict.REFUSED),
    "a fault": (lambda it: (500, error(it, b"099"), {}), Verdict.FAULT),
    "a fault of another form": (lambda _: (500, b"Internal Server Error", {}), Verdict.WRONG),
    "an error for a right body": (lambda it: (422, error(it, b"001"), {}), Verdict.WRONG),
    "no JSON": (lambda it: (400, error(it, b"002", b"null"), {}), Verdict.WRONG),
    "cut off": (lambda it: (200, right(it)[1][:-5], {"Content-Length": "999999"}), Verdict.LOST),
    "closed": (lambda _: None, Verdict.LOST),
}  # fmt: skip


ASKED: list[bytes] = []
"""The bodies that the last server was sent."""


@contextmanager
def serving(behaviour: Callable[[bytes], Answer | None]) -> Iterator[tuple[str, int]]:
    """The address of a server that answers every body so."""
    ASKED.clear()

    def noted(body: bytes, _path: str, _type: str) -> Answer | None:
        ASKED.append(body)
        return behaviour(body)

    with stub_service.serving(noted) as address:
        yield address


def load(address: tuple[str, int], *, timeout_s: float = 30.0) -> Load:
    return Load(address, "/matrix/serial", [valid(LOW)], 4, timeout_s)


def run(of: Load, is_enough: Callable[[], bool] = lambda: len(ASKED) > 8) -> Outcome:
    """Half a second, and longer where a busy machine has not let as much be sent by then."""
    with of.running() as ended:
        time.sleep(0.5)
        assert clock.wait_until(is_enough, 60), f"no more than {len(ASKED)} requests came"
        return ended()


def test_an_honest_server_is_right_with_every_kind() -> None:
    codes = set()

    def noted(request: bytes) -> Answer:
        status, body, headers = right(request)
        codes.add(json.loads(body).get("errorCode"))
        return status, body, headers

    with serving(noted) as address:
        kinds = [replace(it, weight=1) for it in SMALL]
        outcome = run(replace(load(address), kinds=kinds), lambda: len(codes) == 4)
    assert outcome.only(Verdict.RIGHT)
    assert codes == {None, "001", "002", "005"}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found_by_wrk_and_by_a_probe(fault: str) -> None:
    behaviour, verdict = FAULTS[fault]
    with serving(behaviour) as address:
        outcome = run(load(address, timeout_s=2.0 if verdict is Verdict.LOST else 30.0))
        service = Service("java", "http://{}:{}".format(*address))
        probe = asyncio.run(Subject(service, {}).normal("serial"))
    # A server that loses everything is asked until the end: what is under way then hung.
    excused = {Verdict.HUNG} if verdict is Verdict.LOST else set()
    assert {it for it, number in outcome.counts.items() if number} - excused == {verdict}
    assert probe.verdict is verdict


def test_the_files_of_a_load_are_removed_however_we_end() -> None:
    with load(("127.0.0.1", 1)).running():
        assert list(watch.begin().glob("load-*/kinds"))


def test_the_logs_are_removed_however_we_end_and_a_benchmark_that_runs_is_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folders: list[Path] = []

    def carried_out(*given: Any) -> list[Findings]:
        folders.append(given[-1])
        return []

    monkeypatch.setattr(command, "carried_out", carried_out)
    command.overload("java")
    assert folders[0].is_relative_to(watch.begin())
    monkeypatch.setattr(machine_lock, "take", Mock(side_effect=EnvironmentProblem("another one")))
    with pytest.raises(EnvironmentProblem, match="another one"):
        command.overload("java")
    assert len(folders) == 1


def test_a_pool_that_does_not_recover_is_a_promise_that_did_not_hold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The victim of the first kill has gone by itself."""
    pools: list[dict[int, str]] = [{0: "main", 1: "PR-1"}] * 2 + [{0: "main"}]

    def names() -> dict[int, str]:
        return pools.pop(0) if len(pools) > 1 else pools[0]

    async def normal(_strategy: str) -> None: ...

    service = SimpleNamespace(address=("127.0.0.1", 1))
    subject = SimpleNamespace(
        name="python", names=names, normal=normal, zombies=lambda: 0, service=service
    )
    outcome = Outcome(Counter({Verdict.RIGHT: 1}), 1.0, 0.1)
    load = SimpleNamespace(running=lambda: contextlib.nullcontext(lambda: outcome))
    monkeypatch.setattr("os.kill", Mock(side_effect=ProcessLookupError))
    monkeypatch.setattr(scenarios, "Load", lambda *_: load)
    monkeypatch.setattr(scenarios, "BETWEEN_KILLS_S", (0.0, 0.0))
    monkeypatch.setattr(scenarios, "LONG_S", 0.1)
    force = scenarios.Force(1.0, 80, 3, 1)
    found = asyncio.run(scenarios.pool_killed(subject, "process-per-request", force))  # type: ignore[arg-type]
    missed = [each.what for each in broken(found.promises, "nginx")]
    assert "the pool whole again after each kill" in missed


@pytest.mark.parametrize("code", ["001", "002", "005"])
def test_an_invalid_body_deserves_its_own_error_and_no_other(code: str) -> None:
    kinds = [kind for kind in KINDS if kind.code == code]
    with serving(lambda it: (422, error(it, b"004"), {})) as address:
        outcome = run(replace(load(address), kinds=kinds))
    assert outcome.counts[Verdict.WRONG] == outcome.counts.total() > 0


def test_an_answer_that_was_given_before_is_wrong() -> None:
    first: list[bytes] = []

    def repeats(request: bytes) -> Answer:
        first.append(request)
        return right(first[0])

    with serving(repeats) as address:
        outcome = run(replace(load(address), connections=1))
    assert outcome.counts[Verdict.RIGHT] == 1
    assert outcome.counts[Verdict.WRONG] == outcome.counts.total() - 1 > 0


def test_a_request_that_is_never_answered_hung() -> None:
    served = threading.Semaphore(20)

    def falls_silent(request: bytes) -> Answer:
        if not served.acquire(blocking=False):
            time.sleep(30)
        return right(request)

    with serving(falls_silent) as address:
        outcome = run(load(address, timeout_s=1.0), lambda: len(ASKED) == 20 + 4)
    assert outcome.only(Verdict.RIGHT, Verdict.HUNG)
    assert outcome.counts.total() == 20 + 4
    assert outcome.counts[Verdict.HUNG] >= 4, "and what a busy machine answered too late"


def test_a_late_answer_hung() -> None:
    def dawdles(request: bytes) -> Answer:
        time.sleep(1.5)
        return right(request)

    with serving(dawdles) as address:
        outcome = load(address, timeout_s=1.0).run(2.0)
    assert outcome.counts[Verdict.HUNG] >= 4


def test_a_server_that_is_not_there_loses_every_request() -> None:
    with serving(right) as address:
        pass
    outcome = asyncio.run(Subject(Service("java", "http://{}:{}".format(*address)), {}).normal("x"))
    assert outcome.verdict is Verdict.LOST


def seen(*ends: tuple[float, float, Verdict]) -> list[End]:
    return [End(verdict, began, ended, "") for began, ended, verdict in ends]


def test_a_service_is_back_with_the_first_answer_after_which_all_are_right() -> None:
    good, bad = Verdict.RIGHT, Verdict.REFUSED
    ends = seen((0, 1, good), (2, 3, bad), (4, 5, good), (6, 7, bad), (8, 9, good))
    assert back_after(1.5, ends) == 7.5
    assert back_after(0, ends[:2]) is None
    assert back_after(0, []) is None


def test_a_promise_is_broken_when_it_took_longer_never_came_or_was_more() -> None:
    findings = Findings("it")
    findings.within("quick", 1.0, 2.0)
    findings.within("slow", 3.0, 2.0)
    findings.within("never", None, 2.0)
    findings.at_most("below", 5, 5)
    findings.at_most("above", 6, 5)
    assert [it.what for it in broken(findings.promises, "nginx")] == ["slow", "never", "above"]


def test_what_a_front_does_otherwise_is_listed_and_no_more_than_that() -> None:
    listed = "1 in flight"
    cases: list[tuple[Front, bool, str, bool]] = [
        ("haproxy", False, listed, False),
        ("haproxy", False, "24 in flight", True),
        ("haproxy", True, "0 in flight", True),
        ("nginx", False, listed, True),
        ("nginx", True, "0 in flight", False),
    ]
    for front, held, seen, is_broken in cases:
        findings = Findings("it")
        findings.judge(UNFINISHED, "0 in flight", seen, held)
        assert bool(broken(findings.promises, front)) == is_broken


def test_waiting_in_vain_says_so() -> None:
    async def never() -> bool:
        return False

    assert asyncio.run(seconds_until(never, 0.1)) is None
    assert asyncio.run(seconds_until(lambda: True, 0.1)) is not None


def test_a_zombie_does_not_live() -> None:
    with subprocess.Popen([sys.executable, "-c", "pass"]) as child:
        process = psutil.Process(child.pid)
        assert asyncio.run(seconds_until(lambda: not is_alive(process), 60)) is not None


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        yield server


async def meet(client: Client, listener: socket.socket, slowly: int) -> bytes:
    """What a server has of a client after so many bytes one by one; then it is reset."""
    loop = asyncio.get_running_loop()
    async with crowd(client, 1, listener.getsockname()):
        server, _ = await asyncio.to_thread(listener.accept)
        server.setblocking(False)
        wanted, got = len(client.at_once) + slowly, b""
        while len(got) < wanted:
            got += await loop.sock_recv(server, wanted - len(got))
    with server, contextlib.suppress(ConnectionResetError):
        assert await loop.sock_recv(server, 100) != b""  # a RST, no end
    return got


def test_a_slow_client_sends_its_head_at_once_and_its_body_by_bytes(
    listener: socket.socket,
) -> None:
    got = asyncio.run(meet(clients("/matrix/serial")["body"], listener, slowly=2))
    assert got.startswith(b"POST /matrix/serial HTTP/1.1\r\n")
    assert got.endswith(b'\r\n\r\n{"')


def test_a_client_that_never_reads_stops_a_server_that_writes(listener: socket.socket) -> None:
    async def write() -> None:
        async with crowd(clients("/x")["silent"], 1, listener.getsockname()):
            server, _ = await asyncio.to_thread(listener.accept)
            with server, pytest.raises(TimeoutError):
                server.settimeout(0.5)
                await asyncio.to_thread(server.sendall, bytes(16_000_000))

    asyncio.run(write())


@pytest.mark.parametrize("large", BODIES, ids=lambda large: large.key)
def test_a_large_body_is_as_large_as_may_be(large: Large) -> None:
    body = large.body(10_000)
    assert 10_000 - len(large.piece) < len(body) <= 10_000
    assert body.count(large.piece) > 100


def test_large_bodies_of_rows_are_requests() -> None:
    for large in BODIES:
        if large.what.startswith("rows"):
            body = large.body(10_000)
            said = document(body) if large.soap else body
            assert said is not None
            assert len(json.loads(said)["matrixOne"]["rows"]) > 100
