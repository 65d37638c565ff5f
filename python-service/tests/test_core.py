"""The core without a server: what a request is answered, and that it leaves nothing behind."""

import json
from collections.abc import Iterator
from concurrent.futures import Future
from itertools import accumulate
from threading import Thread

import pytest
from cases import LOST_AT_COMMIT
from cases import SITUATIONS as OF_MESSAGES
from contract_example import EXAMPLES, body_of, check_error, given, paths_of
from hypothesis import given as for_all
from hypothesis import strategies as st

from restbench_service.codec.npb import NpbJson
from restbench_service.coded_workloads import coded_workloads
from restbench_service.core.reply import Reply, described
from restbench_service.core.service import UNKNOWN, Core, Exchange, Head, Server
from restbench_service.execution.faults import AbandonedError, PoolFailedError, WorkerDiedError
from restbench_service.execution.job import Job
from restbench_service.execution.techniques import Serial
from restbench_service.settings import Settings
from restbench_service.workloads.matrix import MatrixWorkload

JSON = "application/json"
GOOD = (
    b'{"requestId":1,"matrixOne":{"columnCount":1,"rows":[{"value":"2"}]},'
    b'"matrixTwo":{"columnCount":1,"rows":[{"value":"3"}]}}'
)
PRODUCT = b'{"requestId":"1","rows":[[6]]}'
VALUE = "4815162342"


class Scripted(Serial):
    """Gives each job to a future that the test completes."""

    def __init__(self) -> None:
        super().__init__(None)
        self.given: list[tuple[Job, Future[bytes]]] = []

    def execute(self, job: Job) -> "Future[bytes]":
        self.given.append((job, Future()))
        return self.given[-1][1]


def core_of(settings: Settings | None = None, **strategies: Serial) -> Core:
    settings = settings or Settings()
    table = strategies or {"serial": Serial(None)}
    return Core(settings, coded_workloads(settings), dict(table), Server("test", "none 1.0"))


def opened(core: Core, declared: int = len(GOOD), path: str = "/matrix/serial") -> Exchange:
    """A request of which the head is there."""
    path, _, query = path.partition("?")
    exchange = core.open(Head("POST", path, query, JSON, declared))
    assert isinstance(exchange, Exchange)
    return exchange


def handed_over(core: Core, body: bytes = GOOD, path: str = "/matrix/serial") -> "Future[Reply]":
    """The reply to a request that its strategy has and that is not answered yet."""
    exchange = opened(core, len(body), path)
    assert exchange.take(body) is None
    answered = exchange.run()
    assert isinstance(answered, Future)
    return answered


def reply_to(core: Core, head: Head) -> Reply:
    """To a head without its body."""
    reply = core.open(head)
    assert isinstance(reply, Reply)
    return reply


def post(core: Core, path: str, body: bytes, pieces: int = 1, declared: int | None = None) -> Reply:
    path, _, query = path.partition("?")
    length = len(body) if declared is None else declared
    exchange = core.open(Head("POST", path, query, JSON, length))
    return send(exchange, body, pieces) if isinstance(exchange, Exchange) else exchange


def send(exchange: Exchange, body: bytes, pieces: int = 1) -> Reply:
    step = max(1, -(-len(body) // pieces))
    for start in range(0, len(body), step):
        refused = exchange.take(body[start : start + step])
        if refused is not None:
            return refused
    delay = exchange.delayed()
    if delay is not None:
        delay.wait()
    return exchange.answer()


def error_of(reply: Reply) -> tuple[int, str, str]:
    error = json.loads(reply.body)
    return reply.status, error["errorCode"], error["errorMessage"]


def counted(core: Core) -> dict[str, int]:
    found = {}
    for line in core.metrics.text().decode().splitlines():
        if line.startswith("restbench_requests_total"):
            found[line.split('status="')[1][:3]] = int(float(line.split()[-1]))
    return found


@pytest.fixture
def core() -> Iterator[Core]:
    core = core_of()
    yield core
    assert_nothing_is_left(core)


def assert_nothing_is_left(core: Core) -> None:
    assert core.admission.in_flight == 0
    assert core.budget.held_bytes == 0


@for_all(st.integers(1, len(GOOD)), st.booleans())
def test_a_body_in_pieces_of_any_size_is_the_same_body(pieces: int, is_declared: bool) -> None:
    core = core_of()
    reply = post(core, "/matrix/serial", GOOD, pieces, None if is_declared else UNKNOWN)
    assert (reply.status, reply.body) == (200, PRODUCT)
    reply.sent()
    assert_nothing_is_left(core)
    assert counted(core) == {"200": 1}


@for_all(st.lists(st.integers(0, 300), max_size=6), st.booleans(), st.booleans())
def test_however_a_body_ends_it_is_answered_once_and_leaves_nothing(
    sizes: list[int], is_whole: bool, is_declared: bool
) -> None:
    """Beyond the limit of a body, beyond the memory that another one leaves, cut off, or whole."""
    limits = Settings(max_body_bytes=900, memory_budget_bytes=1000, input_cache_bytes=0)
    core = core_of(limits)
    other = opened(core, UNKNOWN)
    assert other.take(bytes(300)) is None
    pieces = [GOOD, *(b" " * size for size in sizes)]
    total, so_far = sum(map(len, pieces)), accumulate(map(len, pieces))
    beyond = next((size for size in so_far if size > 700), 0)
    reply = core.open(Head("POST", "/matrix/serial", "", JSON, total if is_declared else UNKNOWN))
    if isinstance(reply, Exchange):
        refusals = (reply.take(piece) for piece in pieces)
        refused = next((refusal for refusal in refusals if refusal is not None), None)
        reply = refused or (reply.answer() if is_whole else reply.cut_off())
    reply.sent()
    if beyond:
        assert reply.status == (413 if beyond > 900 or (is_declared and total > 900) else 503)
    else:  # what it is to compute with may not fit either
        assert reply.status in ({200, 413, 503} if is_whole else {400})
    assert sum(counted(core).values()) == 1
    assert (core.admission.in_flight, core.budget.held_bytes) == (0, 300)
    other.cut_off()
    assert_nothing_is_left(core)


SITUATIONS = {
    "body-limit-100": Settings(max_body_bytes=100),
    "body-limit-1000": Settings(max_body_bytes=1000),
    "memory-limit-100-mib": Settings(memory_budget_bytes=116 * 2**20, input_cache_bytes=16 * 2**20),
    "operations-limit-1000": Settings(max_loop_operations=1000, max_operations=1000),
    "loop-operations-limit-1000": Settings(max_loop_operations=1000),
}


@pytest.mark.parametrize("situation", SITUATIONS)
def test_the_examples_of_limits_are_answered_as_the_contract_says(situation: str) -> None:
    core = core_of(SITUATIONS[situation])
    for name in given(situation):
        for path in paths_of(EXAMPLES[name]):
            reply = post(core, path, body_of(EXAMPLES[name]))
            assert reply.status == EXAMPLES[name]["status"], reply.body
            if reply.status != 200:
                check_error(EXAMPLES[name], path, reply.body.decode())
            reply.sent()
            assert_nothing_is_left(core)


@pytest.mark.parametrize("name", given("in-flight-limit-reached"))
def test_a_request_above_the_limit_in_flight_is_refused_before_its_body_is_read(name: str) -> None:
    core = core_of(Settings(max_in_flight=1))
    first, sent = opened(core), EXAMPLES[name]["request"]
    content_type, declared = sent["headers"]["Content-Type"], len(body_of(EXAMPLES[name]))
    reply = reply_to(core, Head("POST", sent["path"], "", content_type, declared))
    check_error(EXAMPLES[name], "", reply.body.decode())
    assert (reply.headers.get("Retry-After") == "1") == (reply.status == 503)
    send(first, GOOD).sent()
    assert_nothing_is_left(core)


@pytest.mark.parametrize("name", given("memory-held"))
def test_a_request_whose_memory_is_held_by_another_is_told_to_come_later(name: str) -> None:
    example, strategy = EXAMPLES[name], Scripted()
    workload = coded_workloads(Settings())["npb-mg"].workload
    body = body_of(example)
    path = example["request"]["path"].replace("{strategy}", "serial")
    needed_bytes = workload.working_bytes(NpbJson("MG").decode(body, ""))
    settings = Settings(
        memory_budget_bytes=2 * needed_bytes - 1, input_cache_bytes=0, max_body_bytes=10_000
    )
    core = core_of(settings, first=strategy, serial=Serial(None))
    answered = handed_over(core, body, "/npb-mg/first")
    job, future = strategy.given[0]
    job.decode()
    reply = post(core, path, body)
    check_error(example, path, reply.body.decode())
    assert reply.headers["Retry-After"] == "1"
    future.set_result(b"{}")
    answered.result().sent()
    assert post(core, path, body).status == 200


def test_of_several_faults_the_first_of_the_contract_s_order_is_named() -> None:
    core = core_of(Settings(max_body_bytes=200, max_in_flight=1))
    first = opened(core, 200)
    refusals = [
        (Head("PUT", "/matrix/none", "", None, 999), 404, "009"),
        (Head("PUT", "/matrix/serial", "", None, 999), 405, "009"),
        (Head("POST", "/matrix/serial", "", "text/plain", 999), 415, "009"),
        (Head("POST", "/matrix/serial", "", JSON, 201), 413, "007"),
        (Head("POST", "/matrix/serial", "", JSON, 200), 503, "008"),
    ]
    for head, status, code in refusals:
        assert error_of(reply_to(core, head))[:2] == (status, code)
    unknown = opened(core, UNKNOWN)
    assert unknown.take(bytes(200)) is None
    too_large = unknown.take(b"x")
    assert too_large is not None and error_of(too_large)[:2] == (413, "007")
    assert error_of(post(core, "/matrix/serial", b"{", declared=UNKNOWN))[:2] == (503, "008")
    assert error_of(first.cut_off()) == (400, "002", "the body was cut off")
    assert error_of(post(core, "/matrix/serial", b"{"))[:2] == (400, "002")
    assert_nothing_is_left(core)
    assert counted(core) == {"400": 2, "405": 1, "413": 2, "415": 1, "503": 2}


def test_a_place_is_free_when_the_answer_is_there_and_its_memory_when_it_is_sent(
    core: Core,
) -> None:
    reply = post(core, "/matrix/serial", GOOD)
    assert core.admission.in_flight == 0
    assert core.budget.held_bytes == len(GOOD) + len(PRODUCT)
    assert counted(core) == {"200": 1}
    reply.sent()


def test_a_strategy_that_works_on_the_caller_has_the_reply_at_once(core: Core) -> None:
    exchange = opened(core)
    exchange.take(GOOD)
    answered = exchange.run()
    assert isinstance(answered, Reply) and answered.body == PRODUCT
    answered.sent()


def test_a_strategy_that_hands_over_holds_no_thread() -> None:
    strategy = Scripted()
    core = core_of(serial=strategy)
    answered = handed_over(core)
    assert not answered.done() and core.admission.in_flight == 1
    Thread(target=strategy.given[0][1].set_result, args=(PRODUCT,)).start()
    assert answered.result(60).body == PRODUCT


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (AbandonedError(), 503, "the client went away before its turn came"),
        (PoolFailedError("x"), 503, "the service has no worker free for this request now"),
        (MemoryError(), 503, "the requests in flight hold the memory that this one needs"),
        (WorkerDiedError("x"), 500, "a fault of the service; its log says more"),
        (KeyError(VALUE), 500, "a fault of the service; its log says more"),
    ],
)
@pytest.mark.parametrize("padding", [0, 1_000_000])
def test_whatever_ends_a_request_it_is_answered_counted_and_lets_go(
    error: Exception, status: int, message: str, padding: int, caplog: pytest.LogCaptureFixture
) -> None:
    strategy = Scripted()
    core = core_of(serial=strategy)
    answered = handed_over(core, GOOD + b" " * padding)
    strategy.given[0][1].set_exception(error)
    reply = answered.result(60)
    assert (reply.status, error_of(reply)[2]) == (status, message)
    assert json.loads(reply.body)["requestId"] == (1 if status == 500 else None)
    assert counted(core) == {str(status): 1}
    assert VALUE not in caplog.text
    assert_nothing_is_left(core)


def test_a_strategy_that_cannot_even_start_is_a_fault() -> None:
    class Broken(Serial):
        def execute(self, _: Job) -> "Future[bytes]":
            raise RuntimeError("can't start new thread")

    core = core_of(serial=Broken(None))
    assert error_of(post(core, "/matrix/serial", GOOD))[:2] == (500, "099")
    assert_nothing_is_left(core)


def fail(*_: object) -> None:
    raise ZeroDivisionError(VALUE)


@pytest.mark.parametrize("name", given("compute-fault"))
def test_a_fault_of_the_service_is_answered_and_logged_with_the_id(
    name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(MatrixWorkload, "compute", fail)
    reply = post(core_of(), "/matrix/serial", body_of(EXAMPLES[name]))
    assert reply.status == EXAMPLES[name]["status"]
    check_error(EXAMPLES[name], "/matrix/serial", reply.body.decode())
    assert "2238" in caplog.text and "ZeroDivisionError" in caplog.text
    assert "in fail" in caplog.text and VALUE not in caplog.text


def test_a_request_s_id_cannot_forge_a_line_of_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(MatrixWorkload, "compute", fail)
    name = json.dumps("\n2026 ERROR forged \x1b[31m\u2028é").encode()
    post(core_of(), "/matrix/serial", GOOD.replace(b'"requestId":1', b'"requestId":' + name))
    assert r"request '\n2026 ERROR forged \x1b[31m\u2028\xe9' failed: " in caplog.text


def test_the_log_has_the_text_of_our_own_errors_only() -> None:
    assert "it died" in described(WorkerDiedError("it died"))
    assert VALUE not in described(KeyError(VALUE))


def test_every_situation_of_the_examples_is_tested_above() -> None:
    others = {
        "in-flight-limit-reached",
        "delay-limit-reached",
        "memory-held",
        "compute-fault",
        None,
    }
    # contract/run.py, test_messages_examples.py
    others |= {LOST_AT_COMMIT, "database-down", "queue-without-room", *OF_MESSAGES}
    assert {example.get("given") for example in EXAMPLES.values()} == {*SITUATIONS, *others}


@pytest.mark.parametrize(
    "content_type", ["application/json", "Application/JSON", "application/json ; charset=x"]
)
def test_the_media_type_is_compared_without_case_and_parameters(
    core: Core, content_type: str
) -> None:
    exchange = core.open(Head("POST", "/matrix/serial", "", content_type, 0))
    assert isinstance(exchange, Exchange)
    exchange.cut_off()


def test_a_long_page_has_a_place_until_it_is_sent() -> None:
    """For it a thread waits whose client does not read; a short one is always there."""
    core = core_of(Settings(max_in_flight=1))
    page = reply_to(core, Head("GET", "/docs/swagger-ui.css"))
    assert (page.status, core.admission.in_flight) == (200, 1)
    paths = ("/docs/swagger-ui.css", "/health")
    refused, short = (reply_to(core, Head("GET", path)) for path in paths)
    assert (refused.status, short.status) == (503, 200)
    page.sent()
    assert_nothing_is_left(core)


PAGES = ["/health", "/strategies", "/metrics", "/openapi.json", "/docs/", "/docs/swagger-ui.css"]


@pytest.mark.parametrize("path", [*PAGES, "/docs/start.js", "/none", "/docs/..", "/docs/a%2e"])
def test_every_reply_has_the_security_headers(core: Core, path: str) -> None:
    reply = reply_to(core, Head("GET", path))
    reply.sent()
    assert reply.status == (200 if path in {*PAGES, "/docs/start.js"} else 404)
    assert reply.headers["X-Content-Type-Options"] == "nosniff"
    assert reply.headers["Cache-Control"] == "no-store"
    assert reply.headers["Referrer-Policy"] == "no-referrer"
    policy = reply.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; ") and "unsafe" not in policy
    assert policy.endswith("frame-ancestors 'none'")
    is_page = path.startswith("/docs/") and reply.status == 200
    assert is_page == ("script-src 'self'" in policy)
