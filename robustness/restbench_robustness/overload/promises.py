"""Promises, what was seen, and whether each promise held: the result of every scenario."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field

from rich.table import Column, Table
from rich.text import Text

from restbench import ROOT
from restbench.experiment.cell import Front


@dataclass(frozen=True)
class Promise:
    """One promise with its bound, what was seen, and whether it held."""

    what: str
    bound: str
    seen: str
    held: bool

    def __str__(self) -> str:
        """One line for the list of broken promises."""
        return f"{self.what}: {self.bound}, seen {self.seen}"


@dataclass
class Findings:
    """The promises of one scenario, in the order in which they were checked."""

    subject: str
    promises: list[Promise] = field(default_factory=list)

    def judge(self, what: str, bound: str, seen: str, held: bool) -> None:
        """Record one promise."""
        self.promises.append(Promise(what, bound, seen, held))

    def within(self, what: str, seconds: float | None, bound_s: float) -> None:
        """Record a promise about a time; `seconds` is None where the event did not happen."""
        seen = "not within the time it was watched" if seconds is None else f"{seconds:.1f} s"
        held = seconds is not None and seconds <= bound_s
        self.judge(what, f"within {bound_s:.0f} s", seen, held)

    def at_most(self, what: str, seen: int, bound: int) -> None:
        """Record a promise about a maximum."""
        self.judge(what, f"at most {bound}", str(seen), seen <= bound)


def broken(promises: Iterable[Promise], front: Front) -> list[Promise]:
    """The promises that are not as expected.

    A promise that contract/deviations.toml lists for the front must fail, with the listed answer as
    what was seen; any other must hold.
    """
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
    """A table for the console, one row per promise."""
    columns = (Column(heading, overflow="fold") for heading in ("Promise", "Bound", "Seen", "Held"))
    shown = Table(*columns, title=Text(findings.subject, style="bold"), title_justify="left")
    for it in findings.promises:
        held = Text("yes", style="green") if it.held else Text("NO", style="bold red")
        shown.add_row(Text(it.what), Text(it.bound), Text(it.seen), held)
    return shown
