"""What both kinds of `run` share: a folder for the raw data, and what is said when it ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from restbench import clock, resuming, run_lock, storage, store, watch
from restbench.begin import Ordered
from restbench.commands.options import console
from restbench.failures import Interrupted, StorageProblem
from restbench.folders import BEGUN
from restbench.store import Run


def run_for(order: Ordered, claims_text: str | None, *, resume: bool) -> Run:
    """The run to go on with, if that is asked for and there is one; else a new one."""
    watch.begin()  # before there is a folder that may have to go again
    return (_unfinished(order, claims_text) if resume else None) or _new_run(order)


def _unfinished(order: Ordered, claims_text: str | None) -> Run | None:
    """The newest one that was ordered in just this way; without one the user is told."""
    known = resuming.unfinished(order, claims_text, store.runs())
    found = next((each.run for each in known if not each.differences), None)
    if found is None:
        wanted = f"{order.experiment.name} with profile {order.profile_name}"
        others = [f"{each.run.name} differs in {', '.join(each.differences)}" for each in known]
        told = [f"nothing to resume: no unfinished run of {wanted}", *others, "a new one begins"]
        console.print(f"note   {'; '.join(told)}", markup=False, soft_wrap=True)
        return None
    resuming.require_same_surroundings(found)
    return found


def _new_run(order: Ordered) -> Run:
    """The folder of a run that begins now, named by its time."""
    stamp = clock.now().strftime("%Y-%m-%dT%H-%M-%S")
    return store.create_run(f"{stamp}-{order.experiment.name}-{order.profile_name}")


@contextmanager
def kept(run: Run) -> Iterator[None]:
    """Nobody else goes on with it meanwhile; who interrupts it is told where it lies. Killed before
    it has begun it leaves no folder."""
    with run_lock.held(run) as is_held, _followed(run):
        if not is_held:
            console.print("note   no locks on this file system: resume no run that still goes on")
        yield


@contextmanager
def _followed(run: Run) -> Iterator[None]:
    if not run.manifest_file.exists():  # one that goes on is never ours to take away
        watch.unless(run.path, *BEGUN)
    watch.tidy(run.path)
    watch.remove(storage.temporary(store.latest(run)))
    console.print(f"raw data: {run.path}", soft_wrap=True)
    try:
        yield
    except (Interrupted, StorageProblem) as stop:
        if not run.manifest_file.exists():
            raise
        raise type(stop)(
            f"{stop}; what was measured is kept: 'restbench report latest' shows it, --resume "
            "(make bench RESUME=1) goes on with it"
        ) from stop
