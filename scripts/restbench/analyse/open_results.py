"""What came of an open-load run, from its raw files alone: every step, judged, and each bracket."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from restbench.analyse import flags, open_samples
from restbench.analyse.audit import FOREIGN_LIMIT_PCT, LOAD_CORES_SHARE
from restbench.analyse.open_samples import Answered
from restbench.experiment import open_experiment, walk
from restbench.experiment.cell import Cell
from restbench.experiment.objective import Objective, Outcome, shortfalls
from restbench.experiment.open_experiment import OpenExperiment
from restbench.experiment.records import PlannedCell
from restbench.experiment.walk import Bracket, Search, Tried
from restbench.failures import BadConfiguration
from restbench.store.cell_folder import CellFolder
from restbench.store.open_records import OpenStep, Walk
from restbench.store.store import Run, read_model

#: An arrival sent later than this found every user busy, or the generator without a CPU.
LATE_MS = 10
#: The notes that only a walk has; the others are flags of `audit`.
NOTES = {
    "never-met": "No rate down to the lowest met it; a lower one needs longer windows than the "
    "profile has for its percentile.",
    "killed-step": "Requests of a step were still in flight at its end; they count as unsent.",
    "out-of-time": "The walk's time was over before the limit was found.",
    "not-settled": "The bracket is wider than asked for, or an end lacks repeats that agree.",
}


@dataclass(frozen=True)
class StepResult:
    """One step, held against the objective."""

    step: OpenStep
    answered: Answered
    latency_ms: float | None
    """The objective's percentile over all arrivals of the window, from the intended moment."""
    reasons: tuple[str, ...]
    """Why the objective is not met; empty when it is."""

    @property
    def tried(self) -> Tried:
        """What the search needs to know of it."""
        return Tried(self.step.rate_per_s, not self.reasons)

    @property
    def late(self) -> int:
        """Arrivals of the window that were sent more than LATE_MS after their moment."""
        return self.answered.lateness_ms.above(LATE_MS)


@dataclass(frozen=True)
class WalkResult:
    """One cell's walk."""

    walk: Walk
    steps: tuple[StepResult, ...]
    bracket: Bracket

    @property
    def cell(self) -> Cell:
        """The cell that it was made for."""
        return self.walk.cell

    def at(self, rate_per_s: float | None, *, met: bool) -> list[StepResult]:
        """The steps at a rate with that outcome."""
        wanted = None if rate_per_s is None else Tried(rate_per_s, met)
        return [each for each in self.steps if each.tried == wanted]

    @property
    def met_latency_ms(self) -> float | None:
        """At the highest rate that met it: the mean of its steps' percentiles (rule 8)."""
        found = [each.latency_ms for each in self.at(self.bracket.met_per_s, met=True)]
        return float(np.mean([each for each in found if each is not None])) if found else None

    @property
    def failed(self) -> StepResult | None:
        """The first step that failed at the lowest rate that failed."""
        return next(iter(self.at(self.bracket.failed_per_s, met=False)), None)

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know before believing the bracket: flags of `audit` and of NOTES."""
        found = {
            "failed": self.walk.status == "failed",
            **dict.fromkeys(self.walk.flags, True),
            "foreign-load-before": any(
                each.step.before.foreign_pct > FOREIGN_LIMIT_PCT for each in self.steps
            ),
            "generator-bound": any(
                each.step.load_cpu_pct > 100 * LOAD_CORES_SHARE * len(self.walk.load_cores)
                for each in self.steps
                if self.walk.load_cores
            ),
            "never-met": bool(self.steps) and self.bracket.met_per_s is None,
            "killed-step": any(each.step.ended == "killed" for each in self.steps),
            "out-of-time": self.walk.out_of_time,
            "not-settled": self.walk.status == "walked" and not self.bracket.settled,
        }
        return tuple(note for note, holds in found.items() if holds)


def explain(note: str) -> str:
    """One sentence on a note."""
    return NOTES.get(note) or flags.explain(note)


def step_result(step: OpenStep, folder: CellFolder, objective: Objective) -> StepResult:
    """Read a step's samples and judge them."""
    answered = open_samples.read(folder.samples, folder.arrivals, step.phases.window_ms)
    latency_ms = answered.latency_ms.supported_percentile(objective.percentile)
    outcome = Outcome(answered.arrivals, answered.unsent, answered.errors, latency_ms)
    return StepResult(step, answered, latency_ms, shortfalls(outcome, objective))


def results(run: Run) -> list[WalkResult]:
    """Every walk that is over, in the order of the plan."""
    manifest = run.manifest()
    experiment = open_experiment.load(run.experiment_file)
    search = experiment.search(experiment.profile(manifest.profile))
    found = []
    for planned in manifest.plan:
        path = run.walk_record(planned.cell.id)
        if path.exists():
            found.append(_result(run, planned, experiment, search))
    return found


def _result(
    run: Run, planned: PlannedCell, experiment: OpenExperiment, search: Search
) -> WalkResult:
    """One walk; what cannot be read is no result, and keeps no other walk from its own."""
    try:
        record = read_model(run.walk_record(planned.cell.id), Walk)
        return _walk_result(run, record, experiment.objective, search)
    except BadConfiguration as error:
        broken = Walk(
            cell=planned.cell,
            shape=experiment.shape(planned.cell.complexity),
            order=planned.order,
            status="failed",
            reason=str(error),
            flags=("unreadable",),
        )
        return WalkResult(broken, (), walk.bracket([], search))


def _walk_result(run: Run, record: Walk, objective: Objective, search: Search) -> WalkResult:
    steps = tuple(
        step_result(step, folder, objective) for step, folder in _steps(run, record.cell.id)
    )
    return WalkResult(record, steps, walk.bracket([each.tried for each in steps], search))


def _steps(run: Run, cell_id: str) -> Iterator[tuple[OpenStep, CellFolder]]:
    for number in itertools.count(1):
        folder = run.walk_step(cell_id, number)
        if not folder.step_record.exists():
            return
        yield read_model(folder.step_record, OpenStep), folder
