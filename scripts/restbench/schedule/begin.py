"""The first and the last thing a run writes: what it is, and how it ended."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from restbench.drive import load
from restbench.drive.payload import files_of
from restbench.experiment.cell import Build, ServiceName
from restbench.experiment.order import BuiltCheckout, Order
from restbench.experiment.records import Manifest, PlannedCell
from restbench.failures import StorageProblem
from restbench.machine import clock, machine
from restbench.schedule import sources
from restbench.store.store import Run, point_latest_to
from restbench.store.writing import write_json, write_model, write_text


class Named(Protocol):
    """What an experiment of any kind says of itself."""

    @property
    def name(self) -> str:
        """Its name, the file's."""

    @property
    def title(self) -> str:
        """Its title, in words."""

    @property
    def seed(self) -> int:
        """Where its order, and all else that is drawn, comes from."""


class Ordered(Protocol):
    """What an order of any kind says of the run that it asks for."""

    @property
    def experiment(self) -> Named:
        """The experiment."""

    @property
    def experiment_text(self) -> str:
        """Its file, as it is before the run."""

    @property
    def profile_name(self) -> str:
        """Which of its profiles."""

    @property
    def plan(self) -> Sequence[PlannedCell]:
        """What is to be measured."""

    @property
    def command(self) -> str:
        """The command line that asked for it."""

    @property
    def attached(self) -> Mapping[ServiceName, str]:
        """The services that others run, with their addresses."""


def begin(order: Order, run: Run, claims_text: str | None = None) -> Manifest:
    """Write the bodies that the run sends, and what it is; the manifest last."""
    for path, text in bodies(order, run).items():
        write_text(path, text)
    return begin_without_bodies(order, run, claims_text, order.builds)


def bodies(order: Order, run: Run) -> dict[Path, str]:
    """What the run sends, and the answers that must come back: the text of each file."""
    found: dict[Path, str] = {}
    for complexity in {each.cell.complexity for each in order.plan}:
        found |= files_of(order.experiment, complexity, run.payload)
    return found


def begin_without_bodies(
    order: Ordered,
    run: Run,
    claims_text: str | None,
    builds: Mapping[Build, BuiltCheckout] | None = None,
) -> Manifest:
    """Write what the run is, for one whose bodies are written; the manifest last."""
    experiment = order.experiment
    commit, dirty = machine.git_commit()
    manifest = Manifest(
        run=run.name,
        experiment=experiment.name,
        profile=order.profile_name,
        title=experiment.title,
        seed=experiment.seed,
        started=clock.now_text(),
        status="running",
        git_commit=commit,
        git_dirty=dirty,
        command=order.command,
        plan=tuple(order.plan),
        claims_sha256=sha256(claims_text),
        attached=dict(order.attached),
        builds={name: each.commit for name, each in (builds or {}).items()},
    )
    write_text(run.experiment_file, order.experiment_text)
    if claims_text is not None:
        write_text(run.claims_file, claims_text)
    told = surroundings()
    if builds:
        told["measured"] = sources.fingerprints({name: each.path for name, each in builds.items()})
    write_json(run.machine_file, told)
    write_model(run.manifest_file, manifest)
    point_latest_to(run)
    return manifest


def finish(run: Run, manifest: Manifest, **found: object) -> Manifest:
    """Write how the run ended (`status`), and what else was found; returns the manifest."""
    finished = manifest.model_copy(update={**found, "finished": clock.now_text()})
    write_model(run.manifest_file, finished)
    return finished


def interrupted(run: Run, manifest: Manifest) -> None:
    """Write that the run ended too early. Where the disk is why, it still says `running`."""
    with suppress(StorageProblem):
        finish(run, manifest, status="interrupted")


def surroundings() -> dict[str, Any]:
    """The machine, and everything on it that the numbers depend on."""
    return machine.describe() | {
        "jmeter": load.version(),
        "measured": sources.fingerprints(),
        "settings": sources.settings(),
    }


def sha256(text: str | None) -> str | None:
    """Of a file's text; None where there is none."""
    return None if text is None else hashlib.sha256(text.encode("utf-8")).hexdigest()
