"""An open-load experiment file (TOML): the objective, the walk, and the cells it is made for."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field
from pydantic import ValidationError as PydanticError

from restbench.experiment.arrivals import ArrivalProcess, Phases
from restbench.experiment.cell import Cell, Kind, ServiceName, Shape
from restbench.experiment.experiment import CellGroup, ShapeEntry
from restbench.experiment.objective import Objective
from restbench.experiment.records import PlannedCell
from restbench.experiment.selection import Positive, Strict
from restbench.experiment.statistics import COMPLETIONS_NEEDED
from restbench.experiment.walk import Search
from restbench.failures import BadConfiguration

#: A window is a tenth of a second longer than its count needs: no percentile fails by rounding.
WINDOW_STEP_S = 0.1
Above0 = Annotated[float, Field(gt=0)]


class OpenProfile(Strict):
    """How long each step takes and how fine the walk is."""

    description: str = ""
    closed_s: Above0
    """Closed load on a fresh service, before the walk: it warms the service up, and its throughput
    says where to start."""
    warmup_s: Above0
    """Of each step, at its own rate, before its window."""
    window_min_s: Above0
    """A window is longer where the objective's percentile needs more arrivals."""
    window_max_s: Above0
    """The walk does not go down to a rate for which this is too short."""
    tail_s: Above0
    """The load goes on after the window; an arrival of the window may still be sent so late."""
    resolution: Annotated[float, Field(gt=0, lt=1)]
    votes: Positive
    steps_max: Positive
    walk_max_s: Above0
    """No further step starts after this time, for each cell."""


class Rates(Strict):
    """Where the walk may go, requests per second."""

    start_share: Above0
    """The first rate, as a share of the closed load's throughput."""
    closed_users: Positive
    """Of that closed load: enough to keep the cores busy, too few to choke a technique."""
    factor: Annotated[float, Field(gt=1)]
    lowest_per_s: Above0
    highest_per_s: Above0


class OpenExperiment(Strict):
    """A whole file."""

    kind: Literal["open-load"]
    name: str
    title: str
    seed: Annotated[int, Field(ge=0)]
    element_min: int = 0
    element_max: int = 50
    arrivals: ArrivalProcess
    objective: Objective
    rates: Rates
    complexities: dict[str, ShapeEntry]
    profiles: dict[str, OpenProfile]
    cells: Annotated[list[CellGroup], Field(min_length=1)]

    def all_cells(self) -> list[Cell]:
        """Every cell once, in the order of the file; `users` are the most requests in flight."""
        return list(dict.fromkeys(cell for group in self.cells for cell in group.cells()))

    def shape(self, complexity: str) -> Shape:
        """The operand sizes of a complexity level."""
        if complexity not in self.complexities:
            raise BadConfiguration(
                f"cells: complexity '{complexity}' is not defined; defined are "
                + ", ".join(self.complexities)
            )
        return Shape(**self.complexities[complexity].model_dump())

    def mix(self, complexity: str) -> tuple[Kind, ...]:  # noqa: ARG002 - as a closed load has it
        """None: an open load is of requests of one size."""
        return ()

    def profile(self, name: str) -> OpenProfile:
        """The profile of that name, or BadConfiguration with the names there are."""
        if name not in self.profiles:
            raise BadConfiguration(
                f"experiment '{self.name}' has no profile '{name}'; it has "
                + ", ".join(self.profiles)
            )
        return self.profiles[name]

    def search(self, profile: OpenProfile) -> Search:
        """How the walk goes under a profile: never to a rate whose longest window is too short for
        the objective's percentile."""
        needed = COMPLETIONS_NEEDED[self.objective.percentile]
        supported_per_s = needed / (profile.window_max_s - WINDOW_STEP_S)
        return Search(
            factor=self.rates.factor,
            resolution=profile.resolution,
            votes=profile.votes,
            lowest_per_s=max(self.rates.lowest_per_s, supported_per_s),
            highest_per_s=self.rates.highest_per_s,
            steps_max=profile.steps_max,
        )

    def phases(self, rate_per_s: float, profile: OpenProfile) -> Phases:
        """The parts of a step: the window holds what the objective's percentile needs."""
        needed_s = COMPLETIONS_NEEDED[self.objective.percentile] / rate_per_s
        window_s = max(profile.window_min_s, math.ceil(needed_s / WINDOW_STEP_S + 1) / 10)
        return Phases(profile.warmup_s, min(window_s, profile.window_max_s), profile.tail_s)


@dataclass(frozen=True)
class OpenOrder:
    """What is to be run, as the user asked for it."""

    experiment: OpenExperiment
    experiment_text: str
    profile_name: str
    plan: tuple[PlannedCell, ...]
    """One cell a block: each walk has a service process of its own."""
    command: str
    attached: dict[ServiceName, str] = field(default_factory=dict)

    @property
    def profile(self) -> OpenProfile:
        """How long each step takes and how fine the walk is."""
        return self.experiment.profile(self.profile_name)


def is_open_load(path: Path) -> bool:
    """Whether a file says of itself that it is an open-load experiment."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8")).get("kind") == "open-load"
    except (OSError, tomllib.TOMLDecodeError):
        return False


def load(path: Path) -> OpenExperiment:
    """Read the file; BadConfiguration names it, the key and what is wrong with it."""
    try:
        found = OpenExperiment.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise BadConfiguration(f"{path}: cannot be read: {error}") from error
    except PydanticError as error:
        problem = error.errors()[0]
        key = ".".join(str(part) for part in problem["loc"]) or "file"
        raise BadConfiguration(f"{path}: {key}: {problem['msg']}") from error
    for cell in found.all_cells():
        found.shape(cell.complexity)
    return found


def plan(cells: list[Cell]) -> tuple[PlannedCell, ...]:
    """The walks in the order of the file."""
    return tuple(
        PlannedCell(cell=cell, block=number, order=number, test_ids=())
        for number, cell in enumerate(cells, start=1)
    )
