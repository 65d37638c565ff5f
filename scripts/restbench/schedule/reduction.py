"""Reduces a trial: from the load generator's records and clocks to a row of the trial file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from restbench.analyse.estimates import percentile_ms
from restbench.drive.generator import CORRECT, ERROR, WRONG, LoadResult, stages_ms
from restbench.experiment.open_load import Offsets, Phases
from restbench.failures import EnvironmentProblem
from restbench.machine import jvm, process
from restbench.schedule.block_run import LoadRun
from restbench.schedule.pace import PlannedTrial
from restbench.store.trials import Microseconds, Trial


def loaded(
    here: LoadRun, planned: PlannedTrial, drop_s: float, keep_s: float, arrivals: Path | None = None
) -> tuple[LoadResult, Trial]:
    """Let a cell's users send; returns the result of the load and the trial that is made of it
    (`LoadRun.after`), however short: another attempt must not hide a wrong answer of this one.
    Where a process of the service or its front ended meanwhile, the trial has no CPU time and no
    memory: what the process had used is missing in the sums.

    Raises EnvironmentProblem where the service ended meanwhile, unless an answer was wrong.
    """
    cell, service = planned.cell, here.running(planned.cell).service
    pids, front = service.pids(), service.front_pids()
    before, front_ms = _helpers_ms(pids), process.cpu_ms(front)
    sent = here.load.trial(cell.id, cell.users, drop_s, keep_s, pids, arrivals)
    front_ms = process.cpu_ms(front) - front_ms
    here.count(cell, sent.records.size)
    # Answers alone do not show that: a front goes on when an instance has ended.
    if not service.alive() and not (sent.records["outcome"] == WRONG).any():
        here.ended(cell, sent)
        raise EnvironmentProblem(service.ending())
    helpers = [b - a for a, b in zip(before, _helpers_ms(pids), strict=True)]
    if not all(Path(f"/proc/{pid}").exists() for pid in pids):
        here.note("process-ended", "a process of the service ended during a trial", cell)
        pids = ()
    found = reduced(here.block, planned, sent, pids, helpers)
    if front and pids:
        per_request = {"front_cpu_ms_per_request": front_ms / max(1, sent.records.size)}
        found = replace(found, extras=per_request)
    if found.errors:
        here.note_once("errors", f"the first request that failed: {sent.first_error}", cell)
    return sent, here.after(cell, sent, found)


def _helpers_ms(pids: tuple[int, ...]) -> tuple[float, float]:
    """CPU time so far of compilers and garbage collectors, in milliseconds."""
    return jvm.compilers_cpu_ms(pids), jvm.collectors_cpu_ms(pids)


def reduced(
    block: int,
    planned: PlannedTrial,
    sent: LoadResult,
    pids: Sequence[int],
    helpers: Sequence[float],
) -> Trial:
    """The trial of a closed load. `helpers` are the CPU times of compilers and collectors in the
    whole trial, in milliseconds; the measured part gets the share that it has of the service's."""
    kept = sent.measured
    correct = kept[kept["outcome"] == CORRECT]
    service_ms = float(sent.closed.service_ms - sent.opened.service_ms)
    whole_ms = sent.closed.service_ms - sent.begun.service_ms
    part = service_ms / whole_ms if whole_ms > 0 else 1.0
    kinds = {
        name: _elapsed_us(correct[correct["kind"] == number])
        for number, name in enumerate(sent.kinds)
        if len(sent.kinds) > 1
    }
    return Trial(
        block=block,
        round=planned.round,
        cell=planned.cell.id,
        users=planned.cell.users,
        began_ms=sent.opened.epoch_ms,
        seconds=sent.seconds,
        elapsed_us=_elapsed_us(correct),
        errors=int((kept["outcome"] == ERROR).sum()),
        wrong=int((sent.records["outcome"] == WRONG).sum()),
        stages_ms={name: round(mean_ms, 6) for name, mean_ms in stages_ms(correct).items()},
        arm=planned.arm,
        service_cpu_ms=service_ms if pids else None,
        generator_cpu_ms=float(sent.closed.generator_ms - sent.opened.generator_ms),
        busy_ms=float(sent.closed.busy_ms - sent.opened.busy_ms),
        steal_ms=float(sent.closed.steal_ms - sent.opened.steal_ms),
        compilers_ms=helpers[0] * part,
        collector_ms=helpers[1] * part,
        memory_mib=float(sum(map(process.resident_mib, pids))),
        kinds_us=kinds,
    )


def arrivals_of(records: npt.NDArray[Any], phases: Phases) -> npt.NDArray[Any]:
    """The requests that were scheduled in the window of an open load."""
    first_us, end_us = (1000 * each for each in phases.window_ms)
    inside: npt.NDArray[Any] = records[
        (records["start_us"] >= first_us) & (records["start_us"] < end_us)
    ]
    return inside


def of_arrivals(
    records: npt.NDArray[Any], offsets: Offsets, phases: Phases, late_ms: int
) -> tuple[Microseconds, dict[str, float]]:
    """The results of the window's arrivals: the latencies of the correct answers from the intended
    moment, sorted, in microseconds; and by name the numbers of `arrivals`, of `errors`, of arrivals
    `unsent` when the load was over and sent `late`, by more than `late_ms`, and the p95 of lateness
    and of latency from sending, in milliseconds, where there are enough for it.
    """
    first_ms, end_ms = phases.window_ms
    sent = arrivals_of(records, phases)
    correct = sent[sent["outcome"] == CORRECT]
    arrivals = int(((offsets >= first_ms) & (offsets < end_ms)).sum())
    late_us = 1000 * sent["late_ms"].astype(np.int64)
    from_sending_us = correct["elapsed_us"] - 1000 * correct["late_ms"].astype(np.int64)
    found: dict[str, float | None] = {
        "arrivals": arrivals,
        "errors": int((sent["outcome"] != CORRECT).sum()),
        "unsent": arrivals - int(sent.size),
        "late": int((late_us > 1000 * late_ms).sum()),
        "lateness_p95_ms": percentile_ms(np.sort(late_us), 95),
        "sent_p95_ms": percentile_ms(np.sort(from_sending_us), 95),
    }
    known = {name: float(value) for name, value in found.items() if value is not None}
    return _elapsed_us(correct), known


def _elapsed_us(records: npt.NDArray[Any]) -> Microseconds:
    return np.sort(records["elapsed_us"]).astype(np.int64)
