"""`plan --precision`: how many blocks a precision needs here, and how long they take."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from restbench.commands.options import console
from restbench.experiment import experiment
from restbench.experiment.order import Order
from restbench.failures import BadConfiguration
from restbench.machine import machine
from restbench.schedule import costs, pilot, precision
from restbench.schedule.pilot import Pilot
from restbench.schedule.precision import LEAST_BLOCKS, MOST_BLOCKS, Need
from restbench.show.progress import duration
from restbench.store import store

PrecisionOption = Annotated[
    str,
    typer.Option(
        "--precision", metavar="PERCENT", help="Blocks and time until every cell is within it."
    ),
]
PilotOption = Annotated[
    str,
    typer.Option(
        "--pilot", metavar="RUN", help="The run to plan from; the newest that fits, if not given."
    ),
]
#: How many of the cells that need most are shown.
SHOWN = 10


def show_precision(order: Order, wanted: str, pilot_name: str) -> None:
    """Print what a precision such as `2%` needs; start nothing.

    BadConfiguration where it is no share, or no pilot is there.
    """
    goal = share(wanted)
    known = _pilot(order, pilot_name)
    needs = [
        precision.need(each.cell.id, values, goal)
        for each in order.certain
        if each.block == 1 and len(values := known.values.get(each.cell, ())) >= pilot.LEAST_BLOCKS
    ]
    if not needs:
        raise BadConfiguration(
            f"{known.run.name} has no two blocks of any cell of this plan: choose another --pilot"
        )
    for line in _notes(order, known, needs):
        console.print(line, soft_wrap=True)
    console.print(_table(needs, goal))
    for line in _times(order, known, needs):
        console.print(line, soft_wrap=True)


def goes_on(path: Path) -> str:
    """The experiment's first profile that goes on until a precision is reached; BadConfiguration
    where it has none."""
    profiles = experiment.load(path).profiles
    name = next((name for name, each in profiles.items() if each.precision), None)
    if name is None:
        raise BadConfiguration(f"{path}: no profile has a precision; choose one with --profile")
    return name


def share(text: str) -> float:
    """`2%` or `0.02` as 0.02; BadConfiguration where it is not between 0 and 1."""
    number = text.removesuffix("%")
    try:
        value = float(number) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise BadConfiguration(f"--precision {text}: give a share such as 2%")
    return value


def _pilot(order: Order, name: str) -> Pilot:
    if name:
        return pilot.read(store.open_run(name))
    identity = machine.identity(machine.describe())
    return pilot.read(pilot.newest(order.experiment.name, identity))


def _notes(order: Order, known: Pilot, needs: Sequence[Need]) -> list[str]:
    manifest = known.run.manifest()
    cells = sum(each.block == 1 for each in order.plan)
    notes = [
        f"pilot  {known.run.name} (profile {manifest.profile}): {len(needs)} of {cells} cells "
        f"measured in up to {known.blocks} blocks"
    ]
    if len(needs) < cells:
        notes.append(
            f"note   {cells - len(needs)} cells are not in the pilot: their blocks are unknown, "
            "their time is a rough guess"
        )
    if known.blocks < precision.FEW_BLOCKS:
        notes.append("note   two blocks hardly know a spread: trust the cautious number only")
    if manifest.profile != order.profile_name:
        notes.append(
            "note   the pilot had other windows: longer ones spread less, shorter ones more"
        )
    return notes


def _table(needs: Sequence[Need], goal: float) -> Table:
    title = f"Blocks until a throughput is within {goal:.1%} (95 %), most first"
    table = Table(title=title, title_justify="left")
    table.add_column("Cell", no_wrap=True)
    for heading in ("Spread", "Pilot", "Likely", "Cautious"):
        table.add_column(heading, justify="right")
    for each in precision.hardest_first(needs)[:SHOWN]:
        table.add_row(
            each.cell_id,
            f"{each.spread:.1%}",
            str(each.blocks),
            _blocks(each.likely),
            _blocks(each.cautious),
        )
    return table


def _times(order: Order, known: Pilot, needs: Sequence[Need]) -> list[str]:
    likely = precision.whole([each.likely for each in needs])
    cautious = precision.whole([each.cautious for each in needs])
    return [
        f"all cells precise after {_blocks(likely)} blocks likely, {_blocks(cautious)} cautiously "
        f"({_reached(needs, 'likely')} and {_reached(needs, 'cautious')} of {len(needs)} cells "
        f"within {MOST_BLOCKS} blocks)",
        *(
            f"time   {_duration(order, known, blocks)} for {blocks} blocks of profile "
            f"{order.profile_name}"
            for blocks in sorted({LEAST_BLOCKS, likely or MOST_BLOCKS, cautious or MOST_BLOCKS})
        ),
    ]


def _reached(needs: Sequence[Need], which: str) -> int:
    return sum(getattr(each, which) is not None for each in needs)


def _duration(order: Order, known: Pilot, blocks: int) -> str:
    block = [each for each in order.plan if each.block == 1]
    return duration(costs.run_seconds(block, blocks, order.profile, known.costs))


def _blocks(number: int | None) -> str:
    return f"over {MOST_BLOCKS}" if number is None else str(number)
