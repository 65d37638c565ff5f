"""The results of an open load: a step for each trial, compared with the objective; and from the
steps, as stored in `run.json`, the bracket of each walk and the limit of each cell over blocks.
Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from restbench.analyse.estimates import percentile_ms
from restbench.experiment.cell import Cell
from restbench.experiment.open_load import Bracket, Objective, bracket
from restbench.experiment.statistics import (
    COMPLETIONS_NEEDED,
    FEWEST_BLOCKS,
    Ratio,
    geometric_interval,
    geometric_mean,
)
from restbench.grouping import grouped
from restbench.store.exported import StepEntry
from restbench.store.trials import Trial

PERCENTILES = (50, 90, 95, 99)
#: An arrival sent later than this found every user busy, or the generator without a CPU.
LATE_MS = 10
NOTES = {
    "never-met": "In at least one block no step met the objective, down to the lowest rate whose "
    "windows have enough arrivals for the percentile, or until the block's time was over.",
    "never-failed": "In at least one block every step met the objective, up to the highest rate, "
    "or until the block's time was over.",
    "not-settled": "The time of a block was over before its bracket was as narrow as required.",
    "few-blocks": "Fewer than three blocks give no interval: the effect of chance is unknown.",
}


@dataclass(frozen=True)
class Walk:
    """The steps of one cell in one block, in order."""

    block: int
    steps: tuple[StepEntry, ...]

    @property
    def bracket(self) -> Bracket:
        """The bracket that the steps have found."""
        return bracket({each.rate_per_s: each.met for each in self.steps})

    @property
    def met(self) -> StepEntry | None:
        """The step at the highest rate that met the objective."""
        return self._at(self.bracket.met_per_s)

    @property
    def failed(self) -> StepEntry | None:
        """The step at the lowest rate that did not meet the objective."""
        return self._at(self.bracket.failed_per_s)

    def _at(self, rate_per_s: float | None) -> StepEntry | None:
        return next((each for each in self.steps if each.rate_per_s == rate_per_s), None)


@dataclass(frozen=True)
class Limit:
    """The highest rate of one cell that meets the objective, over blocks."""

    cell: Cell
    walks: tuple[Walk, ...]
    flags: Sequence[str] = ()
    reason: str | None = None
    """Why the cell has no walk in a block, in words."""

    @property
    def limits_per_s(self) -> list[float]:
        """The limit of each block that has one: the middle of its bracket."""
        found = [each.bracket.limit_per_s for each in self.walks]
        return [each for each in found if each is not None]

    @property
    def limit_per_s(self) -> float | None:
        """The geometric mean of the blocks' limits."""
        return geometric_mean(self.limits_per_s) if self.limits_per_s else None

    @property
    def interval(self) -> Ratio | None:
        """The interval of that mean over blocks; None below FEWEST_BLOCKS."""
        found = self.limits_per_s
        return geometric_interval(found) if len(found) >= FEWEST_BLOCKS else None

    @property
    def met_per_s(self) -> float | None:
        """The rate met in every block; None where a block has no such rate."""
        found = [each.bracket.met_per_s for each in self.walks]
        return None if None in found else min((each for each in found if each), default=None)

    @property
    def failed_per_s(self) -> float | None:
        """The rate not met in any block; None where a block has no such rate."""
        found = [each.bracket.failed_per_s for each in self.walks]
        return None if None in found else max((each for each in found if each), default=None)

    def met_latency_ms(self, percent: int) -> float | None:
        """A percentile at the highest rate that met the objective: the mean over blocks."""
        found = [latency_ms(each.met, percent) for each in self.walks if each.met]
        known = [each for each in found if each is not None]
        return fmean(known) if known else None

    @property
    def failed(self) -> StepEntry | None:
        """The step at the lowest failed rate of a block, from the block where that is highest."""
        steps = [each.failed for each in self.walks if each.failed]
        return max(steps, key=lambda each: each.rate_per_s, default=None)

    def notes(self, resolution: float) -> tuple[str, ...]:
        """Reservations about the limit: its flags, and the keys of NOTES that apply."""
        ends = [each.bracket for each in self.walks]
        whole = [each for each in ends if each.limit_per_s is not None]
        found = {
            **dict.fromkeys(self.flags, True),
            "never-met": any(each.met_per_s is None for each in ends),
            "never-failed": any(each.failed_per_s is None for each in ends),
            "not-settled": any(not each.is_narrow(resolution) for each in whole),
            "few-blocks": len(self.walks) < FEWEST_BLOCKS,
        }
        return tuple(note for note, holds in found.items() if holds)


def step(trial: Trial, objective: Objective) -> StepEntry:
    """The step of one trial of an open load, compared with the objective."""
    arrivals, unsent = int(trial.extras["arrivals"]), int(trial.extras["unsent"])
    values = {
        f"p{percent}_ms": percentile_ms(trial.elapsed_us, percent, arrivals)
        for percent in PERCENTILES
    }
    reached_ms = values[f"p{objective.percentile}_ms"]
    reasons = objective.shortfalls(arrivals, unsent, trial.errors, reached_ms)
    load_ms = trial.generator_cpu_ms
    return StepEntry(
        cell=trial.cell,
        block=trial.block,
        rate_per_s=trial.extras["rate_per_s"],
        achieved_per_s=trial.extras["achieved_per_s"],
        arrivals=arrivals,
        unsent=unsent,
        late=int(trial.extras["late"]),
        errors=trial.errors,
        wrong_answers=trial.wrong,
        lateness_p95_ms=trial.extras.get("lateness_p95_ms"),
        sent_p95_ms=trial.extras.get("sent_p95_ms"),
        load_cpu_pct=None if load_ms is None else round(load_ms / trial.seconds / 10, 1),
        met=not reasons,
        reasons=reasons,
        **{name: None if value == math.inf else value for name, value in values.items()},
    )


def latency_ms(found: StepEntry, percent: int) -> float | None:
    """A percentile of a step over ALL its arrivals; infinite or None as in `percentile_ms`."""
    if found.arrivals < COMPLETIONS_NEEDED[percent]:
        return None
    known: float | None = getattr(found, f"p{percent}_ms")
    return math.inf if known is None else known


def progress_line(found: StepEntry, percent: int) -> str:
    """A step as a line of text, to show while the walk goes on."""
    reached_ms = latency_ms(found, percent)
    shown = "no percentile" if reached_ms is None else f"{reached_ms:.0f} ms"
    shown = "no answer" if reached_ms == math.inf else shown
    verdict = "met" if found.met else f"not met: {'; '.join(found.reasons)}"
    return f"{found.rate_per_s:7g}/s  {shown:>9}  {verdict}"


def walks(found: Iterable[StepEntry]) -> dict[str, tuple[Walk, ...]]:
    """By cell id: a walk for each block that has steps of the cell and no wrong answer, which voids
    all steps of its block (method, rule 5)."""
    by_block = grouped(found, lambda each: (each.cell, each.block))
    walked: dict[str, tuple[Walk, ...]] = {}
    for (cell, block), taken in by_block.items():
        if not any(each.wrong_answers for each in taken):
            walked[cell] = (*walked.get(cell, ()), Walk(block, tuple(taken)))
    return walked


def extras(objective: Objective, trials: Sequence[Trial]) -> dict[str, float]:
    """A cell's limit and bracket in one block, as far as they were found (`estimates.Extras`)."""
    steps = [step(each, objective) for each in trials]
    found = bracket({each.rate_per_s: each.met for each in steps})
    rates = {name: getattr(found, name) for name in ("limit_per_s", "met_per_s", "failed_per_s")}
    return {name: rate for name, rate in rates.items() if rate is not None}


def limits(
    cells: Iterable[Cell],
    found: Iterable[StepEntry],
    said: Mapping[str, tuple[Sequence[str], str | None]],
) -> list[Limit]:
    """The limit of each cell, in the order of `cells`; `said` has flags and a reason by cell id."""
    walked = walks(found)
    return [Limit(cell, walked.get(cell.id, ()), *said.get(cell.id, ((), None))) for cell in cells]
