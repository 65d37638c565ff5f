"""What is to be run, as the user asked for it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from restbench.experiment.cell import Build, ServiceName
from restbench.experiment.experiment import Experiment
from restbench.experiment.profile import Profile
from restbench.experiment.records import BuiltCommit, PlannedCell


@dataclass(frozen=True)
class BuiltCheckout:
    """A commit with its services built."""

    commit: BuiltCommit
    path: Path
    commands: Mapping[ServiceName, tuple[str, ...]]
    """The command line of each service, as the checkout itself gives it."""


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
    builds: Mapping[Build, BuiltCheckout] = field(default_factory=dict)
    """The builds that cells name, but for this checkout."""

    @property
    def claims_sha256(self) -> str | None:
        """Of the claims file; None where there is none."""
        text = self.claims_text
        return None if text is None else hashlib.sha256(text.encode("utf-8")).hexdigest()

    @property
    def build_folders(self) -> dict[Build, Path]:
        """Where each of them lies."""
        return {name: each.path for name, each in self.builds.items()}
