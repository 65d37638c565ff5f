"""Taking a trial: a second attempt where the first said nothing."""

from __future__ import annotations

from collections.abc import Sequence

from restbench.drive.generator import GeneratorGone
from restbench.failures import EnvironmentProblem, StorageProblem
from restbench.schedule.driver import Driver
from restbench.schedule.pace import Planned
from restbench.store.trials import Trial


def take_round(driver: Driver, planned: Sequence[Planned]) -> None:
    """Take a round's trials and append them together. A wrong answer is its cell's last in this
    block."""
    cells = {each.cell.id: each.cell for each in planned}
    trials = [trial for each in planned if (trial := take(driver, each)) is not None]
    driver.here.file.add(trials)
    for trial in trials:
        if trial.wrong:
            why = f"{trial.wrong} answers were wrong in one trial"
            driver.here.lose(cells[trial.cell], "wrong", why)


def take(driver: Driver, planned: Planned) -> Trial | None:
    """One trial; None, and the cell is lost, where it has none twice."""
    here, cell = driver.here, planned.cell
    here.progress.done += 1
    if cell in here.lost:
        return None
    here.progress.cell = cell.id
    trial = _attempted(driver, planned)
    here.progress.per_s = trial.completions / trial.seconds if trial else 0.0
    here.view.show(here.progress)
    return trial


def _attempted(driver: Driver, planned: Planned) -> Trial | None:
    error = "no trial"
    for _attempt in range(2):
        try:
            return driver.trial(planned)
        except (StorageProblem, GeneratorGone):
            raise
        except EnvironmentProblem as problem:
            error = str(problem)
        if lack := driver.again(planned.cell, error):
            error = lack
            break
    driver.here.lose(planned.cell, "failed", error)
    return None
