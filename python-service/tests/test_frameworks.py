"""What is a framework's own: where a request runs, and what the server around it leaves to it."""

import socket
import struct
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from live_metrics import answered, in_flight, metric
from live_service import (
    DEADLINE_SECONDS,
    JSON,
    LiveService,
    begin,
    children,
    everyone_below,
    free_port,
    running,
    side_by_side,
    start,
    state_of,
    wait_until,
)
from raw_client import answer_of, connected, everything, is_answered, post_head
from test_core import Scripted, assert_nothing_is_left, counted, handed_over
from test_killed_processes import ENDLESS, SMALL, matrices, post

from restbench_service.coded_workloads import coded_workloads
from restbench_service.core.service import SENT_AT_ONCE_BYTES, Core, Server
from restbench_service.frameworks import FRAMEWORKS, server_of
from restbench_service.settings import SPARE_THREADS, Settings

LONG = matrices(500, 1200, 50, "long")  # more than a second of work
LONGER = matrices(500, 2000, 50, "longer")
LONGEST = matrices(600, 1000, 300, "longest")  # three times as long
SHORTER = matrices(500, 400, 50, "shorter")
LONG_BODY = matrices(1, 30_000, 1, "long body")  # of 160 kB, soon computed
VALUE = "4815162342"
IN_A_LOOP = [name for name, it in FRAMEWORKS.items() if it.is_asynchronous]
IN_TWO_LOOPS = ("aiohttp", "rsgi")
"""Where a request runs is decided in one place for all; test_delay.py looks at each in a thread."""

SEES_CONNECTIONS = [name for name in FRAMEWORKS if name != "flask-granian"]
"""All but one can ask the connection: whether the client is silent, or gone."""
POOLED = ("flask", "fastapi")
"""One that waits in its thread, and one in an event loop."""


@pytest.fixture(scope="module")
def all_of_them(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, LiveService]]:
    """A service under each framework, for tests that leave it as it was; the last one ends them."""
    folder = tmp_path_factory.mktemp("frameworks")
    settings = {"STOP_TIMEOUT_SECONDS": "1", "PROCESSES": "1"}
    with side_by_side(
        {
            folder / name: {"FRAMEWORK": name, "STRATEGIES": strategies_of(name), **settings}
            for name in FRAMEWORKS
        }
    ) as services:
        yield dict(zip(FRAMEWORKS, services, strict=True))


def strategies_of(framework: str) -> str:
    return "serial,process-per-request" if framework in POOLED else "serial"


@pytest.fixture(params=FRAMEWORKS)
def each(request: pytest.FixtureRequest, all_of_them: dict[str, LiveService]) -> LiveService:
    return all_of_them[request.param]


def test_health_names_the_framework_and_its_server(each: LiveService) -> None:
    health = each.health()
    name = str(health["framework"])
    handoff = "thread" if name in IN_A_LOOP else None
    assert (health["server"], health["handoff"], health["workers"]) == (server_of(name), handoff, 1)


def test_a_kept_connection_takes_one_long_body_after_the_other(each: LiveService) -> None:
    body, answer = LONG_BODY
    with connected(each.port) as client:
        for _ in range(60):
            client.sendall(post_head(len(body)) + body)
            assert answer_of(client).body == answer


def computing(
    service: LiveService, client: socket.socket, asked: tuple[bytes, bytes], waiting: int = 0
) -> None:
    """Send a long request, and return while it runs beside others: a busy machine may let who looks
    for it wait until it is answered, then it is sent again."""
    while True:
        client.sendall(post_head(len(asked[0])) + asked[0])
        wait_until(lambda: in_flight(service) == 1 + waiting or is_answered(client))
        if not is_answered(client):
            return
        assert answer_of(client).body == asked[1]


def test_what_a_client_held_that_left_while_its_request_ran_is_given_back(
    all_of_them: dict[str, LiveService],
) -> None:
    for service in all_of_them.values():
        with connected(service.port) as client:
            computing(service, client, SHORTER)
    for service in all_of_them.values():
        wait_until(lambda: in_flight(service) == 0)  # noqa: B023
        wait_until(lambda: metric(service, "restbench_memory_held_bytes")[""] == 0)  # noqa: B023
        assert "Traceback" not in service.log.read_text()


QUEUED = 10
WELL_INTO_COMPUTING_TICKS = 20  # of CPU time, 0.2 s: far more than taking in a body costs


def queued(service: LiveService) -> socket.socket:
    client = socket.create_connection(("127.0.0.1", service.port))
    client.sendall(post_head(len(SMALL[0])) + SMALL[0])
    return client


def are_left_out(
    service: LiveService, users: ThreadPoolExecutor, long: tuple[bytes, bytes]
) -> bool:
    """Whether requests behind a long one are not computed where their clients leave during it."""
    before = answered(service)
    first = users.submit(post, service, "serial", long[0])
    wait_until(lambda: in_flight(service) == 1 or first.done())
    # In flight is also who still sends a body: a short request could overtake the long one.
    begun_ticks = service.used_ticks()
    wait_until(
        lambda: service.used_ticks() - begun_ticks > WELL_INTO_COMPUTING_TICKS or first.done()
    )
    clients = [queued(service) for _ in range(QUEUED)]
    wait_until(lambda: in_flight(service) == 1 + QUEUED or first.done())
    was_long_enough = not first.done()
    for client in clients:
        if not was_long_enough:
            assert answer_of(client).body == SMALL[1]
        client.close()
    assert first.result().body == long[1]
    wait_until(lambda: (answered(service) - before).total() == 1 + QUEUED)
    return was_long_enough and answered(service) - before == {"200": 1, "503": QUEUED}


@pytest.mark.parametrize("framework", SEES_CONNECTIONS)
def test_the_requests_of_clients_that_left_the_queue_are_not_computed(
    all_of_them: dict[str, LiveService], users: ThreadPoolExecutor, framework: str
) -> None:
    """A busy machine may let the clients leave too late: then behind a longer one. That
    strategies ask whether a client waits is tested in test_strategies.py."""
    service = all_of_them[framework]
    logged = len(service.log.read_text())
    assert any(are_left_out(service, users, long) for long in (LONGER, *[LONGEST] * 3))
    assert in_flight(service) == 0
    assert post(service, "serial", SMALL[0]).body == SMALL[1]
    log = service.log.read_text()[logged:]
    assert "Traceback" not in log
    assert "ERROR" not in log


def test_a_port_that_another_service_has_ends_the_start(tmp_path: Path) -> None:
    """Granian would share it, and gunicorn tried again for 6 s."""
    with socket.create_server(("127.0.0.1", free_port()), reuse_port=True) as other:
        port = str(other.getsockname()[1])
        settings = {"RESTBENCH_STRATEGIES": "serial", "RESTBENCH_PORT": port}
        started = {
            name: start({**settings, "RESTBENCH_FRAMEWORK": name}, tmp_path / name)
            for name in FRAMEWORKS
        }
        try:
            assert {process.wait(60) for process in started.values()} == {1}
        finally:
            for process in started.values():
                process.kill()
    for name in started:
        told, *more = (tmp_path / name).read_text().splitlines()
        assert told.startswith(f"127.0.0.1:{port}: Address already in use")
        assert not more


def is_computed_first(service: LiveService) -> bool:
    """Whether a long request is over once one that was sent later has its answer."""
    with connected(service.port) as client:
        begun_ticks = service.used_ticks()
        client.sendall(post_head(len(LONG[0])) + LONG[0])
        wait_until(lambda: service.used_ticks() - begun_ticks > 30)
        assert service.request("GET", "/health").status == 200
        is_computed = is_answered(client)
        assert answer_of(client).body == LONG[1]
    return is_computed


@pytest.mark.parametrize("framework", IN_TWO_LOOPS)
def test_what_runs_in_a_thread_makes_nobody_wait(
    all_of_them: dict[str, LiveService], framework: str
) -> None:
    """A busy machine may answer late, but not each time."""
    assert not all(is_computed_first(all_of_them[framework]) for _ in range(5))


def test_what_runs_in_the_event_loop_makes_all_else_wait(tmp_path: Path) -> None:
    settings = {"HANDOFF": "loop", "STRATEGIES": "serial"}
    wanted = {tmp_path / name: {"FRAMEWORK": name, **settings} for name in IN_TWO_LOOPS}
    with side_by_side(wanted) as services:
        assert [it.health()["handoff"] for it in services] == ["loop"] * 2
        assert [is_computed_first(it) for it in services] == [True] * 2


def test_a_worker_ends_with_granian_s_main_process(tmp_path: Path) -> None:
    frameworks = [name for name in FRAMEWORKS if "granian" in server_of(name)]
    settings = {"STRATEGIES": "serial"}
    services = [begin(tmp_path / name, {"FRAMEWORK": name, **settings}) for name in frameworks]
    try:
        for service in services:
            wait_until(service.has_begun)
            workers = children(service.process.pid)
            assert workers
            service.process.kill()
            wait_until(lambda: {state_of(pid) for pid in workers} <= {"X", "Z"})  # noqa: B023
    finally:
        for service in services:
            service.process.kill()
            service.process.wait()


@pytest.mark.parametrize("framework", ["flask", "flask-granian"])
@pytest.mark.parametrize("has_its_answer", [False, True])
def test_a_connection_is_good_for_the_next_request_after_a_refused_body(
    all_of_them: dict[str, LiveService], framework: str, has_its_answer: bool
) -> None:
    """Be the body sent with the head, or by a client that has waited for its answer before."""
    body = b"x" * 1_000_000
    head = post_head(len(body)).replace(b"/serial", b"/none")
    with connected(all_of_them[framework].port) as client:
        client.sendall(head if has_its_answer else head + body)
        assert answer_of(client).status == 404
        following = post_head(len(SMALL[0])) + SMALL[0]
        client.sendall(body + following if has_its_answer else following)
        assert answer_of(client).body == SMALL[1]


@pytest.mark.parametrize("handoff", [None, "thread"])
@pytest.mark.parametrize("beyond", [0, 1])
def test_a_place_is_held_until_an_answer_is_sent_for_which_a_thread_may_wait(
    handoff: str | None, beyond: int
) -> None:
    strategy, settings = Scripted(), Settings()
    offered = coded_workloads(settings)
    core = Core(settings, offered, {"serial": strategy}, Server("test", "none 1.0", handoff))
    replied = handed_over(core)
    strategy.given[0][1].set_result(bytes(SENT_AT_ONCE_BYTES + beyond))
    assert core.admission.in_flight == (beyond if handoff is None else 0)
    assert counted(core) == {"200": 1}
    replied.result().sent()
    assert_nothing_is_left(core)


def unreading(port: int, body: bytes) -> socket.socket:
    """A client that takes nothing of its answer."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.settimeout(DEADLINE_SECONDS)
    client.connect(("127.0.0.1", port))
    head = post_head(len(body)).replace(b"serial", b"serial?kernel=native")
    client.sendall(head + body)
    return client


def test_clients_that_do_not_read_their_answers_leave_threads_for_the_others(
    tmp_path: Path,
) -> None:
    """All places are theirs, so that 008 is said; more of them than there are threads come."""
    body, _ = matrices(2000, 1, 2000, "much")  # its answer is more than sockets buffer
    settings = {"MAX_IN_FLIGHT": "4", "RECEIVE_TIMEOUT_SECONDS": "3600", "STRATEGIES": "serial"}
    with running(tmp_path / "log", **settings) as service, ExitStack() as clients:
        holding = [clients.enter_context(unreading(service.port, body)) for _ in range(4)]
        for client in holding:
            assert client.recv(1, socket.MSG_PEEK)
        refused = [
            clients.enter_context(unreading(service.port, body)) for _ in range(SPARE_THREADS + 4)
        ]
        assert {answer_of(client).status for client in refused} == {503}
        assert service.health()["status"] == "ok"
        assert in_flight(service) == 4
        clients.close()
        wait_until(lambda: in_flight(service) == 0)


@pytest.mark.parametrize("framework", ["fastapi", "fastapi-gunicorn", "aiohttp"])
def test_an_answer_that_its_client_does_not_read_stays_counted(
    all_of_them: dict[str, LiveService], framework: str
) -> None:
    body, answer = matrices(2000, 1, 2000, "much")
    service = all_of_them[framework]
    with unreading(service.port, body) as client:
        assert client.recv(1, socket.MSG_PEEK)
        time.sleep(0.2)  # for one that is given back too early
        assert metric(service, "restbench_memory_held_bytes")[""] >= len(answer)
    wait_until(lambda: metric(service, "restbench_memory_held_bytes")[""] == 0)
    with connected(service.port) as client:
        client.sendall(post_head(len(body)) + body)
        assert answer_of(client).body == answer


def test_a_client_that_falls_silent_or_does_not_read_is_no_fault(tmp_path: Path) -> None:
    """Flask's connections have a timeout for both."""
    settings = {"RECEIVE_TIMEOUT_SECONDS": "1", "STRATEGIES": "serial"}
    with (
        running(tmp_path / "log", **settings) as service,
        connected(service.port) as silent,
        unreading(service.port, matrices(2000, 1, 2000, "much")[0]) as other,
    ):
        silent.sendall(post_head(len(SMALL[0])) + SMALL[0])
        assert answer_of(silent).body == SMALL[1]
        silent.sendall(b"POST /matrix")
        assert everything(silent) == b""
        assert other.recv(1, socket.MSG_PEEK)
        wait_until(lambda: in_flight(service) == 0)
    assert not (tmp_path / "log").read_text()


def test_a_connection_that_is_reset_before_its_body_is_read_is_no_fault(
    all_of_them: dict[str, LiveService],
) -> None:
    service = all_of_them["aiohttp"]
    before, logged = answered(service)["400"], len(service.log.read_text())
    for _ in range(10):  # whether the head is read before the reset is a matter of chance
        with connected(service.port) as client:
            client.sendall(post_head(2000) + b"x" * 1000)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wait_until(lambda: answered(service)["400"] > before)
    assert not service.log.read_text()[logged:]


def test_a_connection_that_is_reset_before_its_answers_is_no_fault(each: LiveService) -> None:
    head, logged = post_head(len(SMALL[0])), len(each.log.read_text())
    expecting = head[:-2] + b"Expect: 100-continue\r\n\r\n"
    for sent in [(head + SMALL[0]) * 50, expecting] * 20:  # which answer is cut off is chance
        with connected(each.port) as client:
            client.sendall(sent)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wait_until(lambda: in_flight(each) == 0)
    assert not each.log.read_text()[logged:]


def test_the_log_has_no_values_of_requests(each: LiveService) -> None:
    body = SMALL[0].replace(b"1,1", VALUE.encode() + b",1")
    for path in ("/matrix/serial", f"/matrix/{VALUE}", f"/matrix/serial?kernel={VALUE}"):
        for sent in (body, body[:-1], body.replace(b",1", b",x")):
            each.request("POST", path, sent, {**JSON, "X-Secret": VALUE})
    for unfinished in (f"GET {VALUE} {VALUE}\r\n\r\n".encode(), post_head(1000)):
        with connected(each.port) as client:
            client.sendall(unfinished + VALUE.encode())
            client.shutdown(socket.SHUT_WR)
            everything(client)
    assert VALUE not in each.log.read_text()


def test_a_request_that_runs_longer_than_a_stop_may_take_is_cut_off(
    all_of_them: dict[str, LiveService],
) -> None:
    """Some close its connection, others answer 008. After this these services are no more."""

    def check(service: LiveService) -> None:
        strategies = strategies_of(service.log.name).split(",")
        pids = [service.process.pid, *everyone_below(service.process.pid)]
        with ExitStack() as stack:
            clients = [stack.enter_context(connected(service.port)) for _ in strategies]
            for client, strategy in zip(clients, strategies, strict=True):
                head = post_head(len(ENDLESS[0])).replace(b"serial", strategy.encode())
                client.sendall(head + ENDLESS[0])
            wait_until(lambda: in_flight(service) == len(clients))
            service.process.terminate()
            assert service.process.wait(25) == 0, "sooner than by default"
            answers = [everything(client) for client in clients]
            assert all(not answer or b'"errorCode":"008"' in answer for answer in answers)
            wait_until(lambda: {state_of(pid) for pid in pids} <= {"X", "Z"})

    with ThreadPoolExecutor(len(FRAMEWORKS)) as threads:
        list(threads.map(check, all_of_them.values()))
