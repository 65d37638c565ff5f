"""Which run goes on: one that ended too early, or a finished one that gets more blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from restbench.experiment import experiment
from restbench.experiment.cell import ServiceName
from restbench.experiment.order import Order, plan
from restbench.experiment.profile import LONG_MINUTES
from restbench.experiment.records import Manifest
from restbench.experiment.selection import Where
from restbench.failures import BadConfiguration, Unreadable
from restbench.store.store import Run

#: The least duration of a block of an extended run.
LEAST_BLOCK_S = 5.0


def to_go_on_with(order: Order, runs: Sequence[Run], tell: Callable[[str], None]) -> Run | None:
    """The newest unfinished run that was ordered in exactly this way; None where there is none, and
    `tell` gets a line that says so."""
    known = unfinished(order, runs, tell)
    found = next((run for run, differences in known.items() if not differences), None)
    if found is None:
        wanted = f"{order.experiment.name} with profile {order.profile_name}"
        others = [f"{run.name} differs in {', '.join(each)}" for run, each in known.items()]
        notes = [f"nothing to resume: no unfinished run of {wanted}", *others, "a new run begins"]
        tell("; ".join(notes))
    return found


def unfinished(
    order: Order, runs: Sequence[Run], tell: Callable[[str], None]
) -> dict[Run, tuple[str, ...]]:
    """The unfinished runs of the same experiment and profile, the newest first, each with what was
    ordered differently. A run that cannot be read is reported and left out: that is not known."""
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
            found.append((manifest.started, run, _differences(order, run, manifest)))
    found.sort(key=lambda each: each[0], reverse=True)
    return {run: differences for _, run, differences in found}


def _differences(order: Order, run: Run, manifest: Manifest) -> tuple[str, ...]:
    # The plan of a complete run has only the blocks that the stop rule asked for.
    planned = order.plan[: len(manifest.plan)] if manifest.status == "complete" else order.plan
    text, file = order.experiment_text.encode(), run.experiment_file
    differs = {
        "the experiment's file": not file.is_file() or file.read_bytes() != text,
        "the claims' file": manifest.claims_sha256 != order.claims_sha256,
        "the cells or the minutes": manifest.plan != planned,
        "the attached services": manifest.attached != dict(order.attached),
    }
    return tuple(name for name, is_other in differs.items() if is_other)


def order_to_extend(run: Run, minutes: float) -> Order:
    """The order that extends a run: at least one block more, and others while a claim is undecided
    and there is time, each as long as the run's blocks on average. Raises BadConfiguration where
    the run has no finished block, or compares builds."""
    manifest = run.manifest()
    if manifest.builds:
        raise BadConfiguration(
            f"{run.path}: its builds no longer exist; 'restbench ab --minutes N' makes a longer run"
        )
    took_s = [each.seconds for each in run.trials.blocks() if each.seconds is not None]
    if not took_s:
        raise BadConfiguration(
            f"{run.path}: has no finished block: '{manifest.command} --resume' continues it"
        )
    loaded = experiment.load(run.experiment_file, run.cores_allowed())
    # A block of tiny kernels mostly starts programs, which takes a time that varies by seconds.
    block_minutes = max(LEAST_BLOCK_S, sum(took_s) / len(took_s)) / 60
    total_minutes = sum(took_s) / 60 + max(minutes, max(took_s) / 60)
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
        plan=tuple(each for each in plan(loaded, profile, Where()) if each.cell in cells),
        command=manifest.command,
        claims_text=claims.read_text(encoding="utf-8") if claims.exists() else None,
        attached=cast(dict[ServiceName, str], dict(manifest.attached)),
    )
