"""What is to be run, as the user asked for it."""

from __future__ import annotations

from dataclasses import dataclass, field

from restbench.experiment.cell import ServiceName
from restbench.experiment.experiment import Experiment
from restbench.experiment.profile import Profile
from restbench.experiment.records import PlannedCell


@dataclass(frozen=True)
class Order:
    """What is to be run, as the user asked for it."""

    experiment: Experiment
    experiment_text: str
    profile_name: str
    profile: Profile
    """How long and how often each cell is measured; its time may be the user's."""
    plan: tuple[PlannedCell, ...]
    command: str
    claims_text: str | None = None
    """The experiment's claims file, as it is before the run."""
    attached: dict[ServiceName, str] = field(default_factory=dict)
