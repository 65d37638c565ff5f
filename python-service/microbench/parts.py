"""What is measured: each part of a request by a name, and the call that does it once."""

import atexit
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

from restbench_service.execution.calibration_file import CalibrationFile
from restbench_service.execution.clock import StageClock
from restbench_service.execution.strategies import TECHNIQUES, Start
from restbench_service.execution.strategy import InOrderLoop, Strategy
from restbench_service.settings import Settings
from restbench_service.workloads.catalogue import samples

from .selection import Selection
from .timed_workloads import ComputeOnly, NothingToDo, limits, matrix

Call = Callable[[], object]
ANY_KERNEL = "native"
"""Neither parsing nor writing knows of one."""
NO_BODY = b""


class WrongAnswerError(Exception):
    """What is wrong is never timed."""


def parts(selection: Selection) -> Iterator[tuple[str, Callable[[], Call]]]:
    """`part/...` as in `compute/native/high/serial`, and how its call is prepared.

    Nothing is prepared, and no process started, before somebody asks for that call.
    """
    for shape in selection.shapes:
        yield f"parse/{shape}", partial(_parse, selection.body(shape))
        yield f"serialize/{shape}", partial(_serialize, selection, shape)
    for kernel, shape, strategy in selection.computations():
        name = f"compute/{kernel}/{shape}/{strategy}"
        yield name, partial(_compute, selection, shape, kernel, strategy)
    for strategy in selection.strategies:
        for rows in selection.rows:
            yield f"dispatch/{rows}/{strategy}", partial(_dispatch, selection, rows, strategy)


def _parse(body: Path) -> Call:
    return partial(matrix(ANY_KERNEL).parse, body.read_bytes())


def _serialize(selection: Selection, shape: str) -> Call:
    workload = matrix(ANY_KERNEL)
    result = workload.compute(workload.parse(selection.body(shape).read_bytes()), InOrderLoop())
    _require_right(selection, shape, workload.serialize(result))
    return partial(workload.serialize, result)


def _compute(selection: Selection, shape: str, kernel: str, strategy: str) -> Call:
    body = selection.body(shape).read_bytes()
    running = started(strategy, selection.bodies)
    _require_right(selection, shape, running.execute(matrix(kernel), body, StageClock()))
    workload = ComputeOnly(selection.body(shape), kernel)
    return lambda: running.execute(workload, body, StageClock())


def _dispatch(selection: Selection, rows: int, strategy: str) -> Call:
    running, workload = started(strategy, selection.bodies), NothingToDo(rows)
    return lambda: running.execute(workload, NO_BODY, StageClock())


def _require_right(selection: Selection, shape: str, answered: bytes) -> None:
    if answered != selection.answer(shape).read_bytes():
        raise WrongAnswerError(f"{shape}: a wrong answer of {len(answered)} bytes")


@cache
def started(name: str, folder: Path) -> Strategy:
    """A strategy of the table, its processes ready; ended with this process.

    What it learns of the machine it finds in the folder, if another process learnt it before.
    """
    preloaded = (ComputeOnly.__module__,)
    processes = Settings.from_environment({}).processes
    learnt = CalibrationFile(folder / "calibration", {})
    strategy = TECHNIQUES[name](Start(processes, None, preloaded, tuple(samples(limits())), learnt))
    atexit.register(strategy.close)
    strategy.await_ready()
    return strategy
