"""Gathers from a measurement's numbers and raw files what its warnings and notes come from."""

from __future__ import annotations

from dataclasses import replace

from restbench.analyse.audit import Evidence
from restbench.analyse.jtl import Completions
from restbench.analyse.measurement import Known, Measurement
from restbench.experiment.records import CellRun, Usage
from restbench.observe import pidstat
from restbench.store.cell_folder import CellFolder


def of(
    found: Measurement,
    record: CellRun,
    known: Known,
    completions: Completions,
) -> Evidence:
    """The evidence on one measured cell; its window is the completions'."""
    window = completions.window
    return Evidence(
        users=record.cell.users,
        window_s=window.seconds,
        correct=found.samples or 0,
        wrong_answers=completions.wrong_in_load,
        completed=completions.completed,
        mean_of_all_ms=completions.mean_of_all_ms,
        told_stages=found.compute_ms is not None,
        has_sar=found.steal_pct is not None,
        foreign_before_pct=record.before.foreign_pct if record.before else None,
        percentiles_ms=_percentiles_ms(found, completions),
        bytes_spread=completions.bytes_spread,
        fine_clock=completions.has_fine_clock,
        warmed_s=_warmed_s(completions),
        planned_warmup_s=record.warmup_s,
        planned_window_s=_planned_window_s(known),
        steady=found.timeline.steady if found.timeline else None,
    )


def with_facts(
    found: Measurement, record: CellRun, folder: CellFolder, completions: Completions
) -> Measurement:
    """The measurement with what its warnings are sized by (`warnings`); None where unknown."""
    window, usage = completions.window, record.usage
    steal_pct, foreign_pct = _others(found, usage)
    response_ms, window_ms = completions.mean_of_all_ms, 1000 * window.seconds
    both_pct = (found.load_cpu_pct or 0.0) + (found.service_cpu_pct or 0.0)
    is_known = found.service_cpu_pct is not None
    outside = completions.answered_in_load - completions.completed
    counted = usage.service_requests if usage else None
    metrics = found.service_metrics
    return replace(
        found,
        generator_share=_share(found.load_cpu_pct, both_pct) if is_known else None,
        users_in_flight=_share(completions.completed * (response_ms or 0.0), window_ms),
        steal_pct=steal_pct,
        foreign_pct=foreign_pct,
        compile_share=_share(usage.compilers_cpu_ms, usage.service_cpu_ms) if usage else None,
        gc_share=_share(metrics.gc_pause_ms, window_ms) if metrics else None,
        off_cores_share=_off_cores_share(record, folder, usage),
        service_requests=None if counted is None else counted - outside,
    )


def _share(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole else None


def _others(found: Measurement, usage: Usage | None) -> tuple[float | None, float | None]:
    """Steal and foreign load, percent of the machine."""
    if usage and usage.beside:
        return usage.beside.steal_pct, usage.beside.foreign_pct
    machine, shares = found.machine, (found.service_cpu_pct, found.load_cpu_pct)
    if machine is None:
        return None, None
    known = [share for share in shares if share is not None]
    if len(known) < len(shares) or not machine.core_pct:
        return machine.steal_pct, None
    return machine.steal_pct, machine.cpu_pct - sum(known) / len(machine.core_pct)


def _off_cores_share(record: CellRun, folder: CellFolder, usage: Usage | None) -> float | None:
    """Of the cores that it was seen on. An attached service runs where its own starter put it."""
    if usage is None or record.window is None or "attached" in record.flags:
        return None
    used = pidstat.cores_used(folder.pidstat, record.window, record.service_pids)
    return _share(len(used - set(record.service_cores)), len(used))


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
