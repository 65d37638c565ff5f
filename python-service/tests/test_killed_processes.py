"""What dies takes only its own request with it and leaves nothing behind."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from live_metrics import begun
from live_service import (
    Answer,
    LiveService,
    children,
    cpu_ticks,
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
LONG = matrices(600, 600, 50, "long")  # many times what computing() waits for


@pytest.fixture
def service(tmp_path: Path) -> Iterator[LiveService]:
    with running(tmp_path / "log", PROCESSES="2") as live:
        yield live


@pytest.fixture
def users() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as executor:
        yield executor


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


def failed(answers: list[Future[Answer]]) -> list[Answer]:
    wrong = [future.result() for future in answers if future.result().body != LONG[1]]
    for answer in wrong:
        assert answer.status == 500
        assert json.loads(answer.body)["errorCode"] == "099"
        assert json.loads(answer.body)["requestId"] == "long"
    return wrong


def no_zombies(service: LiveService) -> bool:
    return all(state_of(pid) != "Z" for pid in children(service.worker_pid()))


def shared_memory() -> set[str]:
    """What Python or this service could have left there; others put their own there meanwhile."""
    names = {path.name for path in Path("/dev/shm").iterdir()}  # noqa: S108 - to see it stay as it is
    return {name for name in names if name.startswith(("psm_", "sem.", "pymp", "restbench"))}


@dataclass(frozen=True)
class InFlight:
    """Long requests of several users, while one process of their pool is killed."""

    service: LiveService
    users: ThreadPoolExecutor

    def lose_one(self, strategy: str, name: str, requests: int) -> dict[str, int]:
        """Of so many at once exactly one is lost with the process of this name, and others are
        served; returns the pool as it was before."""
        pool = self.service.pool(name.rstrip("0123456789"))
        busy = computing([pool[name]])
        answers = [
            self.users.submit(post, self.service, strategy, LONG[0]) for _ in range(requests)
        ]
        wait_until(busy)
        kill(pool[name])
        assert len(failed(answers)) == 1
        assert serves(self.service, strategy)
        assert no_zombies(self.service)
        return pool


@pytest.fixture
def in_flight(service: LiveService, users: ThreadPoolExecutor) -> InFlight:
    return InFlight(service, users)


def test_a_killed_process_takes_only_its_own_request_with_it(
    service: LiveService, in_flight: InFlight
) -> None:
    before = in_flight.lose_one("process-per-request", "restbench-PR-0", requests=4)
    assert service.pool("restbench-PR-")["restbench-PR-0"] != before["restbench-PR-0"]
    assert "request 'long' failed" in service.log.read_text()


def test_a_process_killed_in_a_loop_takes_only_that_loop_s_request_with_it(
    service: LiveService, in_flight: InFlight
) -> None:
    before = in_flight.lose_one("process-per-element", "restbench-PE-1", requests=3)
    assert set(service.pool("restbench-PE-")) == set(before)


def test_all_processes_killed_in_a_loop_are_replaced(
    service: LiveService, users: ThreadPoolExecutor
) -> None:
    pool = service.pool("restbench-PE-")
    busy = computing(list(pool.values()))
    answer = users.submit(post, service, "process-per-element", LONG[0])
    wait_until(busy)
    for pid in pool.values():
        kill(pid)
    assert len(failed([answer])) == 1
    assert serves(service, "process-per-element")


def test_a_process_killed_under_adaptive_takes_only_its_own_request_with_it(
    service: LiveService, in_flight: InFlight
) -> None:
    in_flight.lose_one("adaptive", "restbench-PR-0", requests=4)
    assert post(service, "adaptive", LONG[0]).body == LONG[1]


@pytest.mark.parametrize(
    ("strategy", "prefix"),
    [("process-per-request", "restbench-PR-"), ("process-per-element", "restbench-PE-")],
)
def test_an_idle_process_that_is_killed_costs_no_request(
    service: LiveService, strategy: str, prefix: str
) -> None:
    for _ in range(5):
        killed = list(service.pool(prefix).values())
        for pid in killed:
            kill(pid)
        wait_until(lambda killed=killed: all(state_of(pid) in "XZ" for pid in killed))  # type: ignore[misc]
        assert serves(service, strategy)
    wait_until(lambda: no_zombies(service) and len(service.pool(prefix)) == 2)


def test_the_service_comes_back_when_gunicorn_s_worker_is_killed(
    service: LiveService, users: ThreadPoolExecutor
) -> None:
    worker, pool, before = service.worker_pid(), service.pool(), shared_memory()
    busy = computing([pool["restbench-PE-0"], pool["restbench-PR-0"]])
    for strategy in ("process-per-element", "process-per-request", "process-per-request"):
        users.submit(post, service, strategy, LONG[0])
    wait_until(busy)
    kill(worker)
    wait_until(lambda: all(state_of(pid) in "XZ" for pid in pool.values()))
    wait_until(lambda: children(service.process.pid) not in ([], [worker]))
    wait_until(lambda: serves_again(service))
    assert shared_memory() <= before
    wait_until(lambda: len(service.pool()) == 4)


def serves_again(service: LiveService) -> bool:
    try:
        return serves(service, "process-per-element")
    except OSError:
        return False


@pytest.mark.parametrize("to_the_group", [False, True])
def test_a_stop_finishes_what_runs_and_leaves_nothing_behind(
    tmp_path: Path, users: ThreadPoolExecutor, to_the_group: bool
) -> None:
    before = shared_memory()
    with running(tmp_path / "log", PROCESSES="2") as service:
        everyone = [service.process.pid, service.worker_pid(), *service.pool().values()]
        busy = computing([service.pool()["restbench-PE-0"], service.pool()["restbench-PR-0"]])
        answers = [
            users.submit(post, service, strategy, LONG[0])
            for strategy in ("process-per-element", *["process-per-request"] * 2, "adaptive")
        ]
        wait_until(lambda: begun(service) == len(answers))
        wait_until(busy)
        for pid in everyone if to_the_group else everyone[:1]:
            os.kill(pid, signal.SIGTERM)
        assert service.process.wait(60) == 0
    assert failed(answers) == []
    assert {state_of(pid) for pid in everyone} == {"X"}
    assert shared_memory() <= before


def test_idle_processes_use_no_time(service: LiveService) -> None:
    pids = list(service.pool().values())
    for strategy in ("process-per-request", "process-per-element"):
        assert serves(service, strategy)  # after that a process has nothing left to do
    wait_until(lambda: all(state_of(pid) == "S" for pid in pids))
    before = [cpu_ticks(pid) for pid in pids]
    time.sleep(0.5)
    assert [cpu_ticks(pid) for pid in pids] == before
