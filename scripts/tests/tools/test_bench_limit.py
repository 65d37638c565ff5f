"""How far from the limit: the sums by hand, the limit, the client and servers for real."""

import base64
import json
import os
import shutil
import sys
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from ports import free_port

from restbench.drive import wrk
from restbench.drive.payload import make_payload
from restbench.drive.wrk import Client
from restbench.experiment.cell import Shape
from restbench.failures import (
    BadConfiguration,
    CellsFailed,
    EnvironmentProblem,
    Regression,
    WrongAnswers,
)
from restbench.machine import process
from restbench.store import store
from tools import bench_limit, limit_servers
from tools.bench_limit import cpu_ms, judge
from tools.limit_servers import Server

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++ here")
PAYLOAD = make_payload(Shape(rows=3, inner=2, columns=2), 2019, 0, 9)
EXAMPLES = [
    example
    for file in sorted(store.ROOT.glob("contract/examples/*.json"))
    if (example := json.loads(file.read_text()))["request"]["path"].startswith("/matrix/")
]
ECHOES_BYTES = """
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        answer = sys.argv[3].encode()
        self.send_response(int(sys.argv[2]))
        self.send_header("Server-Timing", "parse;dur=1.5, compute;dur=2.25")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


@pytest.fixture
def answering(tmp_path: Path):
    """Starts servers that give every request the same answer."""
    started = []

    def start(status: int, answer: bytes) -> Server:
        port = free_port()
        command = [sys.executable, "-c", ECHOES_BYTES, str(port), str(status), answer.decode()]
        running = process.start(process.bound_to_us(command), tmp_path / "server.log")
        started.append(running)
        return Server("java", f"http://127.0.0.1:{port}/", running)

    yield start
    for each in started:
        process.stop(each)


def body_of(request: dict) -> bytes:
    if "bodyBase64" in request:
        return base64.b64decode(request["bodyBase64"])
    return request.get("bodyText", json.dumps(request.get("body"))).encode()


def client(tmp_path: Path) -> Client:
    body = tmp_path / "body.json"
    body.write_bytes(PAYLOAD.body(limit_servers.REQUEST_ID))
    return Client(body, 4, str(min(os.sched_getaffinity(0))))


def test_the_ratio_is_over_all_turns_each_beside_the_limits_and_told_of_each_service() -> None:
    of_services = [[(0.1, 1.2), (0.2, 2.4)], [(0.1, 2.7), (0.4, 10.8)]]
    found = bench_limit.standing("flask", "low", of_services)
    # the machine's drift is not the servers'
    assert found.of_each_service == pytest.approx((12, 27))
    assert found.ratio.estimate == pytest.approx(18)  # the geometric mean
    # scipy: exp(ln 18 +- t(0.975, 3) * std(ln [12, 12, 27, 27], ddof=1) / 2)
    assert found.ratio.low == pytest.approx(8.545251521715326)
    assert found.cpu_ms == pytest.approx((1.2 * 2.4 * 2.7 * 10.8) ** 0.25)
    assert found.limit_cpu_ms == pytest.approx((0.1 * 0.2 * 0.1 * 0.4) ** 0.25)


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [
        ((15.0, 15.5), "held"),
        ((15.0, 25.0), "held"),  # above the bar of 16, but the interval is not
        ((17.0, 17.1), "missed"),
    ],
)
def test_a_bar_is_missed_only_where_the_whole_interval_is_above_it(
    ratios: tuple[float, float], verdict: str
) -> None:
    found = bench_limit.standing("flask", "low", [[(1.0, each) for each in ratios]])
    assert (found.bar, found.verdict) == (16.0, verdict)
    if verdict == "held":
        judge([found])
    else:
        with pytest.raises(Regression, match=r"1 of 1 .*: flask low 17\.0"):
            judge([found])


def test_reads_the_requests_in_the_clients_own_words() -> None:
    output = "Running 1s test\n  12345 requests in 1.00s, 2.1MB read\nRequests/sec: 12345\n"
    assert wrk.answered("java", output) == 12345


@pytest.mark.parametrize(
    "output",
    [
        "  9 requests in 1.00s\n  Non-2xx or 3xx responses: 4\n",
        "  9 requests in 1.00s\n  Socket errors: connect 0, read 3, write 0, timeout 0\n",
        "  0 requests in 1.00s\n",
        "unable to connect to 127.0.0.1:1 Connection refused",
    ],
)
def test_a_load_with_errors_is_no_measurement(output: str) -> None:
    with pytest.raises(CellsFailed, match=r"^java: "):
        wrk.answered("java", output)


@pytest.mark.parametrize(
    ("costs", "over"),
    [
        ([], False),
        ([0.5, 0.5], False),
        ([0.5, 0.5, 0.5], True),
        ([0.5, 0.6, 0.49], True),  # 2 % are noise
        ([0.5, 0.4, 0.4], False),  # the cost fell a slice ago
        ([0.5, 0.4, 0.3], False),
        ([0.5, 0.4, 0.3, 0.3, 0.3], True),
        ([0.5, 0.2, 0.4, 0.3], True),  # a busy machine makes a slice dear, none cheap
        ([2.0**-i for i in range(15)], True),  # it has to end
    ],
)
def test_warm_up_ends_when_the_cost_of_a_request_falls_no_more(
    costs: list[float], over: bool
) -> None:
    assert bench_limit.warmed_up(costs) is over


def test_a_turn_counts_requests_and_the_servers_cpu_time(tmp_path: Path, answering) -> None:
    server = answering(200, PAYLOAD.answer(limit_servers.REQUEST_ID))
    limit_servers.require_right(server, PAYLOAD)
    assert 0 < cpu_ms(client(tmp_path), server, 1.0) < 10_000
    assert limit_servers.stages_ms(server, PAYLOAD, 3) == {"parse": 1.5, "compute": 2.25}


def test_a_wrong_product_is_never_timed(answering) -> None:
    with pytest.raises(WrongAnswers, match=r"java: answered .*requestId"):
        limit_servers.require_right(answering(200, b'{"requestId":"2019"}'), PAYLOAD)


def test_a_refused_request_is_no_measurement(tmp_path: Path, answering) -> None:
    server = answering(503, b"{}")
    refused = r"^java: answered 503 '\{\}'$"
    with pytest.raises(CellsFailed, match=refused):
        limit_servers.require_right(server, PAYLOAD)
    with pytest.raises(CellsFailed, match=refused):
        limit_servers.stages_ms(server, PAYLOAD, 1)
    with pytest.raises(CellsFailed, match="Non-2xx"):
        cpu_ms(client(tmp_path), server, 1.0)


def test_a_server_that_is_gone_is_no_measurement(answering, monkeypatch) -> None:
    server = answering(200, PAYLOAD.answer(limit_servers.REQUEST_ID))
    limit_servers.require_right(server, PAYLOAD)
    process.stop(server.running)
    monkeypatch.setattr(limit_servers, "RETRIES", 0)
    with pytest.raises(CellsFailed, match=r"^java: no answer: .*refused"):
        limit_servers.stages_ms(server, PAYLOAD, 1)


@needs_compiler
def test_a_source_that_does_not_compile_is_said(tmp_path: Path) -> None:
    source = tmp_path / "limit.cpp"
    source.write_text("int main() { return nothing; }")
    with pytest.raises(EnvironmentProblem, match=r"does not compile: .*nothing"):
        limit_servers.compiled(source, tmp_path)


@needs_compiler
def test_the_limit_answers_as_the_contract_says_or_refuses(tmp_path: Path) -> None:
    """It may refuse what only a service has to be ready for, but never answers something else."""
    program = limit_servers.compiled(limit_servers.SOURCE, tmp_path)
    with limit_servers.limit(program, min(os.sched_getaffinity(0)), tmp_path) as server:
        limit_servers.require_right(server, PAYLOAD)
        right = [each for each in EXAMPLES if each["status"] == httpx.codes.OK]
        answers = [httpx.post(server.url, content=body_of(each["request"])) for each in right]
        cpu_ms(client(tmp_path), server, 1.0)
    counts = Counter(each.status_code for each in answers)
    assert set(counts) == {200, 400}
    assert counts[200] > counts[400]
    for each, answer in zip(right, answers, strict=True):
        assert answer.status_code == 400 or answer.text == each["responseText"], each["about"]


@pytest.fixture
def without_helidon(monkeypatch) -> None:
    """On a JDK 17."""
    lack = {"helidon": "helidon: needs Java 21, this is 17"}
    monkeypatch.setattr(
        bench_limit.limit_servers.programs, "why_unavailable", lambda _, each: lack.get(each, "")
    )


@pytest.mark.usefixtures("without_helidon")
def test_a_framework_that_cannot_run_here_is_told_and_left_out() -> None:
    told: list[str] = []
    found = bench_limit.available(None, told.append)
    assert found == [each for each in bench_limit.BARS if each != "helidon"]
    assert told == ["left out: helidon: needs Java 21, this is 17"]


@pytest.mark.usefixtures("without_helidon")
@pytest.mark.parametrize(("named", "why"), [("helidon", "needs Java 21"), ("django", "one of")])
def test_a_named_framework_that_cannot_run_here_is_refused(named: str, why: str) -> None:
    assert bench_limit.available(["flask", "rsgi/loop"], print) == ["flask", "rsgi/loop"]
    with pytest.raises(BadConfiguration, match=f"--framework {named}: .*{why}"):
        bench_limit.available(["flask", named], print)


def test_a_framework_that_fails_does_not_lose_the_others(tmp_path: Path, monkeypatch) -> None:
    asked: list[str] = []

    @contextmanager
    def pair(_program: Path, framework: str, *_: object):
        asked.append(framework)
        yield framework

    def turns(servers: str, *_: object) -> list[tuple[float, float]]:
        if servers == "vertx":
            raise CellsFailed("vertx: no answer: refused")
        return [(1.0, 2.0), (1.0, 2.0)]

    monkeypatch.setattr(limit_servers, "pair", pair)
    monkeypatch.setattr(bench_limit, "_turns", turns)
    plan = bench_limit.Plan(2, 2, 1.0, 0, 1, tmp_path)
    payloads = dict.fromkeys(bench_limit.COMPLEXITIES, PAYLOAD)
    found, failed = bench_limit.measure(tmp_path, ["vertx", "helidon"], payloads, plan, print)
    assert [each.framework for each in found] == ["helidon"]
    assert failed == {"vertx": "vertx: no answer: refused"}
    assert asked == ["vertx", "helidon", "helidon"]


@pytest.mark.parametrize(("named", "is_kept"), [(None, True), (["vertx"], False)])
def test_a_run_of_some_frameworks_leaves_the_kept_one(
    named: list[str] | None, is_kept: bool, tmp_path: Path, monkeypatch
) -> None:
    found = [bench_limit.standing("flask", "low", [[(1.0, 2.0), (1.0, 2.0)]])]
    failed = {"vertx": "vertx: no answer: refused"}
    monkeypatch.setattr(bench_limit, "measure", lambda *_: (found, failed))
    monkeypatch.setattr(bench_limit, "available", lambda *_: ["vertx"])
    monkeypatch.setattr(bench_limit, "KEPT", tmp_path / "limit.json")
    monkeypatch.setattr(limit_servers, "compiled", lambda *_: tmp_path)
    monkeypatch.setattr(bench_limit.machine_lock, "take", lambda: None)
    monkeypatch.setattr(bench_limit.wrk, "require", lambda: None)
    monkeypatch.setattr(bench_limit.placement, "allowed_cores", lambda: (0, 1))
    with pytest.raises(CellsFailed, match="vertx: no answer"):
        bench_limit.bench_limit(named, 1, 2, 1.0)
    assert (tmp_path / "limit.json").exists() == is_kept
