"""Going on with a run that ended too early, or with a finished one for more blocks: which one,
whether it may, what is kept of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, cast

from restbench.experiment import experiment, plan
from restbench.experiment.cell import ServiceName
from restbench.experiment.order import Order
from restbench.experiment.profile import LONG_MINUTES
from restbench.experiment.records import Interruption, Manifest
from restbench.experiment.selection import Where
from restbench.failures import BadConfiguration, EnvironmentProblem, Unreadable
from restbench.machine import clock, machine
from restbench.schedule import begin
from restbench.store.store import Run
from restbench.store.writing import write_model, write_text

_HOW: Mapping[str, Literal["interrupted", "killed", "extended"]] = {
    "interrupted": "interrupted",
    "running": "killed",
    "complete": "extended",
}


@dataclass(frozen=True)
class Unfinished:
    """A run of the same experiment and profile that ended too early."""

    run: Run
    manifest: Manifest
    differences: tuple[str, ...]
    """In what it was ordered otherwise; none for one that can go on."""


def to_go_on_with(order: Order, runs: Sequence[Run], tell: Callable[[str], None]) -> Run | None:
    """The newest unfinished run that was ordered in just this way; where there is none, `tell` gets
    a line that says so."""
    known = unfinished(order, runs, tell)
    found = next((each.run for each in known if not each.differences), None)
    if found is None:
        wanted = f"{order.experiment.name} with profile {order.profile_name}"
        others = [f"{each.run.name} differs in {', '.join(each.differences)}" for each in known]
        notes = [f"nothing to resume: no unfinished run of {wanted}", *others, "a new one begins"]
        tell("; ".join(notes))
    return found


def unfinished(order: Order, runs: Sequence[Run], tell: Callable[[str], None]) -> list[Unfinished]:
    """The unfinished runs of the same experiment and profile, the newest first.

    One that cannot be read is reported, and left out: nobody can know what was ordered.
    """
    found = []
    for run in runs:
        try:
            if not run.can_go_on or run.is_over:
                continue
            manifest = run.manifest()
        except Unreadable as error:
            tell(f"left out: {error}")
            continue
        if (manifest.experiment, manifest.profile) == (order.experiment.name, order.profile_name):
            found.append(Unfinished(run, manifest, _differences(order, run, manifest)))
    return sorted(found, key=lambda each: each.manifest.started, reverse=True)


def _differences(order: Order, run: Run, manifest: Manifest) -> tuple[str, ...]:
    # Of a complete one only the blocks that the stop rule asked for are in the plan.
    planned = order.plan[: len(manifest.plan)] if manifest.status == "complete" else order.plan
    text, file = order.experiment_text.encode(), run.experiment_file
    differs = {
        "the experiment's file": not file.is_file() or file.read_bytes() != text,
        "the claims' file": manifest.claims_sha256 != order.claims_sha256,
        "the cells": manifest.plan != planned,
        "what is attached": manifest.attached != dict(order.attached),
    }
    return tuple(name for name, is_other in differs.items() if is_other)


def go_on(order: Order, run: Run, note: Callable[[str], None]) -> Manifest:
    """Keep what is measured, and note the interruption. A block in flight is measured anew.

    Returns the manifest: it goes on with the whole plan, of which a complete run has only the
    blocks that it needed, and without the last file of its presentation, which would pass for one
    of the finished run. Before anything is changed: EnvironmentProblem where the machine or what is
    measured is another, Unreadable where a file of the run is not as it was written.
    """
    # What was written and read again has lists where there were tuples.
    now = json.loads(json.dumps(begin.surroundings()))
    then, manifest, earlier = run.machine(), run.manifest(), run.interruptions()
    run.proofs()
    if changed := machine.changed(then, now):
        raise EnvironmentProblem(
            f"{run.name} cannot go on, for {'; '.join(changed)}: have it as it was, or begin a new "
            "run (without --resume, RESUME=)"
        )
    for path, text in begin.bodies(order, run).items():
        if not path.exists() or path.read_bytes() != text.encode():
            raise Unreadable(
                f"{path}: not what {run.name} began with: restore it from a copy, or begin a new "
                "run (without --resume, RESUME=)"
            )
    noted = _interruption(run, manifest)
    anew = f"; in flight then and measured anew: {', '.join(noted.lost)}" if noted.lost else ""
    note(
        f"going on with {run.name}, {noted.how} at {noted.ended}: {noted.kept} of "
        f"{len(order.plan)} are measured{anew}"
    )
    lines = [each.model_dump_json() for each in (*earlier, noted)]
    write_text(run.interruptions_file, "\n".join(lines) + "\n")
    run.report.unlink(missing_ok=True)
    again = {"status": "running", "finished": None, "plan": order.plan}
    going_on = manifest.model_copy(update=again)
    write_model(run.manifest_file, going_on)
    return going_on


def _interruption(run: Run, manifest: Manifest) -> Interruption:
    commit, dirty = machine.git_commit()
    blocks = run.trials.blocks()
    finished = {each.block for each in blocks if each.finished}
    last_written_s = max(path.stat().st_mtime for path in run.path.rglob("*"))
    last_written = datetime.fromtimestamp(last_written_s).astimezone()
    return Interruption(
        how=_HOW[manifest.status],
        ended=manifest.finished or last_written.isoformat(timespec="seconds"),
        resumed=clock.now_text(),
        kept=sum(each.block in finished for each in manifest.plan),
        lost=tuple(f"block {each.block}" for each in blocks if not each.finished),
        git_commit=commit,
        git_dirty=dirty,
    )


def order_to_extend(run: Run, minutes: float) -> Order:
    """At least one block more, and others while a claim is undecided and there is time; each as
    long as those it has. BadConfiguration of a run that has none."""
    manifest = run.manifest()
    if manifest.builds:
        raise BadConfiguration(
            f"{run.path}: its builds are gone; 'restbench ab --minutes N' makes a longer run"
        )
    took_s = [each.seconds for each in run.trials.blocks() if each.seconds is not None]
    if not took_s:
        raise BadConfiguration(
            f"{run.path}: has no finished block: 'restbench run {manifest.experiment} --resume' "
            "goes on with it"
        )
    loaded = experiment.load(run.experiment_file)
    # Times are in whole seconds: a block of tiny kernels that says one has taken up to two.
    block_minutes = max(2.0, sum(took_s) / len(took_s)) / 60
    total_minutes = sum(took_s) / 60 + minutes
    profile = loaded.profile(manifest.profile)
    if total_minutes >= LONG_MINUTES:
        profile = profile.lasting(total_minutes)
    longer = {
        "minutes": total_minutes,
        "block_minutes": block_minutes,
        "blocks": len(took_s) + 1,
        "blocks_max": len(took_s) + max(1, int(minutes / block_minutes)),
    }
    profile = profile.model_copy(update=longer)
    cells = {each.cell for each in manifest.plan}
    claims = run.claims_file
    return Order(
        experiment=loaded,
        experiment_text=run.experiment_file.read_text(encoding="utf-8"),
        profile_name=manifest.profile,
        profile=profile,
        plan=tuple(each for each in plan.plan(loaded, profile, Where()) if each.cell in cells),
        command=manifest.command,
        claims_text=claims.read_text(encoding="utf-8") if claims.exists() else None,
        attached=cast(dict[ServiceName, str], dict(manifest.attached)),
    )
