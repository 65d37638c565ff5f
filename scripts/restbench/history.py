"""What a run's raw data tell that its rows do not: each cell's course over time, its commands."""

from __future__ import annotations

from restbench import timeline
from restbench.records import CellRun
from restbench.store import Run
from restbench.timeline import Timeline


def over_time(raw: Run) -> dict[str, list[Timeline]]:
    """The measurements of each cell over time, by the cell's id, in the order of the blocks."""
    found: dict[str, list[Timeline]] = {}
    for record, folder in raw.cell_runs():
        if told := timeline.of(record, folder):
            found.setdefault(record.cell.id, []).append(told)
    return {cell: sorted(blocks, key=lambda each: each.block) for cell, blocks in found.items()}


def commands(raw: Run) -> dict[str, CellRun]:
    """The first record of each cell that tells how service and load were started."""
    found: dict[str, CellRun] = {}
    for record, _ in raw.cell_runs():
        if record.commands:
            found.setdefault(record.cell.id, record)
    return found
