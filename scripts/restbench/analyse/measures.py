"""From a run's trials to the rows of its table: one for each cell, with its blocks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any

from restbench.analyse import estimates, limits, warnings
from restbench.analyse.measurement import Measurement, number
from restbench.analyse.warnings import explain
from restbench.experiment import columns, experiment
from restbench.experiment.cell import FACTORS, Cell, Kind, Shape
from restbench.experiment.experiment import Experiment
from restbench.experiment.level import Logs
from restbench.experiment.statistics import FEWEST_BLOCKS, FEWEST_DRAWS, Interval, t_interval
from restbench.grouping import grouped
from restbench.store.exported import NoteEntry, WarningEntry
from restbench.store.store import Run

#: Metrics that are summed over blocks; all others are means over blocks.
COUNTS = ("samples", "errors", "wrong_answers")

#: Completed requests are of another mix than the planned one where the number of a kind is off by
#: more than this part of it, and by more standard errors than chance explains.
OFF_PART, OFF_ERRORS = 0.05, 3.0


@dataclass(frozen=True)
class Row:
    """One cell with all its blocks: a line of the test matrix."""

    cell: Cell
    shape: Shape | None
    """None where the requests have several sizes (those of `mix`), or are no matrices."""
    test_ids: tuple[str, ...]
    measurements: tuple[Measurement, ...]
    mix: tuple[Kind, ...] = ()
    logs: Logs | None = None
    """Only where the requests are lines of a log."""

    @property
    def work(self) -> float:
        """The work of a request, to sort the levels of one workload by. A mix is last."""
        if self.shape:
            return self.shape.products
        return self.logs.work if self.logs else math.inf

    @property
    def flags(self) -> tuple[str, ...]:
        """Every flag of any block, each once. `not-measured` counts only where no block was
        measured, as one block may lack the time that a later one has."""
        if not self.measurements:
            return ("not-measured",)
        drawn = [each.trials or 0 for each in self.measured if "busy_workers" in each.extras]
        more = ["few-draws"] * (min(drawn, default=FEWEST_DRAWS) < FEWEST_DRAWS)
        more += ["other-mix"] * self.is_of_other_mix
        known = dict.fromkeys(flag for each in self.measurements for flag in each.flags)
        if self.measured:
            known.pop("not-measured", None)
        return tuple(dict.fromkeys([*known, *more]))

    @property
    def warnings(self) -> tuple[WarningEntry, ...]:
        """What may have biased the cell by more than half the margin, the largest first."""
        return warnings.of_cell(self.measured, self.cell.users)

    @property
    def notes(self) -> tuple[NoteEntry, ...]:
        """Further reservations about the row: the text of each flag, with the blocks that have it.
        Of `not-measured` it is the last block's reason, which has the minutes that are needed."""
        found = []
        for flag in self.flags:
            text, count = explain(flag), self.blocks_with(flag)
            if flag == "not-measured" and self.measurements:
                text = self.measurements[-1].reason or text
            some = f" (in {count} of {len(self.measurements)} blocks)"
            text += some * (0 < count < len(self.measurements))
            found.append(NoteEntry(kind=flag, text=text))
        return tuple(found)

    def blocks_with(self, flag: str) -> int:
        """In how many of the row's blocks a flag was raised."""
        return sum(flag in each.flags for each in self.measurements)

    @property
    def measured(self) -> tuple[Measurement, ...]:
        """The blocks that have trials."""
        return tuple(each for each in self.measurements if each.seconds)

    @property
    def is_of_other_mix(self) -> bool:
        """Whether the share of a kind among the completed requests is not the planned one of the
        mix: the trials ended before large requests were answered as often as they were sent."""
        counts = [
            sum(of.kinds[kind.name].completions for of in self.measured if kind.name in of.kinds)
            for kind in self.mix
        ]
        for kind, count in zip(self.mix, counts, strict=True):
            planned = kind.share * sum(counts)
            error = math.sqrt(planned * (1 - kind.share))
            if abs(count - planned) > max(OFF_PART * planned, OFF_ERRORS * error):
                return True
        return False

    @property
    def valid_blocks(self) -> tuple[Measurement, ...]:
        """The measured blocks in which no answer was wrong; none where the completed requests are
        of another mix than the planned one."""
        if self.is_of_other_mix:
            return ()
        return tuple(each for each in self.measured if "wrong-answers" not in each.flags)

    def value(self, metric: str) -> float | None:
        """The mean over blocks (the sum of a count), None unless every measured block has it. A
        block with a wrong answer has nothing but its counts (method, rule 5), as has a cell whose
        completed requests are of another mix (rule 4)."""
        values = self._values(metric)
        if not values:
            return None
        return sum(values) if metric in COUNTS else fmean(values)

    def interval(self, metric: str) -> Interval | None:
        """The t interval of the mean over blocks; None below FEWEST_BLOCKS."""
        values = self._values(metric)
        return t_interval(values) if len(values) >= FEWEST_BLOCKS else None

    def ends(self, metric: str) -> tuple[float, float] | tuple[None, None]:
        """The ends of the mean's interval; None twice without one."""
        known = self.interval(metric)
        return (known.low, known.high) if known else (None, None)

    def record(self) -> dict[str, str | int | float | None]:
        """The row as the table has it: column name → value, in the table's order."""
        fields: dict[str, str | int | float | None] = {"test_id": " ".join(self.test_ids)}
        fields |= {factor: getattr(self.cell, factor) for factor in FACTORS}
        fields |= {metric: self.value(metric) for metric in columns.METRICS}
        kinds = (*(each.kind for each in self.warnings), *self.flags)
        fields["flags"] = " ".join(dict.fromkeys(kinds))
        return {name: fields[name] for name in columns.NAMES}

    def _values(self, metric: str) -> list[float]:
        blocks = self.measured if metric in COUNTS else self.valid_blocks
        if metric == "wrong_answers":
            blocks = tuple(each for each in self.measurements if each.seconds or each.wrong_answers)
        values = [number(each, metric) for each in blocks]
        return [] if None in values else [each for each in values if each is not None]


def alike(rows: Iterable[Row], **usual: Any) -> dict[Cell, list[Row]]:
    """The offered rows in groups that differ only in the factors of `usual`. The key is the cell in
    which these factors have the values of `usual`."""
    offered = (each for each in rows if "not-offered" not in each.flags)
    return grouped(offered, lambda each: each.cell.model_copy(update=usual))


def rows(run: Run) -> list[Row]:
    """A row for every planned cell, in the order of the experiment's file; last come cells that the
    file has on another machine only."""
    allowed = run.cores_allowed()
    definition = experiment.load(run.experiment_file, allowed)
    planned = {each.cell: each.test_ids for each in run.manifest().plan}
    cores = len(allowed or (0,))
    file = run.trials
    objective = definition.open.objective if definition.open else None
    extras = partial(limits.extras, objective) if objective else estimates.mean_extras
    blocks = estimates.measurements(file.trials(), file.events(), file.blocks(), cores, extras)
    return [
        row(definition, cell, planned[cell], blocks.get(cell.id, ()))
        for cell in dict.fromkeys((*definition.all_cells(), *planned))
        if cell in planned
    ]


def row(
    definition: Experiment, cell: Cell, ids: tuple[str, ...], blocks: Iterable[Measurement] = ()
) -> Row:
    """The row of a cell of the experiment; `ids` are its tests."""
    level = cell.complexity
    shape, logs = definition.size(level, Shape), definition.size(level, Logs)
    return Row(cell, shape, ids, tuple(blocks), definition.mix(level), logs)
