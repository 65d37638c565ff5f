"""What a run that goes on must keep: each measured cell to the byte; one cell at most is lost."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from chaos_checks import require

from restbench.store.store import Run


@dataclass(frozen=True)
class Kept:
    """What lay in a folder of runs when a harness had ended."""

    begun: bool
    """Whether there was a run."""
    cells: int
    """How many cells had their record."""
    files: dict[Path, str]
    """The SHA-256 of every file of those cells."""
    interruptions: int
    """How many of them the run had noted."""


def look(results: Path) -> Kept:
    """As it is now. What has no record yet is not looked at."""
    runs = [Run(each.parent) for each in results.glob("*/manifest.json")]
    runs = [each for each in runs if not each.path.is_symlink()]
    records = [record for run in runs for record in run.path.glob("raw/*/*/cell.json")]
    files = [path for record in records for path in record.parent.iterdir()]
    return Kept(
        begun=bool(runs),
        cells=len(records),
        files={path: hashlib.sha256(path.read_bytes()).hexdigest() for path in files},
        interruptions=sum(len(run.interruptions()) for run in runs),
    )


def check_kept(before: Kept, run: Run, *, went_on: bool) -> None:
    """Of what was measured before an attempt nothing is lost or changed after it, and the attempt
    noted what it found. `went_on`: it got so far that it must have noted it."""
    after = look(run.path.parent)
    changed = [path for path, digest in before.files.items() if after.files.get(path) != digest]
    require(not changed, f"measured before, and lost or changed: {sorted(changed)}")
    noted = run.interruptions()[before.interruptions :]
    wanted = (1,) if went_on and before.begun else (0, 1) if before.begun else (0,)
    require(len(noted) in wanted, f"{len(noted)} interruptions noted of one attempt")
    for each in noted:
        require(len(each.lost) <= 1, f"more than the cell in flight was lost: {each.lost}")
        told = f"{each.kept} cells are said to be kept of {before.cells}"
        require(each.kept == before.cells, told)
