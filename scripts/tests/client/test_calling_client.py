"""The Python client over HTTP, under every strategy, and its program."""

from __future__ import annotations

import json
import os
import random
import resource
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from calling_service import answered, asked, product, serving, spoilt, trickled
from waiting import await_true

import restbench_client
from restbench_client.batch import Batch
from restbench_client.codec import MatrixJson, NpbJson
from restbench_client.exchange import AiohttpExchange, ThreadExchange
from restbench_client.model import (
    Answer,
    Cancelled,
    Done,
    Job,
    Kind,
    Limits,
    MalformedAnswer,
    Retries,
    ServiceRefused,
    Stage,
)
from restbench_client.strategies import STRATEGIES

NAMES = sorted(STRATEGIES)
SCRIPTS = Path(restbench_client.__file__).parents[1]
PROGRAM = [sys.executable, "-m", "restbench_client"]


@contextmanager
def _job(name: str, url: str) -> Iterator[Job[Any, Any, Any]]:
    """Products of a service, by the exchange that a strategy needs."""
    exchange = (AiohttpExchange if name == "async" else ThreadExchange)(url, "application/json")
    yield Job(MatrixJson(), exchange, lambda _index, _given, output: output.rows)
    exchange.close()


def _calls(name: str, url: str, limits: Limits, calls: int = 3) -> list[Any]:
    inputs = [{**asked(n), "requestId": f"call-{n}"} for n in range(calls)]
    with _job(name, url) as job, STRATEGIES[name](3).start(inputs, job, limits) as batch:
        return batch.all()


@pytest.mark.parametrize("name", NAMES)
def test_two_batches_share_one_exchange(name):
    halves = [range(100), range(100, 200)]
    inputs = [[{**asked(n), "requestId": str(n)} for n in half] for half in halves]
    with (
        serving(product) as url,
        _job(name, url) as job,
        STRATEGIES[name](2).start(inputs[0], job, Limits()) as one,
        STRATEGIES[name](2).start(inputs[1], job, Limits()) as other,
        ThreadPoolExecutor(2) as takers,
    ):
        found = [*takers.map(Batch.all, (one, other))]
    for half, outcomes in zip(halves, found, strict=True):
        assert [each.result for each in outcomes] == [[[2 * n]] for n in half]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("answer", "kind", "stage"),
    [
        (trickled, Kind.TIMEOUT, Stage.C),
        (lambda _: iter(()), Kind.CUT_OFF, Stage.C),
        (lambda _: iter([answered({"rows": []})[:-3]]), Kind.CUT_OFF, Stage.C),
        *(
            (lambda _, cut=cut: iter([cut]), Kind.CUT_OFF, Stage.C)
            for cut in (b"HTT", b"HTTP/1.1 200", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nX: 1")
        ),
        (lambda _: iter([b"hello there\r\n\r\n"]), Kind.NOT_HTTP, Stage.C),
        (lambda _: answered(b" " * 5000), Kind.TOO_LARGE, Stage.C),
        (lambda _: answered(b""), Kind.MALFORMED, Stage.D),
        (lambda _: answered(b"[" * 900), Kind.MALFORMED, Stage.D),
        (lambda _: answered({"requestId": "1", "rows": [[1], [1, 2]]}), Kind.MALFORMED, Stage.D),
        (
            lambda _: answered({"errorCode": "001", "errorMessage": "no"}, "422 No"),
            Kind.REFUSED,
            Stage.D,
        ),
        (
            lambda _: answered({"errorCode": "0011", "errorMessage": "no"}, "422 No"),
            Kind.MALFORMED,
            Stage.D,
        ),
    ],
)
def test_a_bad_answer_is_of_its_kind(name, answer, kind, stage):
    with serving(answer) as url:
        patience_s = 0.4 if kind is Kind.TIMEOUT else 60.0
        outcomes = _calls(name, url, Limits(per_call_s=patience_s, max_answer_bytes=4000))
    assert [(each.kind, each.stage) for each in outcomes] == [(kind, stage)] * 3


@pytest.mark.parametrize(
    ("codec", "status", "said"),
    [
        (MatrixJson(), 200, {"requestId": "call-1", "rows": [[58, -64], [139, 154]]}),
        (NpbJson(), 200, {"requestId": "7", "verified": True, "value": [[1.5, 2.5]]}),
        (MatrixJson(), 503, {"requestId": None, "errorCode": "008", "errorMessage": "busy"}),
    ],
)
def test_any_change_of_an_answer_is_a_result_a_refusal_or_malformed(codec, status, said):
    draw, ended = random.Random(27), Counter()
    body = json.dumps(said, separators=(",", ":")).encode()
    for _ in range(30_000):
        try:
            codec.decode(Answer(status, {}, spoilt(body, draw)))
            ended["result"] += 1
        except (ServiceRefused, MalformedAnswer) as failure:
            ended[type(failure).__name__] += 1
    assert len(ended) == 2, "some are read, most are not"


@pytest.mark.parametrize("name", NAMES)
def test_where_nobody_listens_there_is_no_connection(name):
    with serving(product) as url:
        pass
    assert {each.kind for each in _calls(name, url, Limits())} == {Kind.CONNECT}


@pytest.mark.parametrize("name", NAMES)
def test_to_cancel_closes_the_connections_in_flight(name):
    waiting = threading.Semaphore(0)
    gone = threading.Event()

    def stalled(request: bytes) -> Iterator[bytes]:
        waiting.release()
        while not gone.is_set():
            yield b" "  # fails as soon as the client has closed
            time.sleep(0.01)

    def handler(request: bytes) -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"
        yield from stalled(request)

    with serving(handler) as url, _job(name, url) as job:
        batch = STRATEGIES[name](4).start([asked(n) for n in range(4)], job, Limits())
        taker = threading.Thread(target=batch.all)
        taker.start()
        for _ in range(1 if name == "sequential" else 4):
            assert waiting.acquire(timeout=30)
        batch.close()
        taker.join(30)
        assert not taker.is_alive()
        gone.set()


@pytest.fixture(scope="module")
def program() -> Iterator[Callable[[dict[str, Any]], dict[str, Any]]]:
    with subprocess.Popen(
        PROGRAM, cwd=SCRIPTS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:

        def ask(what: dict[str, Any]) -> dict[str, Any]:
            process.stdin.write(json.dumps(what) + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield ask
        process.terminate()
        assert process.wait(30) == 0


def test_the_program_makes_batches_and_logs_their_calls(program, tmp_path):
    hello = program({"do": "hello"})
    assert hello["strategies"] == ["sequential", "task-pool", "async"]
    inputs, expected, log = (tmp_path / each for each in ("in.json", "out.json", "log.jsonl"))
    inputs.write_text(json.dumps([asked(1), asked(2)]))
    expected.write_text(json.dumps([[[2]], [[5]]]))
    for strategy in hello["strategies"]:
        with serving(product) as url:
            batch = {"do": "batch", "url": url, "strategy": strategy, "threads": 2, "calls": 6}
            batch |= {"inputs": str(inputs), "expected": str(expected), "log": str(log)}
            found = program({**batch, "only": [0, 1, 5]})
        assert (found["outcomes"], found["done"], found["wrong"]) == (3, 3, 2), found
        assert found["stages"]["C"]["wall_s"] > 0
        lines = [json.loads(each) for each in log.read_text().splitlines()]
        assert sorted((each["index"], each["wrong"]) for each in lines) == [
            (0, False),
            (1, True),
            (5, True),
        ]
        assert all(each["sent_ms"] <= each["answered_ms"] <= each["ended_ms"] for each in lines)
        log.unlink()


@pytest.fixture
def inputs(tmp_path: Path) -> str:
    """The path of a file with one body."""
    path = tmp_path / "in.json"
    path.write_text(json.dumps([asked(1)]))
    return str(path)


def test_a_batch_that_is_not_told_how_many_threads_has_one_a_core(program, inputs):
    cores = program({"do": "hello"})["cores"]
    assert cores == len(os.sched_getaffinity(0))
    together = threading.Barrier(cores)

    def of_all_threads(request: bytes) -> bytes:
        together.wait(30)
        return product(request)

    with serving(of_all_threads) as url:
        batch = {"do": "batch", "url": url, "strategy": "task-pool", "calls": cores}
        found = program({**batch, "inputs": inputs})
    assert found["threads"] == {"call-pool": cores}


@pytest.mark.parametrize("strategy", NAMES)
def test_a_connection_lasts_from_one_batch_to_the_next(program, inputs, strategy):
    connections = set()

    def noted(request: bytes) -> bytes:
        connections.add(threading.current_thread())
        return product(request)

    with serving(noted) as url:
        batch = {"do": "batch", "url": url, "strategy": strategy, "threads": 1, "in_flight": 1}
        batch |= {"calls": 5, "inputs": inputs}
        assert [program(batch)["done"] for _ in range(2)] == [5, 5]
    assert len(connections) == 1


@pytest.mark.parametrize("name", NAMES)
def test_a_connection_that_was_closed_between_two_batches_is_not_used_again(name):
    connections = []

    def once(request: bytes) -> Iterator[bytes]:
        connections.append(threading.current_thread())
        yield product(request)

    with serving(once) as url, _job(name, url) as job:
        for _ in range(2):
            with STRATEGIES[name](1).start([asked(1)], job, Limits()) as batch:
                assert [type(each) for each in batch.all()] == [Done]
            assert await_true(lambda: not connections[-1].is_alive())
    assert len(connections) == 2


def test_a_call_is_in_the_log_before_the_batch_ends(program, inputs, tmp_path):
    log, go = tmp_path / "log.jsonl", threading.Event()

    def second_waits(request: bytes) -> bytes:
        assert b"call-1" not in request or go.wait(30)
        return product(request)

    with serving(second_waits) as url, ThreadPoolExecutor(1) as asking:
        batch = {"do": "batch", "url": url, "calls": 2, "inputs": inputs, "log": str(log)}
        found = asking.submit(program, batch)
        assert await_true(lambda: log.exists() and log.read_bytes().endswith(b"\n"))
        assert json.loads(log.read_text())["index"] == 0
        go.set()
        assert found.result()["done"] == 2


@pytest.mark.parametrize("strategy", NAMES)
def test_term_ends_the_program_in_the_middle_of_a_call(inputs, strategy):
    begun, go = threading.Event(), threading.Event()

    def delayed(request: bytes) -> bytes:
        begun.set()
        assert go.wait(60)
        return product(request)

    with (
        serving(delayed) as url,
        subprocess.Popen(
            PROGRAM, cwd=SCRIPTS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process,
    ):
        batch = {"do": "batch", "url": url, "strategy": strategy, "calls": 3, "inputs": inputs}
        process.stdin.write(json.dumps(batch) + "\n")
        process.stdin.flush()
        try:
            assert begun.wait(60)
            process.terminate()
            assert process.wait(30) == 0
        finally:
            process.kill()
            go.set()
        assert process.stdout.read() == ""


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"threads": 0}, "threads: must be from 1 to 1024"),
        ({"strategy": "pipeline"}, "strategy: must be one of"),
        ({"transport": "cxf"}, "transport: must be one of"),
        ({"calls": -1}, "calls: must be from 0"),
        ({"only": [7]}, "only: must be from 0 to 0"),
        ({"per_call_s": float("nan")}, "per_call_s: must be"),
        ({"teams": [1, 1, 1, 1]}, "teams: no strategy"),
        ({"loop_threads": 2}, "loop_threads: no strategy"),
        ({"inputs": "/no/such"}, "No such file"),
        ({"url": 5}, "url: must begin with http://"),
        ({"url": "https://127.0.0.1/"}, "url: must begin with http://"),
        ({"url": "http://"}, "url: must begin with http://"),
        ({"thread": 2}, "thread: is no option"),
    ],
)
def test_the_program_says_what_is_wrong_in_a_line(program, inputs, wrong, said):
    batch = {"do": "batch", "url": "http://127.0.0.1:9/", "calls": 1, "inputs": inputs}
    assert said in program({**batch, **wrong})["error"]


def test_the_lines_of_the_package_s_description_run(capsys):
    lines = [line for line in restbench_client.__doc__.splitlines() if line.startswith("    ")]
    with serving(product) as url:
        exec(textwrap.dedent("\n".join(lines)), {"url": url, "inputs": [asked(2)]})  # noqa: S102
    assert "Done(index=0" in capsys.readouterr().out


@pytest.fixture
def full() -> Iterator[str]:
    """The URL of a service that accepts nobody, and has no room for more who wait for that."""
    with ExitStack() as opened:
        listening = opened.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        host, port = listening.getsockname()
        with suppress(TimeoutError):
            while True:
                waiting = opened.enter_context(socket.socket())
                waiting.settimeout(0.2)
                waiting.connect((host, port))
        yield f"http://{host}:{port}/"


@pytest.mark.parametrize("name", NAMES)
def test_a_deadline_that_passes_while_connecting_is_a_timeout(name, full):
    outcomes = _calls(name, full, Limits(per_call_s=0.2, retries=Retries.SAFE), calls=2)
    assert [(each.kind, each.attempts) for each in outcomes] == [(Kind.TIMEOUT, 1)] * 2


@pytest.mark.parametrize("name", ["task-pool", "async"])
def test_to_cancel_ends_the_connecting(name, full):
    with (
        _job(name, full) as job,
        STRATEGIES[name](2).start([asked(1), asked(2)], job, Limits()) as batch,
    ):
        assert await_true(lambda: batch.totals().attempts == 2)
        batch.close()
        assert [type(each) for each in batch.all()] == [Cancelled] * 2


def test_connections_beyond_a_thousand_files_are_kept_too():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with ExitStack() as opened, serving(product) as url:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
        opened.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        for _ in range(1100):
            opened.callback(os.close, os.open(os.devnull, os.O_RDONLY))
        assert [type(each) for each in _calls("sequential", url, Limits(), calls=2)] == [Done] * 2
