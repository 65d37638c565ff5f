"""`doctor`: what on this machine makes measurements worse."""

from __future__ import annotations

from rich.table import Table

from restbench.commands.options import console
from restbench.machine import doctor


def examine_machine() -> None:
    """Show what distorts measurements here, and the fix."""
    table = Table("What", "Found", "", "Effect", "Fix", title="This machine", title_justify="left")
    for finding in doctor.examine(doctor.Machine()):
        worse = finding.state == "worse"
        effect, mend = (finding.effect, finding.mend) if worse else ("", "")
        table.add_row(finding.name, finding.value, finding.state, effect, mend)
    console.print(table)
