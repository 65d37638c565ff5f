"""An order for a run, as the user gave it: which cells of an experiment, and in which sequence."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from restbench.experiment.cell import FACTORS, Build, ServiceName
from restbench.experiment.experiment import Experiment
from restbench.experiment.profile import Profile
from restbench.experiment.records import BuiltCommit, PlannedCell
from restbench.experiment.selection import Where, is_any
from restbench.failures import BadConfiguration
from restbench.grouping import grouped
from restbench.machine.placement import allowed_cores, place


@dataclass(frozen=True)
class BuiltCheckout:
    """A commit with its services built."""

    commit: BuiltCommit
    path: Path
    commands: Mapping[ServiceName, tuple[str, ...]]
    """The command line of each service, as the checkout itself gives it."""


@dataclass(frozen=True)
class Order:
    """An order for a run: everything that the user asked for."""

    experiment: Experiment
    experiment_text: str
    profile_name: str
    profile: Profile
    """How long and how often each cell is measured; the user may have given its time."""
    plan: tuple[PlannedCell, ...]
    command: str
    claims_text: str | None = None
    """The experiment's claims file, as it is before the run."""
    attached: dict[ServiceName, str] = field(default_factory=dict)
    builds: Mapping[Build, BuiltCheckout] = field(default_factory=dict)
    """The builds that cells name, except `checkout`."""

    @property
    def claims_sha256(self) -> str | None:
        """The SHA-256 of the claims file; None where there is none."""
        text = self.claims_text
        return None if text is None else hashlib.sha256(text.encode("utf-8")).hexdigest()


def parse_filter(text: str, experiment: Experiment) -> Where:
    """The selection in a text such as `service=java strategy=pinned,serial`. Raises
    BadConfiguration where a factor or a level is not one of the experiment's."""
    cells = experiment.all_cells() if text else []
    wanted: dict[str, list[str]] = {}
    for term in text.split():
        factor, separator, levels = term.partition("=")
        if not separator or factor not in FACTORS:
            raise BadConfiguration(
                f"CELLS: '{term}' is not FACTOR=LEVEL[,LEVEL]; factors are {', '.join(FACTORS)}"
            )
        if factor in wanted:
            raise BadConfiguration(f"CELLS: '{factor}' appears twice: give {factor}=LEVEL,LEVEL")
        known = list(dict.fromkeys(str(getattr(cell, factor)) for cell in cells))
        wanted[factor] = _levels(levels, known)
        for level in wanted[factor]:
            is_known = factor == "complexity" and any(is_any(each, [level]) for each in known)
            if not is_known and level not in known:
                raise BadConfiguration(
                    f"CELLS: {factor}: '{level}' is not in experiment '{experiment.name}'; "
                    f"it has {', '.join(each or '(empty)' for each in known)}"
                )
    return Where.model_validate(wanted)


def _levels(text: str, known: Collection[str]) -> list[str]:
    """The levels between commas; a known level of several settings, which has commas itself, is one
    level."""
    parts, found = text.split(","), list[str]()
    while parts:
        ends = range(len(parts), 0, -1)
        end = next((end for end in ends if ",".join(parts[:end]) in known), 1)
        found.append(",".join(parts[:end]))
        del parts[:end]
    return found


def plan(experiment: Experiment, profile: Profile, selection: Where) -> tuple[PlannedCell, ...]:
    """The selected cells of the profile in the order of measuring, in as many blocks as the profile
    can ask for. Raises BadConfiguration where no cell is left, or instances lack cores.

    Cells that share a service process are kept together; these groups, and the cells within each,
    are shuffled from the experiment's seed (method, rule 2).
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
    groups = grouped(chosen, lambda each: each.service_group)
    ids = {cell: experiment.test_ids(cell) for cell in chosen}
    shuffler = random.Random(experiment.seed)  # noqa: S311 - an order, not a secret
    planned: list[PlannedCell] = []
    for block in range(1, profile.most_blocks + 1):
        shuffled = [list(each) for each in groups.values()]
        shuffler.shuffle(shuffled)
        for group in shuffled:
            shuffler.shuffle(group)
            for cell in group:
                order = len(planned) + 1
                planned.append(PlannedCell(cell=cell, block=block, order=order, test_ids=ids[cell]))
    return tuple(planned)
