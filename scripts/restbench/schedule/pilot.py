"""The run that a longer one is planned from: which it is, and what it tells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from restbench.analyse import comparison, measures
from restbench.experiment import experiment
from restbench.experiment.cell import Cell
from restbench.failures import BadConfiguration
from restbench.machine import machine
from restbench.schedule import costs
from restbench.schedule.costs import Costs
from restbench.schedule.stopping import METRIC
from restbench.store import store
from restbench.store.store import Run

#: A spread needs two values at the very least.
LEAST_BLOCKS = 2


@dataclass(frozen=True)
class Pilot:
    """A run as a pilot: each cell's throughput by block, and what measuring cost."""

    run: Run
    values: Mapping[Cell, Sequence[float]]
    costs: Costs

    @property
    def blocks(self) -> int:
        """The most blocks that any cell has."""
        return max((len(each) for each in self.values.values()), default=0)


def read(run: Run) -> Pilot:
    """A run as a pilot; BadConfiguration where its raw data are not there."""
    series = {row.cell: comparison.series(row, METRIC) for row in measures.rows(run)}
    values = {
        cell: list(each.values.values())
        for cell, each in series.items()
        if each.values and min(each.values.values()) > 0
    }
    if not values:
        raise BadConfiguration(f"{run.path}: no raw data of measured cells: it is no pilot")
    records = sorted((record for record, _ in run.cell_runs()), key=lambda each: each.order)
    profile = experiment.load(run.experiment_file).profile(run.manifest().profile)
    means = {cell: sum(each) / len(each) for cell, each in values.items()}
    return Pilot(run, values, costs.costs(records, means, profile))


def newest(name: str, identity: Mapping[str, str | int], results: Path = store.RESULTS) -> Run:
    """The newest run of an experiment on the machine with this identity that has blocks enough;
    one of three blocks or more before one of two. BadConfiguration where there is none."""
    found = [
        (blocks, run.manifest().started, run)
        for run in _runs_of(name, identity, results)
        if (blocks := _blocks(run)) >= LEAST_BLOCKS
    ]
    if not found:
        raise BadConfiguration(
            f"no run of '{name}' on this machine has {LEAST_BLOCKS} blocks with raw data: a pilot "
            f"is needed to know how much the cells vary. Make one with 'restbench run {name}' and "
            "a profile of 3 blocks or more (what was measured before an interruption counts), or "
            "name a run with --pilot"
        )
    return max(found, key=lambda each: (each[0] > LEAST_BLOCKS, each[1]))[2]


def _runs_of(name: str, identity: Mapping[str, str | int], results: Path) -> Iterator[Run]:
    for run in store.runs(results):
        same = run.machine_file.exists() and machine.same(identity, machine.identity(run.machine()))
        if same and run.manifest().experiment == name:
            yield run


def _blocks(run: Run) -> int:
    """How many blocks the cell that has most was measured in."""
    counted = Counter(
        record.cell
        for record, folder in run.cell_runs()
        if record.status == "measured" and folder.samples.exists()
    )
    return max(counted.values(), default=0)
