"""`run.json`: everything that was found in a run, in one file (`store.exported`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from restbench.analyse import limits, long_windows, trace
from restbench.analyse.exported import block_entries, cell_entry
from restbench.analyse.measures import Row
from restbench.experiment import experiment
from restbench.judge import study
from restbench.show import answering, quoting
from restbench.store import exported, store
from restbench.store.exported import (
    ExperimentEntry,
    Exported,
    MachineEntry,
    ManifestEntry,
    SpeedEntry,
    StepEntry,
    VersionsEntry,
)
from restbench.store.spending import together
from restbench.store.store import Run
from restbench.store.traces import Traced, TraceEntry
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


def write(run: Run, rows: Sequence[Row], note: Callable[[str], None]) -> Exported:
    """Write a run's `run.json` from its trials; returns it as it is read again, so that what is
    made of it is the same now and later. `note` takes what was left out."""
    found = _exported(run, rows, note)
    answered = found.model_copy(update={"answer": answering.of(found)})
    exported.write(run.exported_file, answered)
    return exported.read(run.exported_file)


def _exported(run: Run, rows: Sequence[Row], note: Callable[[str], None]) -> Exported:
    blocks = run.trials.blocks()
    described = run.machine() if run.machine_file.exists() else {}
    return Exported(
        form=exported.FORM,
        run=run.name,
        experiment=_experiment(run),
        manifest=_manifest(run, blocks),
        machine=_machine(described, blocks),
        versions=VersionsEntry.model_validate(
            {name: value for name, value in described.items() if name in VERSIONS}
        ),
        claims=tuple(map(quoting.claim, study.decisions(run, rows))),
        cells=tuple(map(cell_entry, rows)),
        blocks=tuple(block_entries(rows)),
        steps=tuple(_steps(run, blocks)),
        series=tuple(long_windows.courses(run, note)),
        traces=tuple(_traces(run, blocks)),
        proofs=tuple(run.proofs()),
        calibration=quoting.calibration(run),
        microbench=quoting.microbench(run),
        again=tuple(quoting.again(run.trials.rates())),
        windows=tuple(quoting.windows(run)),
    )


def _steps(run: Run, blocks: Sequence[Block]) -> list[StepEntry]:
    """Of an open load's finished blocks: the walks of others are not over."""
    load = experiment.load(run.experiment_file).open
    if load is None:
        return []
    finished = {each.block for each in blocks if each.finished}
    trials = [each for each in run.trials.trials() if each.block in finished]
    return limits.steps(trials, load.objective)


def _traces(run: Run, blocks: Sequence[Block]) -> list[TraceEntry]:
    """Of finished blocks."""
    finished = {each.block for each in blocks if each.finished}
    known = [
        store.read_record(path, Traced, "measure again")
        for path in sorted(run.traces.glob("*/trace.json"))
    ]
    return [trace.entry(each) for each in known if each.block in finished]


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
        interrupted=tuple(run.interruptions()),
        planned_blocks=max((each.block for each in manifest.plan), default=0),
        spent_s=together(run.spent()),
        attached=manifest.attached,
        builds=manifest.builds,
    )


def _machine(described: dict[str, Any], blocks: Sequence[Block]) -> MachineEntry:
    facts = {name: value for name, value in described.items() if name not in VERSIONS}
    speeds = [
        SpeedEntry(block=each.block, **each.facts["speed"])
        for each in blocks
        if "speed" in each.facts
    ]
    # Which cores the load generator had, as the bottleneck's stations need it.
    given = [each.facts["load_cores"] for each in blocks if "load_cores" in each.facts]
    if given:
        facts["load_cores"] = given[0]
    return MachineEntry.model_validate(facts | {"speed": speeds})
