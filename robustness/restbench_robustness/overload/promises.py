"""What was promised, what was seen, and whether it held: the end of every scenario."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field

from rich.table import Table
from rich.text import Text

from restbench import ROOT
from restbench.experiment.cell import Front


@dataclass(frozen=True)
class Promise:
    """One promise held against what was seen."""

    what: str
    bound: str
    seen: str
    held: bool

    def __str__(self) -> str:
        """For a line."""
        return f"{self.what}: {self.bound}, seen {self.seen}"


@dataclass
class Findings:
    """The promises of one subject, in the order they were looked at."""

    subject: str
    promises: list[Promise] = field(default_factory=list)

    def judge(self, what: str, bound: str, seen: str, held: bool) -> None:
        """Note one promise."""
        self.promises.append(Promise(what, bound, seen, held))

    def within(self, what: str, seconds: float | None, bound_s: float) -> None:
        """Note a promise about time; `seconds` is None where it had not come to pass at the end."""
        seen = "not within the time it was watched" if seconds is None else f"{seconds:.1f} s"
        held = seconds is not None and seconds <= bound_s
        self.judge(what, f"within {bound_s:.0f} s", seen, held)

    def at_most(self, what: str, seen: int, bound: int) -> None:
        """Note a promise about a peak."""
        self.judge(what, f"at most {bound}", str(seen), seen <= bound)


def broken(promises: Iterable[Promise], front: Front) -> list[Promise]:
    """Those that did not hold, but for what contract/deviations.toml says of the front: there those
    that held, or of which something else was seen."""
    rows = tomllib.loads((ROOT / "contract" / "deviations.toml").read_text())["deviation"]
    listed = {
        it["promise"]: it["answer"] for it in rows if "promise" in it and it["front"] == front
    }

    def is_as_said(promise: Promise) -> bool:
        if promise.what in listed:
            return not promise.held and promise.seen == listed[promise.what]
        return promise.held

    return [promise for promise in promises if not is_as_said(promise)]


def table(findings: Findings) -> Table:
    """For a person: one line a promise."""
    shown = Table(title=Text(findings.subject, style="bold"), title_justify="left")
    for heading in ("Promise", "Bound", "Seen", "Held"):
        shown.add_column(heading, overflow="fold")
    for it in findings.promises:
        held = Text("yes", style="green") if it.held else Text("NO", style="bold red")
        shown.add_row(Text(it.what), Text(it.bound), Text(it.seen), held)
    return shown
