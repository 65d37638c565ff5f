"""The technique that chooses on two processes, by costs that are not this machine's."""

import json
import os
import socket
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from live_service import wait_until
from observed import Held, Observed

from restbench_service.execution.adaptive import Adaptive
from restbench_service.execution.calibration_file import CalibrationFile
from restbench_service.execution.clock import StageClock
from restbench_service.execution.costs import Costs, KindCosts
from restbench_service.execution.pool.pool import ProcessPool
from restbench_service.execution.pool.priority import NICENESS

COSTS = Costs({"observed": KindCosts(0.0, 10_000.0, 1_000_000.0)}, 100_000.0, 0.0)
"""A byte takes 0.01 ms, a unit 1 ms, a trip 0.1 ms."""
SMALL, MIDDLING, LONG, SHARED = b"0", b"1", b"15", b"40"
LONG_BODY = b" " * 1000 + b"1"
WORTH_A_TRIP = b" " * 50 + b"1"
WORTH_ONE_OF_FEW = b" " * 9 + b"0"
OURS = {os.getpid()}
NAMES = "restbench-F1-"
NORMAL = os.getpriority(os.PRIO_PROCESS, 0)
LOW = NORMAL + NICENESS


@contextmanager
def calibrated(folder: Path) -> Iterator[Adaptive]:
    """Ready; its costs are kept in the folder."""
    file = CalibrationFile(folder / "costs.json", {})
    file.write(COSTS)
    strategy = Adaptive(processes(2), None, (), file)
    strategy.await_ready()
    try:
        yield strategy
    finally:
        strategy.close()


def processes(count: int) -> ProcessPool:
    """With a name of their own: there may be other tests' processes beside them."""
    return ProcessPool("requests", "F1", socket.SOCK_STREAM, count, ())


def run(strategy: Adaptive, body: bytes, workload: Observed = Observed()) -> dict[str, Any]:  # noqa: B008 - frozen
    answer: dict[str, Any] = json.loads(strategy.execute(workload, body, StageClock()))
    return answer


def column(answer: dict[str, Any], which: int) -> set[int]:
    return {record[which] for record in answer["records"]}


def hold(
    adaptive: Adaptive, users: ThreadPoolExecutor, signal: Path, bodies: list[bytes]
) -> list[Future[dict[str, Any]]]:
    """Requests that are being handled, or wait for that, until the signal is there."""
    before = sum(adaptive.decisions().values())
    held = [users.submit(run, adaptive, body, Held(until=str(signal))) for body in bodies]
    wait_until(lambda: sum(adaptive.decisions().values()) >= before + len(bodies))
    return held
