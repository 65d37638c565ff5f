"""Made-up measurements of NPB cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from restbench.analyse import estimates
from restbench.analyse.measures import Row
from restbench.drive.npb_runs import KernelRun, ServiceCall
from restbench.experiment import claim_file, experiment
from restbench.experiment.cell import Cell
from restbench.experiment.claim_file import Claims, Part
from restbench.experiment.npb import ClientName, PublishedTable, work_of
from restbench.schedule.npb import ServiceCalls, reduced
from restbench.schedule.pace import PlannedTrial
from restbench.store import store
from restbench.store.trials import Block, Event, Trial

GENERATE_S = 0.5
CALL_S = 0.25
SHIPPED = store.experiment_file("npb")


def published() -> PublishedTable:
    table = experiment.load(SHIPPED).npb
    assert table is not None
    return table.published


def claims_on(*levels: str) -> Claims:
    """The shipped claims, held against these levels alone."""
    found = claim_file.load(Path(SHIPPED).parent / "claims" / "npb.toml")

    def narrowed(part: Part) -> Part:
        known = [level for level in part.each.complexity or () if level in levels]
        each = part.each.model_copy(update={"complexity": known})
        return part.model_copy(update={"each": each})

    claims = tuple(
        claim.model_copy(update={"parts": tuple(map(narrowed, claim.parts))})
        for claim in found.claims
    )
    return found.model_copy(update={"claims": claims})


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


def trial(  # noqa: PLR0917 - what a trial has
    cell: Cell,
    block: int,
    direct: list[float],
    served: list[float],
    kept: int = 1,
    by_client: Mapping[ClientName, Sequence[ServiceCall]] | None = None,
) -> Trial:
    """With these times of the kernel, run by run."""
    answers = [kernel_run(cell.complexity, each) for each in served]
    calls = tuple(ServiceCall(each, each.total_seconds + CALL_S) for each in answers)
    runs = [kernel_run(cell.complexity, each) for each in direct]
    return reduced(
        PlannedTrial(1, cell), block, runs, ServiceCalls(calls, by_client=by_client or {}), kept
    )


def cell(level: str = "CG-A", service: str = "java", strategy: str = "serial") -> Cell:
    return Cell.model_validate(
        {"service": service, "strategy": strategy, "complexity": level, "users": 1}
    )


def row_of(of: Cell, trials: list[Trial], events: tuple[Event, ...] = ()) -> Row:
    """A cell with these trials and what happened to it, every block finished."""
    numbers = sorted({*(each.block for each in trials), *(each.block or 0 for each in events)})
    blocks = [Block(number, "now", "later", {}) for number in numbers]
    found = estimates.measurements(trials, events, blocks, cores=2)
    return Row(of, None, (), tuple(found.get(of.id, ())))


def row(of: Cell, blocks: list[tuple[float, float, float]]) -> Row:
    """A cell with (fresh, warm, in the service) of each block."""
    trials = [
        trial(of, block, [fresh, warm], [fresh, served])
        for block, (fresh, warm, served) in enumerate(blocks, start=1)
    ]
    return row_of(of, trials)


def lost(of: Cell, kind: str, why: str, block: int = 1) -> Event:
    """What a driver says of a cell that has no trial in a block."""
    return Event("now", kind, why, block, of.id)
