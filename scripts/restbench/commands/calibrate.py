"""`calibrate`: can the measuring chain itself be trusted on this machine?"""

from __future__ import annotations

import time

from rich.table import Table

from restbench.calibrate.calibrate import calibrate
from restbench.commands.options import console
from restbench.experiment.records import Calibration
from restbench.machine.machine import identity
from restbench.show.progress import duration
from restbench.store.machine_findings import keep


def calibrate_machine() -> None:
    """Check the measuring chain itself; about 6 minutes."""
    begun = time.monotonic()
    made = calibrate(lambda line: console.print(f"check  {line}", soft_wrap=True))
    kept = keep(made)
    console.print(_table(made))
    for each in made.checks:
        if each.follows:
            console.print(f"effect {each.name}: {each.follows}", soft_wrap=True)
    console.print(f"kept   {kept}", soft_wrap=True)
    console.print(f"done in {duration(time.monotonic() - begun)}")


def _table(made: Calibration) -> Table:
    known = ", ".join(f"{name} {_short(value)}" for name, value in identity(made.machine).items())
    title = f"Calibration of {made.made} ({known})"
    table = Table("Check", "", "Measured", "Limit", title=title, title_justify="left")
    for each in made.checks:
        state = "passed" if each.passed else "FAILED"
        table.add_row(each.name, state, each.measured, each.limit)
    return table


def _short(value: str | float) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
