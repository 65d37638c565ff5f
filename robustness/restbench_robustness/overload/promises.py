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

    subject: str
    what: str
    bound: str
    seen: str
    held: bool


@dataclass
class Findings:
    """The promises of one subject, in the order they were looked at."""

    subject: str
    promises: list[Promise] = field(default_factory=list)

    def judge(self, what: str, bound: str, seen: str, held: bool) -> None:
        """Note one promise."""
        self.promises.append(Promise(self.subject, what, bound, seen, held))

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


def table(promises: Iterable[Promise]) -> Table:
    """For a person: one line a promise, a heading a subject."""
    shown = Table(title="What was promised and what was seen", title_justify="left")
    for heading in ("Promise", "Bound", "Seen", "Held"):
        shown.add_column(heading, overflow="fold")
    subject = ""
    for promise in promises:
        if promise.subject != subject:
            subject = promise.subject
            shown.add_section()
            shown.add_row(Text(subject, style="bold"), "", "", "")
        held = Text("yes", style="green") if promise.held else Text("NO", style="bold red")
        shown.add_row(Text(f"  {promise.what}"), Text(promise.bound), Text(promise.seen), held)
    return shown
