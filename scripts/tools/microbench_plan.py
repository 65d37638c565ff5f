"""What a microbenchmark measures, how often and for how long: its profiles, and its bodies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from restbench.commands.options import require_known
from restbench.drive.payload import make_payload
from restbench.experiment import experiment
from restbench.experiment.cell import Shape
from restbench.store import store
from restbench.store.writing import write_text
from tools.limit_servers import REQUEST_ID
from tools.service_choice import Choice, choice

#: Whose levels, seed and elements are taken.
EXPERIMENT = "thesis"
LEVELS = ("low", "medium", "high")
CUBE = "cube-200"
SMOKE = "smoke"


@dataclass(frozen=True)
class Profile:
    """How much is measured. Every part has processes of its own: the interval is over them."""

    processes: int
    warmups: int
    values: int
    """In each process, after the warm-up."""
    value_s: float
    """How long calls are repeated for one value."""
    shapes: tuple[str, ...]
    """Parsed, written and computed in order."""
    strategy_shapes: tuple[str, ...]
    """Computed under every strategy."""
    rows: tuple[int, ...]
    """Of empty loops. 100 is where a thread pool of the study has all its threads."""


PROFILES = {
    # Does it work here? No number of it means anything.
    SMOKE: Profile(
        processes=2,
        warmups=1,
        values=1,
        value_s=0.001,
        shapes=("low",),
        strategy_shapes=("low",),
        rows=(1,),
    ),
    # 13 to 23 minutes.
    "quick": Profile(
        processes=3,
        warmups=2,
        values=2,
        value_s=0.15,
        shapes=(*LEVELS, CUBE),
        strategy_shapes=("medium",),
        rows=(1, 100, 1000),
    ),
    # Every strategy at every size: about two hours.
    "full": Profile(
        processes=8,
        warmups=3,
        values=4,
        value_s=0.4,
        shapes=(*LEVELS, CUBE),
        strategy_shapes=(*LEVELS, CUBE),
        rows=(1, 30, 100, 1000, 2000),
    ),
}


@dataclass(frozen=True)
class Plan:
    """One microbenchmark: its profile, and which services and strategies."""

    name: str
    choice: Choice

    @property
    def profile(self) -> Profile:
        """How much is measured."""
        return PROFILES[self.name]

    @property
    def is_whole(self) -> bool:
        """Whether it measures everything, in a way that means something."""
        return self.name != SMOKE and self.choice.is_everything


def plan_of(profile: str, service: str, strategies: str) -> Plan:
    """As the command line says it; an empty text is everything. BadConfiguration."""
    require_known("--profile", profile, PROFILES)
    return Plan(profile, choice(service, strategies))


def shapes(profile: Profile) -> dict[str, Shape]:
    """The operands' sizes by name."""
    study = experiment.load(store.experiment_file(EXPERIMENT))
    known = {CUBE: Shape(rows=200, inner=200, columns=200)}
    known |= {name: each for name, each in study.complexities.items() if isinstance(each, Shape)}
    return {name: known[name] for name in profile.shapes}


def write_bodies(sizes: Mapping[str, Shape], folder: Path) -> None:
    """`SHAPE.json` and `SHAPE.answer.json` of each: the same for both services."""
    study = experiment.load(store.experiment_file(EXPERIMENT))
    for name, shape in sizes.items():
        payload = make_payload(shape, study.seed, study.element_min, study.element_max)
        write_text(folder / f"{name}.json", payload.body(REQUEST_ID).decode())
        write_text(folder / f"{name}.answer.json", payload.answer(REQUEST_ID).decode())
