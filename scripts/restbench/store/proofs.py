"""The proofs of a run: one a service, strategy and placement, however often each was looked at."""

from __future__ import annotations

from restbench.experiment.records import Proof
from restbench.store.store import Run
from restbench.store.writing import write_json


def keep(run: Run, proven: Proof) -> None:
    """Write it beside the others: of several looks (a block, an attempt, a run that went on) the
    first that denies it, else the last."""
    kept = {(each.service, each.strategy, each.placement): each for each in run.proofs()}
    known = kept.get((proven.service, proven.strategy, proven.placement))
    if known is None or known.does is not False:
        kept[proven.service, proven.strategy, proven.placement] = proven
    write_json(run.proofs_file, [each.model_dump() for each in kept.values()])
