"""What a run that goes on must keep: each finished block to the byte; one block at most is lost."""

from __future__ import annotations

import hashlib
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from chaos_checks import require

from restbench.store.store import Run


@dataclass(frozen=True)
class Kept:
    """What lay in a folder of runs when a harness had ended."""

    begun: bool
    """Whether there was a run."""
    measured: int
    """How many cells of finished blocks there were."""
    blocks: dict[int, str]
    """The SHA-256 of every trial of each finished block."""
    interruptions: int
    """How many of them the run had noted."""


def look(results: Path) -> Kept:
    """As it is now. A block that is not finished is not looked at."""
    runs = [Run(each.parent) for each in results.glob("*/manifest.json")]
    runs = [each for each in runs if not each.path.is_symlink()]
    finished = [(run, each.block) for run in runs for each in run.trials.blocks() if each.finished]
    planned = [each for run in runs for each in run.manifest().plan]
    return Kept(
        begun=bool(runs),
        measured=sum(each.block in {block for _, block in finished} for each in planned),
        blocks={block: _digest(run.trials.path, block) for run, block in finished},
        interruptions=sum(len(run.interruptions()) for run in runs),
    )


def _digest(path: Path, block: int) -> str:
    with sqlite3.connect(path) as file:
        rows = file.execute("SELECT * FROM trials WHERE block = ? ORDER BY id", (block,)).fetchall()
    return hashlib.sha256(repr([row[1:] for row in rows]).encode()).hexdigest()


def check_kept(before: Kept, run: Run, *, went_on: bool) -> None:
    """Of what was measured before an attempt nothing is lost or changed after it, and the attempt
    noted what it found. `went_on`: it got so far that it must have noted it."""
    after = look(run.path.parent)
    changed = [
        block for block, digest in before.blocks.items() if after.blocks.get(block) != digest
    ]
    require(not changed, f"measured before, and lost or changed: blocks {sorted(changed)}")
    noted = run.interruptions()[before.interruptions :]
    wanted = (1,) if went_on and before.begun else (0, 1) if before.begun else (0,)
    require(len(noted) in wanted, f"{len(noted)} interruptions noted of one attempt")
    for each in noted:
        require(len(each.lost) <= 1, f"more than the block in flight was lost: {each.lost}")
        told = f"{each.kept} measurements are said to be kept of {before.measured}"
        require(each.kept == before.measured, told)
