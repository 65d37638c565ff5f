"""What is to be run, as the user asked for it."""

from __future__ import annotations

from dataclasses import dataclass, field

from restbench.cell import ServiceName
from restbench.experiment import Experiment, Profile
from restbench.records import PlannedCell


@dataclass(frozen=True)
class Order:
    """What is to be run, as the user asked for it."""

    experiment: Experiment
    experiment_text: str
    profile_name: str
    plan: tuple[PlannedCell, ...]
    command: str
    attached: dict[ServiceName, str] = field(default_factory=dict)

    @property
    def profile(self) -> Profile:
        """How long and how often each cell is measured."""
        return self.experiment.profile(self.profile_name)
