"""Making `run.json`: all results of a run in one file (`store.exported`), with quotations from the
run's other files (`store.quoted`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from restbench.analyse import estimates, limits, long_windows, predecessor, trace
from restbench.analyse.exported import block_entries, cell_entry
from restbench.analyse.factorial import Factorial
from restbench.analyse.measures import Row
from restbench.experiment import experiment
from restbench.experiment.experiment import Experiment
from restbench.experiment.records import Manifest
from restbench.experiment.statistics import geometric_interval, geometric_mean
from restbench.judge import claims
from restbench.judge.claims import Decision, PartDecision
from restbench.show import findings, microbench_text, views
from restbench.show.kinds import factorial
from restbench.store import exported, quoted, store
from restbench.store.exported import RunExport
from restbench.store.store import Run
from restbench.store.traces import FullTrace
from restbench.store.trials import Block, last_block_minutes

#: The facts in a machine's description that are versions.
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


def write(run: Run, rows: Sequence[Row], note: Callable[[str], None]) -> RunExport:
    """Write a run's `run.json` from its trials. Returns it as read back from the file, so that what
    is made from it is the same now and later. `note` receives a line on what was left out."""
    return _answered(run, _exported(run, rows, note))


def judge_again(run: Run) -> None:
    """Replace cells, claims, effects and answer in the `run.json` of a kept copy by those that this
    version makes of its blocks."""
    found = exported.read(run.exported_file)
    known = findings.of(found, run)
    again = {
        "cells": tuple(map(cell_entry, known.rows)),
        "claims": tuple(map(claim, claims.decisions_of(found))),
        "factorial": _effects(known.definition, known.rows),
    }
    _answered(run, found.model_copy(update=again))


def _effects(definition: Experiment, rows: Sequence[Row]) -> dict[str, Any] | None:
    found = factorial.of(definition, rows)
    return found.to_json() if isinstance(found, Factorial) else None


def _answered(run: Run, found: RunExport) -> RunExport:
    answered = found.model_copy(update={"answer": views.answer_of(found)})
    exported.write(run.exported_file, answered)
    return exported.read(run.exported_file)


def _exported(run: Run, rows: Sequence[Row], note: Callable[[str], None]) -> RunExport:
    blocks = run.trials.blocks()
    finished = {each.block for each in blocks if each.finished}
    described = run.machine() if run.machine_file.exists() else {}
    definition = experiment.load(run.experiment_file, run.cores_allowed())
    objective = definition.open.objective if definition.open else None
    cells = {row.cell.id: row.cell for row in rows}
    # In an unfinished block the search for a limit, or a trace, is not over.
    trials = [each for each in run.trials.trials() if each.block in finished] if objective else []
    traces = (
        store.read_model(path, FullTrace, "measure again")
        for path in sorted(run.traces.glob("*/trace.json"))
    )
    return RunExport(
        form=exported.FORMAT_VERSION,
        run=run.name,
        experiment=_experiment(run),
        manifest=_manifest(run, blocks),
        machine=_machine(described, blocks),
        versions=_versions(described, blocks),
        claims=tuple(map(claim, claims.decisions(run, rows))),
        cells=tuple(map(cell_entry, rows)),
        blocks=tuple(block_entries(rows)),
        steps=tuple(limits.step(each, objective) for each in trials) if objective else (),
        series=tuple(long_windows.courses(run, note)),
        traces=tuple(trace.entry(each) for each in traces if each.block in finished),
        proofs=tuple(run.proofs()),
        calibration=calibration(run),
        microbench=microbench(run),
        again=tuple(again(run.trials.rates())),
        # In an open load the offered rate, which follows a plan, determines the throughput.
        predecessor=None if objective else predecessor.entry(run.trials.course(), cells),
        factorial=_effects(definition, rows),
        windows=tuple(long_windows.of_run(run)),
    )


def _experiment(run: Run) -> exported.ExperimentEntry:
    manifest = run.manifest()
    has_claims = run.claims_file.exists()
    return exported.ExperimentEntry(
        name=manifest.experiment,
        title=manifest.title,
        profile=manifest.profile,
        toml=run.experiment_file.read_text(encoding="utf-8"),
        claims_toml=run.claims_file.read_text(encoding="utf-8") if has_claims else None,
        claims_sha256=manifest.claims_sha256,
    )


def _manifest(run: Run, blocks: Sequence[Block]) -> exported.ManifestEntry:
    manifest = run.manifest()
    same = {*exported.ManifestEntry.model_fields} & {*Manifest.model_fields}
    return exported.ManifestEntry(
        **manifest.model_dump(include=same),
        minutes=round(sum(each.seconds or 0.0 for each in blocks) / 60, 2),
        last_block_minutes=last_block_minutes(blocks),
        interruptions=len(run.interruptions()),
        interrupted=tuple(run.interruptions()),
        planned_blocks=max((each.block for each in manifest.plan), default=0),
    )


def _versions(described: dict[str, Any], blocks: Sequence[Block]) -> exported.VersionsEntry:
    facts = {name: value for name, value in described.items() if name in VERSIONS}
    # PostgreSQL's version, settings and disk, as they were when the first block began.
    databases = (each.facts["databases"] for each in blocks if "databases" in each.facts)
    return exported.VersionsEntry.model_validate(facts | {"databases": next(databases, None)})


def _machine(described: dict[str, Any], blocks: Sequence[Block]) -> exported.MachineEntry:
    facts = {name: value for name, value in described.items() if name not in VERSIONS}
    speeds = [
        exported.SpeedEntry(block=each.block, **each.facts["speed"])
        for each in blocks
        if "speed" in each.facts
    ]
    # The cores of the load generator: the bottleneck analysis makes its stations from them.
    given = [each.facts["load_cores"] for each in blocks if "load_cores" in each.facts]
    if given:
        facts["load_cores"] = given[0]
    return exported.MachineEntry.model_validate(facts | {"speed": speeds})


def claim(decision: Decision) -> quoted.ClaimEntry:
    """A claim with all its ratios; those that are only its context come last."""
    parts = [_part(each, decides=True) for each in decision.parts]
    parts += [_part(each, decides=False) for each in decision.context]
    named = {*quoted.ClaimEntry.model_fields} - {"parts"}
    same = {name: getattr(decision, name) for name in named}
    return quoted.ClaimEntry(**same, parts=tuple(parts))


def _part(part: PartDecision, *, decides: bool) -> quoted.PartEntry:
    found = part.comparison
    low, high = found.ends or (None, None)
    return quoted.PartEntry(
        label=part.label,
        metric=part.metric,
        expect=part.expect,
        ratio=found.estimate,
        low=low,
        high=high,
        margin=found.margin,
        study_value=part.study_value,
        verdict=part.verdict,
        headline=part.headline,
        decides=decides and part.decides,
    )


def calibration(run: Run) -> quoted.CalibrationEntry | None:
    """The calibration that holds for the run."""
    made = run.calibration()
    if made is None:
        return None
    return quoted.CalibrationEntry(made=made.made, git_commit=made.git_commit, checks=made.checks)


def microbench(run: Run) -> quoted.MicrobenchEntry | None:
    """The break-even sizes on the run's machine."""
    made = run.microbench()
    if made is None:
        return None
    return quoted.MicrobenchEntry(
        made_of=microbench_text.made_of(made), break_evens=made.break_evens
    )


def again(rates: Mapping[tuple[int, str, str], float]) -> list[quoted.AgainEntry]:
    """The A/A ratio of each group's first cell; `rates` as `estimates.again_ratios` takes them."""
    found = []
    for cell, ratios in estimates.again_ratios(rates).items():
        ends = geometric_interval(ratios) if len(ratios) > 1 else None
        low, high = (ends.low, ends.high) if ends else (None, None)
        ratio = geometric_mean(ratios)
        found.append(quoted.AgainEntry(cell=cell, ratio=ratio, low=low, high=high))
    return found
