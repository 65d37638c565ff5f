"""What both kinds of `run` share: a folder for the raw data, and what is said when it ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from restbench import clock, store
from restbench.commands.options import console
from restbench.failures import Interrupted
from restbench.store import Run


def new_run(experiment: str, profile: str) -> Run:
    """The folder of a run that begins now, named by its time."""
    stamp = clock.now().strftime("%Y-%m-%dT%H-%M-%S")
    return store.create_run(f"{stamp}-{experiment}-{profile}")


@contextmanager
def kept(run: Run) -> Iterator[None]:
    """However the run ends, it is `latest`; who interrupts it is told where it lies."""
    console.print(f"raw data: {run.path}", soft_wrap=True)
    try:
        yield
    except Interrupted as stop:
        if not run.manifest_file.exists():
            raise
        raise Interrupted(
            f"{stop}; what was measured is kept: 'restbench report latest' shows it"
        ) from stop
    finally:
        if run.manifest_file.exists():
            store.point_latest_to(run)
