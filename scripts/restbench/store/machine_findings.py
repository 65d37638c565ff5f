"""Calibrations and microbenchmarks of a machine ("findings"). A run on that machine quotes the
newest one of each kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from restbench.experiment.columns import readable
from restbench.experiment.records import MachineFinding
from restbench.failures import Unreadable
from restbench.machine import machine
from restbench.machine.machine import Identity
from restbench.store import store, writing
from restbench.store.store import Run

Finding = TypeVar("Finding", bound=MachineFinding)
Note = Callable[[str], None]
"""Receives a line on a finding that was left out or differs, and why."""


def newest_for(kind: type[Finding], identity: Identity, folder: Path, note: Note) -> Finding | None:
    """The newest finding of this kind for the machine with this identity (`machine.identity`).

    None where there is none. A file in the folder that cannot be read is left out with a note: it
    must not stop a run, whose measurements would be lost. Findings of other machines are not used;
    where there are no others, a note says in what the newest one differs.
    """
    made: list[Finding] = []
    for path in sorted(folder.glob("*.json")):
        try:
            made.append(store.read_model(path, kind))
        except Unreadable as error:
            note(f"left out: {error}")
    made.sort(key=lambda each: datetime.fromisoformat(each.made))
    fitting = [each for each in made if not machine.identity_differences(each.machine, identity)]
    if made and not fitting:
        newest = made[-1]
        names = machine.identity_differences(newest.machine, identity)
        differs = _differences(names, newest.machine, identity)
        what = f"the {kind.__name__.lower()} of {newest.made}"
        note(f"refused: {what} comes from another machine ({differs})")
    return fitting[-1] if fitting else None


def adopt(kind: type[Finding], run: Run, copy: Path, folder: Path, note: Note) -> None:
    """Copy the newest finding of the run's machine to the path `copy` in the run's folder.

    An existing copy is left as it is: what a run is judged by does not change afterwards.
    """
    if copy.exists() or not run.machine_file.exists():
        return
    newest = newest_for(kind, machine.identity(run.machine()), folder, note)
    if newest is None:
        return
    writing.write_model(copy, newest)
    here = machine.made_with(run.machine())
    others = [name for name, value in here.items() if newest.machine.get(name, value) != value]
    if differs := _differences(others, newest.machine, here):
        note(f"the {kind.__name__.lower()} of {newest.made} was made with {differs}")


def _differences(names: Iterable[str], there: Identity, here: Identity) -> str:
    reported = (
        f"{each.replace('_', ' ')} {readable(there.get(each)) or 'unknown'}, "
        f"here {readable(here.get(each))}"
        for each in names
    )
    return "; ".join(reported)


def keep(found: MachineFinding, folder: Path = store.CALIBRATIONS) -> Path:
    """Write a finding to a file that is named by the time it was made; returns the file."""
    path = folder / f"{found.made[:19].replace(':', '-')}.json"
    writing.write_model(path, found)
    return path
