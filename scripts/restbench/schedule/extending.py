"""Going on with a finished run: its own experiment, claims and cells, and more blocks."""

from __future__ import annotations

from typing import cast

from restbench.experiment import experiment, plan
from restbench.experiment.cell import ServiceName
from restbench.experiment.order import Order
from restbench.experiment.profile import LONG_MINUTES
from restbench.experiment.selection import Where
from restbench.failures import BadConfiguration
from restbench.store.store import Run


def order_of(run: Run, minutes: float) -> Order:
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
    # Times are in whole seconds: a block of a tiny kernel can have none.
    block_minutes = max(1.0, sum(took_s) / len(took_s)) / 60
    total_minutes = sum(took_s) / 60 + minutes
    profile = loaded.profile(manifest.profile)
    if total_minutes >= LONG_MINUTES:
        profile = profile.lasting(total_minutes)
    more = max(1, int(minutes / block_minutes))
    longer = {
        "minutes": total_minutes,
        "block_minutes": block_minutes,
        "blocks": len(took_s) + 1,
        "blocks_max": len(took_s) + more,
    }
    profile = profile.model_copy(update=longer)
    cells = {each.cell for each in manifest.plan}
    return Order(
        experiment=loaded,
        experiment_text=run.experiment_file.read_text(encoding="utf-8"),
        profile_name=manifest.profile,
        profile=profile,
        plan=tuple(each for each in plan.plan(loaded, profile, Where()) if each.cell in cells),
        command=manifest.command,
        claims_text=(
            run.claims_file.read_text(encoding="utf-8") if run.claims_file.exists() else None
        ),
        attached=cast(dict[ServiceName, str], dict(manifest.attached)),
    )
