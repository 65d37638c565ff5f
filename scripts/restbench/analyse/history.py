"""What a page tells of a cell beside its numbers: its course over time, and its commands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from restbench.analyse.measures import Row
from restbench.analyse.timeline import Timeline
from restbench.store.store import Run


@dataclass(frozen=True)
class Commands:
    """How service, load and collectors of a cell were started in one of its blocks."""

    block: int
    lines: dict[str, str]


def over_time(rows: Sequence[Row]) -> dict[str, list[Timeline]]:
    """The measurements of each cell over time, by the cell's id, in the order of the blocks."""
    lines = {row.cell.id: [each.timeline for each in row.measured if each.timeline] for row in rows}
    return {cell: sorted(each, key=lambda line: line.block) for cell, each in lines.items() if each}


def commands(raw: Run) -> dict[str, Commands]:
    """The command lines of each cell's first block, by the cell's id."""
    found: dict[str, Commands] = {}
    for record, _ in raw.cell_runs():
        if record.commands:
            lines = _from_the_checkout(record.commands)
            found.setdefault(record.cell.id, Commands(record.block, lines))
    return found


def _from_the_checkout(commands: dict[str, str]) -> dict[str, str]:
    """Paths as they are from the checkout: where it lay is of no use to others, and a page is the
    same wherever it is made."""
    checkout = re.search(r"(?:^|\s)(/\S*/)jmeter-plans/", " ".join(commands.values()))
    prefix = checkout.group(1) if checkout else ""
    return {name: line.replace(prefix, "") if prefix else line for name, line in commands.items()}
