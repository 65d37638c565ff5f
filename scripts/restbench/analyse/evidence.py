"""Gathers from a measurement's numbers and raw files what the audit judges it by."""

from __future__ import annotations

from restbench.analyse.audit import Evidence
from restbench.analyse.jtl import Completions
from restbench.analyse.measurement import Known, Measurement
from restbench.experiment.records import CellRun, Usage
from restbench.observe import pidstat
from restbench.store.cell_folder import CellFolder


def of(
    found: Measurement,
    record: CellRun,
    folder: CellFolder,
    known: Known,
    completions: Completions,
) -> Evidence:
    """The evidence on one measured cell; its window is the completions'."""
    window, usage = completions.window, record.usage
    return Evidence(
        users=record.cell.users,
        window_s=window.seconds,
        parts=len(window.parts),
        correct=found.samples or 0,
        errors=found.errors or 0,
        wrong_answers=completions.wrong_in_load,
        completed=completions.completed,
        mean_of_all_ms=completions.mean_of_all_ms,
        load_cpu_ms=usage.load_cpu_ms if usage else None,
        answered_in_load=completions.answered_in_load,
        service_requests=usage.service_requests if usage else None,
        told_stages=found.compute_ms is not None,
        steal_pct=_steal_pct(found, usage),
        foreign_pct=_foreign_pct(found, usage),
        compilers_pct=_compilers_pct(usage),
        foreign_before_pct=record.before.foreign_pct if record.before else None,
        percentiles_ms=_percentiles_ms(found, completions),
        bytes_spread=completions.bytes_spread,
        fine_clock=completions.has_fine_clock,
        warmed_s=_warmed_s(completions),
        planned_warmup_s=record.warmup_s,
        planned_window_s=_planned_window_s(known),
        ceiling_per_s=known.ceiling_per_s,
        load_cores=len(record.load_cores) or None,
        cores_used=pidstat.cores_used(folder.pidstat, window, record.service_pids),
        cores_given=_cores_given(record, usage),
        steadiness=found.timeline.steadiness if found.timeline else (),
    )


def _steal_pct(found: Measurement, usage: Usage | None) -> float | None:
    if usage and usage.beside:
        return usage.beside.steal_pct
    return found.machine.steal_pct if found.machine else None


def _foreign_pct(found: Measurement, usage: Usage | None) -> float | None:
    if usage and usage.beside:
        return usage.beside.foreign_pct
    shares = (found.service_cpu_pct, found.load_cpu_pct)
    if found.machine is None or not found.machine.core_pct or None in shares:
        return None
    known = sum(share for share in shares if share is not None)
    return found.machine.cpu_pct - known / len(found.machine.core_pct)


def _compilers_pct(usage: Usage | None) -> float | None:
    if usage is None or usage.compilers_cpu_ms is None or not usage.service_cpu_ms:
        return None
    return 100 * usage.compilers_cpu_ms / usage.service_cpu_ms


def _percentiles_ms(found: Measurement, completions: Completions) -> tuple[float, ...]:
    shown = (found.p50_ms, found.p90_ms, found.p95_ms, found.p99_ms)
    every = (*shown, completions.correct_latency_ms().largest)
    return tuple(float(each) for each in every if each is not None)


def _warmed_s(completions: Completions) -> float | None:
    """Before the window, whoever's turn it was: the service worked as it does in the window."""
    window, started_ms = completions.window, completions.started_ms
    if window.load_start_ms is not None:
        started_ms = window.load_start_ms
    return None if started_ms is None else (window.start_ms - started_ms) / 1000


def _planned_window_s(known: Known) -> tuple[float, float] | None:
    return known.planned_window_s


def _cores_given(record: CellRun, usage: Usage | None) -> frozenset[int] | None:
    """An attached service runs where its own starter put it."""
    attached = usage is None or "attached" in record.flags
    return None if attached else frozenset(record.service_cores)
