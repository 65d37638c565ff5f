"""Going on with a run that ended too early: which one, whether it may, what is kept of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from restbench.experiment.cell import Build
from restbench.experiment.order import Order
from restbench.experiment.records import Interruption, Manifest
from restbench.failures import EnvironmentProblem, NotAsBegun, Unreadable
from restbench.machine import clock, machine
from restbench.schedule import sources
from restbench.schedule.begin import bodies, sha256, surroundings
from restbench.store.store import Run
from restbench.store.writing import write_model, write_text


@dataclass(frozen=True)
class Unfinished:
    """A run of the same experiment and profile that ended too early."""

    run: Run
    manifest: Manifest
    differences: tuple[str, ...]
    """In what it was ordered otherwise; none for one that can go on."""


def unfinished(order: Order, runs: Sequence[Run], tell: Callable[[str], None]) -> list[Unfinished]:
    """The unfinished runs of the same experiment and profile, the newest first.

    One that cannot be read is reported, and left out: nobody can know what was ordered.
    """
    found = []
    for run in runs:
        try:
            each = _unfinished(order, run) if run.can_go_on else None
        except Unreadable as error:
            tell(f"left out: {error}")
        else:
            found += [each] if each else []
    return sorted(found, key=lambda each: each.manifest.started, reverse=True)


def _unfinished(order: Order, run: Run) -> Unfinished | None:
    manifest = run.manifest()
    same = (manifest.experiment, manifest.profile) == (order.experiment.name, order.profile_name)
    if not same or run.is_over:
        return None
    return Unfinished(run, manifest, _differences(order, run, manifest))


def _differences(order: Order, run: Run, manifest: Manifest) -> tuple[str, ...]:
    # Of a complete one only the blocks that the stop rule asked for are in the plan.
    plan = tuple(order.plan)
    planned = plan[: len(manifest.plan)] if manifest.status == "complete" else plan
    differs = {
        "the experiment's file": _text(run.experiment_file) != order.experiment_text,
        "the claims' file": manifest.claims_sha256 != sha256(order.claims_text),
        "the cells": manifest.plan != planned,
        "what is attached": manifest.attached != dict(order.attached),
    }
    return tuple(name for name, is_other in differs.items() if is_other)


def _text(path: Path) -> str | None:
    """None where there is no such text."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def require_as_begun(run: Run, builds: Mapping[Build, Path] | None = None) -> None:
    """NotAsBegun where a service or the load's plans are not what the run began with: somebody has
    built or edited them meanwhile. Costs milliseconds."""
    then = run.machine().get("measured")
    changed = machine.changed(then, sources.fingerprints(builds)) if then else []
    if changed:
        raise NotAsBegun(
            f"{'; '.join(changed)}: changed while {run.name} went on: have it as it was before the "
            "run goes on, or begin a new one"
        )


def _require_same_surroundings(run: Run) -> None:
    """EnvironmentProblem where the machine, a tool or what is measured is not as it was: half of
    the numbers would be of one thing, half of another."""
    then = run.machine()
    # What was written and read again has lists where there were tuples.
    now = json.loads(json.dumps(surroundings()))
    if changed := machine.changed(then, now):
        raise EnvironmentProblem(
            f"{run.name} cannot go on, for {'; '.join(changed)}: have it as it was, or begin a new "
            "run (without --resume, RESUME=)"
        )


def _require_bodies(run: Run, sent: Mapping[Path, str]) -> None:
    """Unreadable where what is sent does not lie in the run as it was written: every cell that is
    left would fail, or measure something else."""
    for path, text in sent.items():
        if not path.exists() or path.read_bytes() != text.encode():
            raise Unreadable(
                f"{path}: not what {run.name} began with: restore it from a copy, or begin a new "
                "run (without --resume, RESUME=)"
            )


def go_on(order: Order, run: Run, note: Callable[[str], None]) -> Manifest:
    """Keep what is measured, and note the interruption. A block in flight is measured anew.

    Returns the manifest: it goes on with the whole plan, of which a complete run has only the
    blocks that it needed, and without the last file of its presentation, which would pass for one
    of the finished run. Before anything is changed: EnvironmentProblem where the machine or what is
    measured is another, Unreadable where a file of the run is not as it was written.
    """
    _require_same_surroundings(run)
    _require_bodies(run, bodies(order, run))
    manifest = run.manifest()
    run.proofs()
    noted = _interruption(run, manifest)
    note(_announcement(order, run, noted))
    lines = [each.model_dump_json() for each in (*run.interruptions(), noted)]
    write_text(run.interruptions_file, "\n".join(lines) + "\n")
    run.report.unlink(missing_ok=True)
    again = {"status": "running", "finished": None, "plan": order.plan}
    going_on = manifest.model_copy(update=again)
    write_model(run.manifest_file, going_on)
    return going_on


def _announcement(order: Order, run: Run, noted: Interruption) -> str:
    """What the interruption came to, in a line."""
    anew = f"; in flight then and measured anew: {', '.join(noted.lost)}" if noted.lost else ""
    return (
        f"going on with {run.name}, {noted.how} at {noted.ended}: {noted.kept} of "
        f"{len(order.plan)} are measured{anew}"
    )


_HOW: Mapping[str, Literal["interrupted", "killed", "extended"]] = {
    "interrupted": "interrupted",
    "running": "killed",
    "complete": "extended",
}


def _interruption(run: Run, manifest: Manifest) -> Interruption:
    commit, dirty = machine.git_commit()
    blocks = run.trials.blocks()
    finished = {each.block for each in blocks if each.finished}
    return Interruption(
        how=_HOW[manifest.status],
        ended=manifest.finished or _last_written(run),
        resumed=clock.now_text(),
        kept=sum(each.block in finished for each in manifest.plan),
        lost=tuple(f"block {each.block}" for each in blocks if not each.finished),
        git_commit=commit,
        git_dirty=dirty,
    )


def _last_written(run: Run) -> str:
    newest_s = max(path.stat().st_mtime for path in run.path.rglob("*"))
    return datetime.fromtimestamp(newest_s).astimezone().isoformat(timespec="seconds")
