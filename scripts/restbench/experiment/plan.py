"""Which cells of an experiment are measured, and in which order."""

from __future__ import annotations

import random

from restbench.experiment.cell import FACTORS, Cell, ServiceGroup
from restbench.experiment.experiment import Experiment
from restbench.experiment.profile import Profile
from restbench.experiment.records import PlannedCell
from restbench.experiment.selection import Where, is_any
from restbench.failures import BadConfiguration
from restbench.machine.placement import allowed_cores, place


def parse_filter(text: str, experiment: Experiment) -> Where:
    """A selection such as `service=java strategy=pinned,serial`; else BadConfiguration."""
    cells = experiment.all_cells() if text else []
    wanted: dict[str, list[str]] = {}
    for term in text.split():
        factor, separator, levels = term.partition("=")
        if not separator or factor not in FACTORS:
            raise BadConfiguration(
                f"CELLS: '{term}' is not FACTOR=LEVEL[,LEVEL]; factors are {', '.join(FACTORS)}"
            )
        wanted[factor] = levels.split(",")
        known = list(dict.fromkeys(str(getattr(cell, factor)) for cell in cells))
        for level in wanted[factor]:
            is_known = factor == "complexity" and any(is_any(each, [level]) for each in known)
            if not is_known and level not in known:
                raise BadConfiguration(
                    f"CELLS: {factor}: '{level}' is not in experiment '{experiment.name}'; "
                    f"it has {', '.join(known)}"
                )
    return Where.model_validate(wanted)


def plan(experiment: Experiment, profile: Profile, selection: Where) -> tuple[PlannedCell, ...]:
    """As many blocks as the profile can ask for, of its cells in measuring order.

    Groups that share a service process are kept together; groups and cells within a group are
    shuffled from the experiment's seed (method, rule 2).
    """
    chosen = [
        cell
        for cell in experiment.all_cells()
        if profile.measures(cell) and selection.matches(cell)
    ]
    cores = len(place("unbound", allowed_cores()).service)
    for cell in chosen:
        if cell.placement == "per-core" and cell.instances > cores:
            raise BadConfiguration(
                f"placement=per-core: {cell.instances} instances need a core each, and a service "
                f"may use {cores}: give instances = {cores} or fewer"
            )
    if not chosen:
        raise BadConfiguration(f"no cell of experiment '{experiment.name}' matches the selection")
    shuffler = random.Random(experiment.seed)  # noqa: S311 - an order, not a secret
    planned: list[PlannedCell] = []
    for block in range(1, profile.most_blocks + 1):
        for cell in _shuffled(chosen, shuffler):
            planned.append(
                PlannedCell(
                    cell=cell,
                    block=block,
                    order=len(planned) + 1,
                    test_ids=experiment.test_ids(cell),
                )
            )
    return tuple(planned)


def service_group(cell: Cell) -> ServiceGroup:
    """What needs a service process of its own."""
    return ServiceGroup(*(getattr(cell, factor) for factor in ServiceGroup._fields))


def _shuffled(cells: list[Cell], shuffler: random.Random) -> list[Cell]:
    groups: dict[ServiceGroup, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(service_group(cell), []).append(cell)
    order = list(groups.values())
    shuffler.shuffle(order)
    for group in order:
        shuffler.shuffle(group)
    return [cell for group in order for cell in group]
