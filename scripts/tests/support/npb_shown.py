"""Made-up measurements of NPB cells as `restbench report` has them."""

from __future__ import annotations

from pathlib import Path

from npb_rows import SHIPPED, cell, row_of, trial

from restbench.analyse.exported import block_entries, cell_entry
from restbench.analyse.measures import Row
from restbench.judge import claims
from restbench.show import export, views
from restbench.show.findings import Findings
from restbench.store.exported import (
    ExperimentEntry,
    MachineEntry,
    ManifestEntry,
    RunExport,
    VersionsEntry,
)
from restbench.store.store import Run

MACHINE = {"processor": "A", "cores_online": 2, "memory_mib": 1024, "system": "B", "kernel": "6"}
CLAIMS = SHIPPED.parent / "claims" / "npb.toml"


def exported_of(rows: list[Row]) -> RunExport:
    """A run's file with these rows."""
    return RunExport(
        form=1,
        run="made-up",
        experiment=ExperimentEntry(
            name="npb",
            title="Kernels",
            profile="quick",
            toml=SHIPPED.read_text(),
            claims_toml=CLAIMS.read_text(),
        ),
        manifest=ManifestEntry(
            command="",
            git_commit="",
            git_dirty=False,
            seed=1,
            status="complete",
            started="",
            minutes=20,
        ),
        machine=MachineEntry.model_validate(MACHINE),
        versions=VersionsEntry(java="17", python="3.11"),
        claims=(),
        cells=tuple(map(cell_entry, rows)),
        blocks=tuple(block_entries(rows)),
        series=(),
        proofs=(),
    )


def shown(rows: list[Row], folder: Path = Path("made-up")) -> Findings:
    """As `restbench report` has them."""
    told = exported_of(rows)
    answered = told.model_copy(
        update={
            "claims": tuple(map(export.claim, claims.decisions_of(told))),
            "answer": views.answer_of(told),
        }
    )
    return views.drawn(answered, Run(folder))


def scaled(service: str, strategy: str, seconds: dict[int, float]) -> list[Row]:
    cells = {cores: cell(f"CG-A-on-{cores}", service, strategy) for cores in seconds}
    return [
        row_of(each, [trial(each, n, [9.0, seconds[cores]], []) for n in (1, 2)])
        for cores, each in cells.items()
    ]
