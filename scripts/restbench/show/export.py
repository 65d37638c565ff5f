"""`run.json`: everything that was found in a run, in one file (`store.exported`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from restbench.analyse import course
from restbench.analyse.exported import block_entries, cell_entry
from restbench.analyse.measures import Row
from restbench.judge import study
from restbench.judge.claims import Decision
from restbench.store import exported
from restbench.store.exported import (
    ClaimEntry,
    ExperimentEntry,
    Exported,
    MachineEntry,
    ManifestEntry,
    SpeedEntry,
    VersionsEntry,
)
from restbench.store.store import Run
from restbench.store.trials import Block

#: What of a machine's description is a version of something.
VERSIONS = (
    "java",
    "java_program",
    "java_flags",
    "python",
    "blas_kernel",
    "sysstat",
    "packages",
    "jmeter",
    "measured",
    "settings",
)


def write(run: Run, rows: Sequence[Row], note: Callable[[str], None]) -> Path:
    """Write a run's `run.json` from its trials; returns the file. `note` is told what was left
    out."""
    exported.write(run.exported_file, _exported(run, rows, note))
    return run.exported_file


def _exported(run: Run, rows: Sequence[Row], note: Callable[[str], None]) -> Exported:
    blocks = run.trials.blocks()
    return Exported(
        form=exported.FORM,
        run=run.name,
        experiment=_experiment(run),
        manifest=_manifest(run, blocks),
        machine=_machine(run.machine(), blocks),
        versions=VersionsEntry.model_validate(
            {name: value for name, value in run.machine().items() if name in VERSIONS}
        ),
        claims=tuple(_claim(each) for each in study.decisions(run, rows)),
        cells=tuple(map(cell_entry, rows)),
        blocks=tuple(block_entries(rows)),
        series=tuple(course.of_run(run, note)),
        proofs=tuple(run.proofs()),
    )


def _claim(decision: Decision) -> ClaimEntry:
    return ClaimEntry(
        id=decision.id,
        text=decision.text,
        verdict=decision.verdict,
        headline=decision.headline,
        why=decision.why,
        cells=decision.cells,
    )


def _experiment(run: Run) -> ExperimentEntry:
    manifest = run.manifest()
    has_claims = run.claims_file.exists()
    return ExperimentEntry(
        name=manifest.experiment,
        title=manifest.title,
        profile=manifest.profile,
        toml=run.experiment_file.read_text(encoding="utf-8"),
        claims_toml=run.claims_file.read_text(encoding="utf-8") if has_claims else None,
        claims_sha256=manifest.claims_sha256,
    )


def _manifest(run: Run, blocks: Sequence[Block]) -> ManifestEntry:
    manifest = run.manifest()
    return ManifestEntry(
        command=manifest.command,
        git_commit=manifest.git_commit,
        git_dirty=manifest.git_dirty,
        seed=manifest.seed,
        status=manifest.status,
        started=manifest.started,
        finished=manifest.finished,
        minutes=round(sum(each.seconds or 0.0 for each in blocks) / 60, 2),
        interruptions=len(run.interruptions()),
        attached=manifest.attached,
        builds=manifest.builds,
    )


def _machine(described: dict[str, Any], blocks: Sequence[Block]) -> MachineEntry:
    told = {name: value for name, value in described.items() if name not in VERSIONS}
    speeds = [
        SpeedEntry(block=each.block, **each.facts["speed"])
        for each in blocks
        if "speed" in each.facts
    ]
    return MachineEntry.model_validate(told | {"speed": speeds})
