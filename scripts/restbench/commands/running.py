"""What `run` and `extend` share: a folder for the raw data, and what is said when it ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from restbench.commands.options import console
from restbench.experiment.order import Order
from restbench.failures import Interrupted, NotAsBegun, StorageProblem
from restbench.machine import clock, storage, watch
from restbench.schedule import resuming
from restbench.store import run_lock, store
from restbench.store.folders import BEGUN
from restbench.store.store import Run


def unfinished(order: Order, *, resume: bool) -> Run | None:
    """The run to go on with, if that is asked for and there is one: the newest that was ordered in
    just this way. Where there is none, a line says so."""
    if not resume:
        return None
    known = resuming.unfinished(order, store.runs(), _note)
    found = next((each.run for each in known if not each.differences), None)
    if found is None:
        wanted = f"{order.experiment.name} with profile {order.profile_name}"
        others = [f"{each.run.name} differs in {', '.join(each.differences)}" for each in known]
        notes = [f"nothing to resume: no unfinished run of {wanted}", *others, "a new one begins"]
        _note("; ".join(notes))
    return found


def begun_now(order: Order) -> Run:
    """The folder of a run that begins now, named by its time. Killed before it has begun it leaves
    no folder."""
    watch.begin()  # before there is a folder that may have to go again
    stamp = clock.now().strftime("%Y-%m-%dT%H-%M-%S")
    begun = store.create_run(f"{stamp}-{order.experiment.name}-{order.profile_name}")
    watch.unless(begun.path, *BEGUN)  # at once: whatever is next may end us
    return begun


def _note(text: str) -> None:
    console.print(f"note   {text}", markup=False, soft_wrap=True)


@contextmanager
def kept(run: Run, *, can_go_on: bool = True) -> Iterator[None]:
    """Nobody else goes on with it meanwhile; an interruption prints where it lies."""
    with run_lock.held(run) as is_held, _followed(run, can_go_on):
        if not is_held:
            _note("no locks on this file system: resume no run that still goes on")
        else:
            watch.sweep(run.path)
        yield


@contextmanager
def _followed(run: Run, can_go_on: bool) -> Iterator[None]:
    watch.tidy(run.path)
    watch.remove(storage.temporary(store.latest(run)))
    console.print(f"raw data: {run.path}", soft_wrap=True)
    try:
        yield
    except (Interrupted, StorageProblem, NotAsBegun) as stop:
        if not run.manifest_file.exists():
            raise
        raise type(stop)(
            f"{stop}; what was measured is kept: 'restbench report latest' shows it"
            + ", --resume (make bench RESUME=1) goes on with it" * can_go_on
        ) from stop
