"""What a run's raw data tell that its rows do not: each cell's course over time, its commands."""

from __future__ import annotations

import re
from dataclasses import dataclass

from restbench import timeline
from restbench.store import Run
from restbench.timeline import Timeline


@dataclass(frozen=True)
class Commands:
    """How service, load and collectors of a cell were started in one of its blocks."""

    block: int
    lines: dict[str, str]


def over_time(raw: Run) -> dict[str, list[Timeline]]:
    """The measurements of each cell over time, by the cell's id, in the order of the blocks."""
    found: dict[str, list[Timeline]] = {}
    for record, folder in raw.cell_runs():
        if told := timeline.of(record, folder):
            found.setdefault(record.cell.id, []).append(told)
    return {cell: sorted(blocks, key=lambda each: each.block) for cell, blocks in found.items()}


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
