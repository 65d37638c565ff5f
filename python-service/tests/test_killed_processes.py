"""Over HTTP: what dies takes with it what its pool had, and leaves nothing behind."""

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from live_service import (
    STRATEGIES,
    Answer,
    LiveService,
    cpu_ticks,
    everyone_below,
    kill,
    running,
    state_of,
    wait_until,
)


def matrices(rows: int, inner: int, columns: int, request_id: str) -> tuple[bytes, bytes]:
    """A request of ones and the answer to it."""
    one, two = (
        {"columnCount": n, "rows": [{"value": ",".join("1" * n)}] * m}
        for m, n in ((rows, inner), (inner, columns))
    )
    request = {"requestId": request_id, "matrixOne": one, "matrixTwo": two}
    answer = {"requestId": request_id, "rows": [[inner] * columns] * rows}
    return json.dumps(request).encode(), json.dumps(answer, separators=(",", ":")).encode()


SMALL = matrices(3, 2, 3, "small")
LONG = matrices(60, 6000, 50, "long")  # many times what computing() waits for
LONGER = matrices(120, 6000, 50, "long")  # is not over before it is killed
ENDLESS = matrices(1000, 400, 500, "endless")  # far longer than anything may take here


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    """Of its own: what is killed comes back, and is told in the log."""
    with running(tmp_path_factory.mktemp("killed") / "log", PROCESSES="2") as live:
        yield live


def post(service: LiveService, strategy: str, body: bytes) -> Answer:
    return service.request("POST", f"/matrix/{strategy}", body)


def serves(service: LiveService, strategy: str, times: int = 4) -> bool:
    """Whether the next requests are all answered rightly."""
    answers = [post(service, strategy, SMALL[0]) for _ in range(times)]
    return all(answer.body == SMALL[1] for answer in answers)


def computing(pids: list[int]) -> Callable[[], bool]:
    """Whether all these processes have used some 50 ms more than now."""
    before = {pid: cpu_ticks(pid) for pid in pids}
    return lambda: all(cpu_ticks(pid) >= before[pid] + 5 for pid in pids)


def is_fault(answer: Answer) -> bool:
    members = json.loads(answer.body)
    return (answer.status, members.get("errorCode"), members["requestId"]) == (500, "099", "long")


def test_idle_processes_use_no_time(service: LiveService) -> None:
    pids = list(service.pool().values())
    for strategy in STRATEGIES:
        assert serves(service, strategy)  # after that a process has nothing left to do
    wait_until(lambda: all(state_of(pid) == "S" for pid in pids))

    def use_no_time() -> bool:
        """For a while; a busy machine may have let one wait that had something left to do."""
        before = [cpu_ticks(pid) for pid in pids]
        time.sleep(0.5)
        return [cpu_ticks(pid) for pid in pids] == before

    wait_until(use_no_time)


@pytest.mark.parametrize(
    ("strategy", "name"),
    [
        ("process-per-element", "PE-1"),
        ("executor-per-request", "ER-1"),
        ("adaptive", "F1-1"),
    ],
)
def test_the_requests_that_a_killed_process_s_pool_had_are_told_so_and_others_are_served(
    service: LiveService, users: ThreadPoolExecutor, strategy: str, name: str
) -> None:
    """Each pool and each kind of technique; test_process_pool.py has all four of them."""
    pool, logged = service.pool(name[:3]), len(service.log.read_text())
    busy = computing(list(pool.values()))
    answers = [users.submit(post, service, strategy, LONGER[0]) for _ in range(2)]
    wait_until(busy)
    kill(pool[name])
    answered = [answer.result() for answer in answers]
    assert any(is_fault(answer) for answer in answered)
    assert all(is_fault(answer) or answer.body == LONGER[1] for answer in answered)
    wait_until(lambda: serves(service, strategy))  # a request waits a second for its pool
    wait_until(lambda: set(service.pool(name[:3])) == set(pool))
    assert service.pool(name[:3])[name] != pool[name]
    assert "request 'long' failed" in service.log.read_text()[logged:]


def test_the_service_comes_back_when_gunicorn_s_worker_is_killed(
    service: LiveService, users: ThreadPoolExecutor
) -> None:
    """With it go the requests of its connections, and all its processes."""
    everyone = everyone_below(service.worker_pid())
    busy = computing([service.pool()["PE-1"], service.pool()["PR-1"]])
    asked = ("process-per-element", "process-per-request", "process-per-request")
    found = [users.submit(post, service, strategy, ENDLESS[0]) for strategy in asked]
    wait_until(busy)
    kill(service.worker_pid())
    assert all(isinstance(each.exception(), OSError) for each in found)
    wait_until(lambda: all(state_of(pid) in "XZ" for pid in everyone))
    wait_until(lambda: serves_again(service))
    wait_until(lambda: len(service.pool()) == 10)
    assert service.health()["status"] == "ok"
    assert serves(service, "serial", 20)
    assert "resource_tracker" not in service.log.read_text()


def serves_again(service: LiveService) -> bool:
    try:
        return serves(service, "process-per-element")
    except OSError:
        return False
