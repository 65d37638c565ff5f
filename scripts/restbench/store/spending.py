"""Keeps with a run what its time went to: `phases.jsonl`, a line for each process that measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

from restbench.experiment.records import Spent
from restbench.failures import StorageProblem
from restbench.machine import clock, phases
from restbench.store.store import Run
from restbench.store.writing import write_text


@contextmanager
def noted(run: Run) -> Iterator[Callable[[], None]]:
    """The block works on the run. What its time went to so far is noted when it is asked for, and
    when the block is interrupted; nothing where no account is kept."""
    earlier = run.spent()

    def note() -> None:
        if account := phases.current():
            now = Spent(ended=clock.now_text(), seconds=account.seconds())
            lines = [each.model_dump_json() for each in (*earlier, now)]
            write_text(run.phases_file, "\n".join(lines) + "\n")

    try:
        yield note
    except BaseException:
        if run.manifest_file.exists():
            with suppress(StorageProblem):  # of a full disk there is worse to say
                note()
        raise


def together(spent: Iterable[Spent]) -> dict[str, float]:
    """Seconds by phase of all processes that measured."""
    total: dict[str, float] = {}
    for each in spent:
        for phase, seconds in each.seconds.items():
            total[phase] = total.get(phase, 0.0) + seconds
    return total
