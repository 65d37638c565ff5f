"""Over HTTP: what dies takes with it what its pool had, and leaves nothing behind."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from live_service import (
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
ENDLESS = matrices(1000, 400, 500, "endless")  # far longer than anything may take here


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


def test_the_service_comes_back_when_gunicorn_s_worker_is_killed(
    tmp_path: Path, users: ThreadPoolExecutor
) -> None:
    """With it go the requests of its connections, and all its processes."""
    with running(tmp_path / "log", PROCESSES="2") as service:
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
