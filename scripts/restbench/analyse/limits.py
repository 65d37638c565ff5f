"""What an open load's trials come to: each step held against the objective, the bracket of each
walk, and the limit of each cell over blocks. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from restbench.experiment.cell import Cell
from restbench.experiment.objective import Objective, Outcome, shortfalls
from restbench.experiment.open_load import OpenLoad
from restbench.experiment.statistics import (
    COMPLETIONS_NEEDED,
    Ratio,
    geometric_interval,
    geometric_mean,
)
from restbench.experiment.walk import Bracket, Tried, bracket
from restbench.store.trials import Trial

#: An arrival sent later than this found every user busy, or the generator without a CPU.
LATE_MS = 10
NOTES = {
    "never-met": "In a block no step met the objective, down to the lowest rate whose windows "
    "suffice for its percentile, or until its time was over.",
    "never-failed": "In a block every step met the objective, up to the highest rate, or until its "
    "time was over.",
    "not-settled": "A block's time was over before its bracket was as narrow as asked for.",
    "one-block": "One walk has no interval: what differs by chance is not known.",
}


@dataclass(frozen=True)
class Step:
    """One rate, offered once, and held against the objective."""

    trial: Trial
    latency_ms: float | None
    """The objective's percentile over all arrivals of the window, from the intended moment;
    infinite where it falls on one without a correct answer, None where they are too few."""
    reasons: tuple[str, ...]
    """Why the objective is not met; empty when it is."""

    @property
    def rate_per_s(self) -> float:
        """What was offered."""
        return self.trial.extras["rate_per_s"]

    @property
    def tried(self) -> Tried:
        """What the search needs to know of it."""
        return Tried(self.rate_per_s, not self.reasons)

    def __str__(self) -> str:
        """For reading, while the walk goes on."""
        shown = "no percentile" if self.latency_ms is None else f"{self.latency_ms:.0f} ms"
        shown = "no answer" if self.latency_ms == math.inf else shown
        verdict = f"not met: {'; '.join(self.reasons)}" if self.reasons else "met"
        return f"{self.rate_per_s:7g}/s  {shown:>9}  {verdict}"


@dataclass(frozen=True)
class Walk:
    """The steps of one cell in one block, in order."""

    block: int
    steps: tuple[Step, ...]

    @property
    def bracket(self) -> Bracket:
        """What they have found."""
        return bracket([each.tried for each in self.steps])

    @property
    def met(self) -> Step | None:
        """The step at the highest rate that met the objective."""
        return self._at(self.bracket.met_per_s)

    @property
    def failed(self) -> Step | None:
        """The step at the lowest rate that did not."""
        return self._at(self.bracket.failed_per_s)

    def _at(self, rate_per_s: float | None) -> Step | None:
        return next((each for each in self.steps if each.rate_per_s == rate_per_s), None)


@dataclass(frozen=True)
class Limit:
    """The highest rate of one cell that meets the objective, over blocks."""

    cell: Cell
    walks: tuple[Walk, ...]
    flags: tuple[str, ...] = ()
    """What happened to it: see `flags`."""
    reason: str | None = None
    """Why it has no walk in a block, in words."""

    @property
    def limits_per_s(self) -> list[float]:
        """Of each block that has one: the middle of its bracket."""
        found = [each.bracket.limit_per_s for each in self.walks]
        return [each for each in found if each is not None]

    @property
    def limit_per_s(self) -> float | None:
        """Their geometric mean."""
        return geometric_mean(self.limits_per_s) if self.limits_per_s else None

    @property
    def interval(self) -> Ratio | None:
        """Of that mean, over blocks; None for fewer than two."""
        return geometric_interval(self.limits_per_s) if len(self.limits_per_s) > 1 else None

    @property
    def met_per_s(self) -> float | None:
        """Met in every block; None where one has no such rate."""
        found = [each.bracket.met_per_s for each in self.walks]
        return None if None in found else min((each for each in found if each), default=None)

    @property
    def failed_per_s(self) -> float | None:
        """Not met in any block; None where one has no such rate."""
        found = [each.bracket.failed_per_s for each in self.walks]
        return None if None in found else max((each for each in found if each), default=None)

    @property
    def met_latency_ms(self) -> float | None:
        """At the highest rates that met it: the mean of the blocks' percentiles (rule 8)."""
        found = [each.met.latency_ms for each in self.walks if each.met]
        known = [each for each in found if each is not None]
        return fmean(known) if known else None

    @property
    def failed(self) -> Step | None:
        """The step at the lowest rate that failed in the block where that was highest."""
        steps = [each.failed for each in self.walks if each.failed]
        return max(steps, key=lambda each: each.rate_per_s, default=None)

    def notes(self, resolution: float) -> tuple[str, ...]:
        """What to know before believing it: its flags, and those of NOTES."""
        ends = [each.bracket for each in self.walks]
        whole = [each for each in ends if each.limit_per_s is not None]
        found = {
            **dict.fromkeys(self.flags, True),
            "never-met": any(each.met_per_s is None for each in ends),
            "never-failed": any(each.failed_per_s is None for each in ends),
            "not-settled": any(not each.is_narrow(resolution) for each in whole),
            "one-block": len(self.walks) == 1,
        }
        return tuple(note for note, holds in found.items() if holds)


def step(trial: Trial, objective: Objective) -> Step:
    """Judge a trial of an open load."""
    arrivals, unsent = int(trial.extras["arrivals"]), int(trial.extras["unsent"])
    latency_ms = percentile_ms(trial, objective.percentile)
    outcome = Outcome(arrivals, unsent, trial.errors, latency_ms)
    return Step(trial, latency_ms, shortfalls(outcome, objective))


def percentile_ms(trial: Trial, percent: int) -> float | None:
    """By the nearest rank over ALL arrivals: one without a correct answer is slower than any other.
    None where they are too few for it (rule 4)."""
    arrivals = int(trial.extras["arrivals"])
    if arrivals < COMPLETIONS_NEEDED[percent]:
        return None
    rank = -(-percent * arrivals // 100)
    return float(trial.elapsed_us[rank - 1]) / 1000 if rank <= trial.completions else math.inf


def walks(trials: Iterable[Trial], objective: Objective) -> dict[str, tuple[Walk, ...]]:
    """By the cell's id: a walk for each block that has steps of it, all of them right: a wrong
    answer voids the others of its block (method, rule 5)."""
    steps: dict[tuple[str, int], list[Step]] = {}
    for each in trials:
        steps.setdefault((each.cell, each.block), []).append(step(each, objective))
    found: dict[str, tuple[Walk, ...]] = {}
    for (cell, block), taken in steps.items():
        if any(each.trial.wrong for each in taken):
            continue
        found[cell] = (*found.get(cell, ()), Walk(block, tuple(taken)))
    return found


def known_limits(trials: Iterable[Trial], load: OpenLoad) -> dict[str, float]:
    """By the cell's id: where its walks so far ended. Those that found no bracket say nothing."""
    found: dict[str, float] = {}
    for cell, taken in walks(trials, load.objective).items():
        limits = [each.bracket.limit_per_s for each in taken]
        if known := [each for each in limits if each is not None]:
            found[cell] = geometric_mean(known)
    return found


def limits(
    cells: Iterable[Cell],
    trials: Iterable[Trial],
    objective: Objective,
    said: Mapping[str, tuple[Sequence[str], str | None]],
) -> list[Limit]:
    """One for each cell, in their order; `said` has flags and a reason by the cell's id."""
    walked = walks(trials, objective)
    return [
        Limit(cell, walked.get(cell.id, ()), tuple(flags), reason)
        for cell in cells
        for flags, reason in [said.get(cell.id, ((), None))]
    ]
