"""Where a page's numbers come from: what must be known to run it again, and the files behind it."""

from __future__ import annotations

import os
from pathlib import Path

from restbench.analyse.measures import Row
from restbench.experiment.records import Interruption, Manifest
from restbench.machine import machine, phases
from restbench.store.spending import together
from restbench.store.store import Run

Link = tuple[str, str]
"""What a link is called, and where it leads, relative to the run's folder."""


def facts(run: Run, manifest: Manifest) -> dict[str, str]:
    """Everything needed to run it again, as name → text."""
    told = {
        "Command": manifest.command,
        "Measured with": _commit(manifest.git_commit, manifest.git_dirty),
        "Analysed with": _commit(*machine.git_commit()),
        "Seed": f"{manifest.seed}: the operands and the order of the cells come from it",
        "Started": manifest.started,
        "Finished": manifest.finished or "not finished",
        "Claims file": f"sha256 {manifest.claims_sha256}" if manifest.claims_sha256 else "none",
    }
    told |= {"Stopped": manifest.stopped} if manifest.stopped else {}
    told |= {"Time went to": phases.told(spent)} if (spent := together(run.spent())) else {}
    told |= {"Interrupted": "; ".join(map(_interruption, run.interruptions())) or "never"}
    told |= {f"Build {name}": str(build) for name, build in manifest.builds.items()}
    told |= {f"Service of others: {name}": url for name, url in manifest.attached.items()}
    if run.machine_file.exists():
        described = run.machine()
        told |= {_heading(name): _plain(value) for name, value in described.items()}
    return told


def _interruption(each: Interruption) -> str:
    anew = f", {len(each.lost)} measured anew" if each.lost else ""
    return (
        f"{each.how} at {each.ended}, gone on at {each.resumed} with {each.kept} measured{anew} "
        f"({_commit(each.git_commit, each.git_dirty)})"
    )


def _commit(commit: str, dirty: bool | None) -> str:
    if dirty is None:
        return "commit unknown: neither git nor a checkout was there"
    return f"git commit {commit}{' with local changes' if dirty else ''}"


def files(run: Run) -> list[Link]:
    """The files of the whole run that lie beside the page."""
    made = (
        run.test_matrix_csv,
        run.test_matrix_markdown,
        run.regret_csv,
        run.regret_markdown,
        run.builds_markdown,
    )
    return [(link, link) for path in (*run.identity_files(), *made) if (link := link_to(run, path))]


def of_cell(run: Run, row: Row) -> list[Link]:
    """What there is on disk about a cell: its dashboard and the raw files of its long window."""
    known = {
        "dashboard": run.dashboard(row.cell.id) / "index.html",
        "long window": run.window(row.cell.id).path,
    }
    return [(name, link) for name, path in known.items() if (link := link_to(run, path))]


def link_to(run: Run, path: Path) -> str:
    """The file's place relative to the page; empty where there is no such file."""
    return Path(os.path.relpath(path, run.path)).as_posix() if path.exists() else ""


def _heading(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {version}" for name, version in value.items()) or "none"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
