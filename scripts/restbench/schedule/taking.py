"""Taking a trial: a second attempt where the first said nothing, on a fresh service if need be."""

from __future__ import annotations

from collections.abc import Sequence

from restbench.drive.generator import GeneratorGone
from restbench.experiment.cell import Cell
from restbench.experiment.plan import service_group
from restbench.failures import EnvironmentProblem, StorageProblem
from restbench.schedule import attempts
from restbench.schedule.block_run import BlockRun
from restbench.schedule.driver import Driver
from restbench.schedule.pace import Planned
from restbench.store.trials import Trial


def take_round(here: BlockRun, driver: Driver, planned: Sequence[Planned]) -> None:
    """Take a round's trials and append them together. A wrong answer is its cell's last in this
    block."""
    cells = {each.cell.id: each.cell for each in planned}
    trials = [trial for each in planned if (trial := take(here, driver, each)) is not None]
    here.file.add(trials)
    for trial in trials:
        if trial.wrong:
            why = f"{trial.wrong} answers were wrong in one trial"
            here.lose(cells[trial.cell], "wrong", why)


def take(here: BlockRun, driver: Driver, planned: Planned) -> Trial | None:
    """One trial; None, and the cell is lost, where it has none twice, the second time on a fresh
    service."""
    here.progress.done += 1
    if planned.cell in here.lost:
        return None
    here.progress.cell = planned.cell.id
    error = "no trial"
    for _attempt in range(2):
        try:
            trial = driver.trial(here.running(planned.cell), planned)
        except (StorageProblem, GeneratorGone):
            raise
        except EnvironmentProblem as problem:
            error = str(problem)
        else:
            here.progress.per_s = trial.completions / trial.seconds
            here.view.show(here.progress)
            return trial
        if lack := renew_if_dead(here, planned.cell):
            error = lack
            break
    here.lose(planned.cell, "failed", error)
    here.progress.per_s = 0.0
    here.view.show(here.progress)
    return None


def renew_if_dead(here: BlockRun, cell: Cell) -> str | None:
    """None where the service serves, or a fresh one does in its place; else why there is none."""
    running = here.deployments.of(cell)
    if running is None:
        return here.deployments.lacks(cell)
    if running.service.serves():
        return None
    ending = running.service.ending()
    if running.service.attached:
        return ending
    here.note("restarted", ending, cell)
    here.view.note(f"restarted  at {cell.id}: {attempts.in_short(ending)}; a fresh one goes on")
    if not here.deployments.renew(cell):
        return f"{ending}; a fresh one does not come up: {here.deployments.lacks(cell)}"
    for each in here.cells:
        if service_group(each) == service_group(cell):
            here.announce(each)
    return None
