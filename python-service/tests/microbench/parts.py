"""What is measured: each part of a request by a name, and the call that does it once."""

import atexit
from collections.abc import Callable, Iterator
from functools import cache, partial
from multiprocessing.pool import Pool
from pathlib import Path

from restbench_service.execution.job import InOrderLoop, Job
from restbench_service.execution.standard_pools import CONTEXT
from restbench_service.execution.strategies import TECHNIQUES, Start
from restbench_service.execution.strategy import Strategy
from restbench_service.settings import Settings

from .selection import Selection
from .timed_workloads import (
    CODEC,
    COLUMNS,
    MATRIX,
    ComputeOnly,
    NothingToDo,
    do_nothing_once,
    job,
)

Call = Callable[[], object]
ANY_KERNEL = "kernel=native"
"""Neither decoding nor encoding knows of one."""
PER_ELEMENT = "process-per-element"
DEFAULT_CHUNKS = "pool-map-default-chunks"
"""What multiprocessing.Pool.map does unless told otherwise: a few chunks a process. The strategy
`process-per-element` makes each element a task, as its name says; this shows what that costs."""


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
            yield f"dispatch/{rows}/{strategy}", partial(_dispatch, rows, strategy)
    if PER_ELEMENT in selection.strategies:
        for rows in selection.rows:
            yield f"dispatch/{rows}/{DEFAULT_CHUNKS}", partial(_default_chunks, rows)


def _parse(body: Path) -> Call:
    return partial(CODEC.decode, body.read_bytes(), ANY_KERNEL)


def _serialize(selection: Selection, shape: str) -> Call:
    operands = CODEC.decode(selection.body(shape).read_bytes(), ANY_KERNEL)
    result = MATRIX.compute(operands, InOrderLoop())
    _require_right(selection, shape, CODEC.encode(result))
    return partial(CODEC.encode, result)


def _compute(selection: Selection, shape: str, kernel: str, strategy: str) -> Call:
    body = selection.body(shape).read_bytes()
    running = started(strategy)
    asked = Job(MATRIX, CODEC, body, f"kernel={kernel}")
    _require_right(selection, shape, running.execute(asked).result())
    workload = ComputeOnly(selection.body(shape), kernel)
    return lambda: running.execute(job(workload)).result()


def _dispatch(rows: int, strategy: str) -> Call:
    running, workload = started(strategy), NothingToDo(rows)
    return lambda: running.execute(job(workload)).result()


def _default_chunks(rows: int) -> Call:
    pool = CONTEXT.Pool(_processes())
    atexit.register(_end, pool)
    return lambda: pool.map(do_nothing_once, range(rows * COLUMNS))


def _end(pool: Pool) -> None:
    """Not by its terminate(): to the signal its processes do not listen where there are strategies,
    whose fork server they come from."""
    pool.close()
    pool.join()


def _require_right(selection: Selection, shape: str, answered: bytes) -> None:
    if answered != selection.answer(shape).read_bytes():
        raise WrongAnswerError(f"{shape}: a wrong answer of {len(answered)} bytes")


def _processes() -> int:
    return Settings.from_environment({}).processes


@cache
def started(name: str) -> Strategy:
    """A strategy of the table, its processes ready; ended with this process."""
    strategy = TECHNIQUES[name].start(Start(_processes(), None, (ComputeOnly.__module__,)))
    atexit.register(strategy.close)
    strategy.await_ready()
    return strategy
