"""Made-up measurements of NPB cells."""

from __future__ import annotations

from restbench.analyse.npb_results import NpbRow
from restbench.experiment.cell import Cell
from restbench.experiment.npb_work import work_of
from restbench.experiment.records import Before
from restbench.store.npb_records import KernelRun, NpbRun, ServedRun

GENERATE_S = 0.5
CALL_S = 0.25


def kernel_run(level: str, seconds: float) -> KernelRun:
    work = work_of(level)
    return KernelRun(
        kernel=work.kernel,
        npb_class=work.npb_class,
        verified=True,
        value=8.5,
        reference=8.5,
        iterations=15,
        kernel_seconds=seconds,
        total_seconds=seconds + GENERATE_S,
        mops=100 / seconds,
    )


def measurement(
    cell: Cell, block: int, direct: list[float], served: list[float], kept: int = 1
) -> NpbRun:
    """With these times of the kernel, run by run."""
    answers = [kernel_run(cell.complexity, each) for each in served]
    return NpbRun(
        cell=cell,
        block=block,
        order=block,
        status="measured",
        before=Before(foreign_pct=0.0, load1=0.1),
        kept=kept,
        direct=tuple(kernel_run(cell.complexity, each) for each in direct),
        served=tuple(
            ServedRun(answer=each, client_seconds=each.total_seconds + CALL_S) for each in answers
        ),
    )


def cell(level: str = "CG-A", service: str = "java", strategy: str = "serial") -> Cell:
    return Cell.model_validate(
        {"service": service, "strategy": strategy, "complexity": level, "users": 1}
    )


def row(of: Cell, rounds: list[tuple[float, float, float]]) -> NpbRow:
    """A cell with (fresh, warm, in the service) of each round."""
    runs = [
        measurement(of, block, [fresh, warm], [fresh, served])
        for block, (fresh, warm, served) in enumerate(rounds, start=1)
    ]
    return NpbRow(of, tuple(runs))
