"""The first and the last thing a run writes: what it is, and how it ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from restbench.drive import load
from restbench.drive.payload import files_of
from restbench.experiment.order import Order
from restbench.experiment.records import Manifest
from restbench.machine import clock, machine
from restbench.schedule import sources
from restbench.store.store import Run
from restbench.store.writing import write_json, write_model, write_text


def begin(order: Order, run: Run) -> Manifest:
    """Write the bodies that the run sends, and what it is; the manifest last."""
    experiment, sent = order.experiment, bodies(order, run)
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
        claims_sha256=order.claims_sha256,
        attached=dict(order.attached),
        builds={name: each.commit for name, each in order.builds.items()},
    )
    described = surroundings()
    if order.builds:
        described["measured"] = sources.fingerprints(order.build_folders)
    for path, text in sent.items():
        write_text(path, text)
    write_text(run.experiment_file, order.experiment_text)
    if order.claims_text is not None:
        write_text(run.claims_file, order.claims_text)
    write_json(run.machine_file, described)
    write_model(run.manifest_file, manifest)
    return manifest


def bodies(order: Order, run: Run) -> dict[Path, str]:
    """What the run sends, and the answers that must come back: the text of each file."""
    found: dict[Path, str] = {}
    for complexity in {each.cell.complexity for each in order.plan}:
        found |= files_of(order.experiment, complexity, run.payload)
    return found


def finish(run: Run, manifest: Manifest, **found: object) -> Manifest:
    """Write how the run ended (`status`), and what else was found; returns the manifest."""
    finished = manifest.model_copy(update={**found, "finished": clock.now_text()})
    write_model(run.manifest_file, finished)
    return finished


def surroundings() -> dict[str, Any]:
    """The machine, and everything on it that the numbers depend on."""
    return machine.describe() | {
        "jmeter": load.version(),
        "measured": sources.fingerprints(),
        "settings": sources.settings(),
    }
