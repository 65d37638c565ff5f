"""Which cells of an NPB experiment are measured, and in which order."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from restbench.experiment.cell import Cell, ServiceName
from restbench.experiment.npb_experiment import NpbExperiment, NpbProfile
from restbench.experiment.npb_work import work_of
from restbench.experiment.records import PlannedCell
from restbench.experiment.selection import Where
from restbench.failures import BadConfiguration


@dataclass(frozen=True)
class NpbOrder:
    """What is to be run, as the user asked for it."""

    experiment: NpbExperiment
    experiment_text: str
    profile_name: str
    plan: tuple[PlannedCell, ...]
    command: str
    claims_text: str
    published_text: str
    attached: dict[ServiceName, str] = field(default_factory=dict)
    """None: a service that others run has no process to be held against."""

    @property
    def profile(self) -> NpbProfile:
        """What is measured, and how often."""
        return self.experiment.profile(self.profile_name)


def plan(
    experiment: NpbExperiment, profile: NpbProfile, selection: Where
) -> tuple[PlannedCell, ...]:
    """Each round measures every cell that it has once: those of a service process together, groups
    and cells in an order from the experiment's seed (method, rule 2)."""
    chosen = [cell for cell in experiment.cells_of(profile) if selection.matches(cell)]
    rounds = {cell: profile.rounds(work_of(cell.complexity)) for cell in chosen}
    shuffler = random.Random(experiment.seed)  # noqa: S311 - an order, not a secret
    planned = [
        (number, cell)
        for number in range(1, max(rounds.values(), default=0) + 1)
        for cell in _shuffled([each for each in chosen if rounds[each] >= number], shuffler)
    ]
    if not planned:
        raise BadConfiguration(f"no cell of experiment '{experiment.name}' matches the selection")
    return tuple(
        PlannedCell(cell=cell, block=number, order=order, test_ids=())
        for order, (number, cell) in enumerate(planned, start=1)
    )


def group_of(planned: PlannedCell, profile: NpbProfile) -> tuple[int, str, bool, str]:
    """What needs a service process of its own; the third says whether it needs one at all."""
    served = work_of(planned.cell.complexity).cores is None
    own = planned.cell.id if profile.service_process == "cell" else ""
    return planned.block, planned.cell.service, served, own


def _shuffled(cells: list[Cell], shuffler: random.Random) -> list[Cell]:
    groups: dict[tuple[str, bool], list[Cell]] = {}
    for cell in cells:
        served = work_of(cell.complexity).cores is None
        groups.setdefault((cell.service, served), []).append(cell)
    order = list(groups.values())
    shuffler.shuffle(order)
    for group in order:
        shuffler.shuffle(group)
    return [cell for group in order for cell in group]
