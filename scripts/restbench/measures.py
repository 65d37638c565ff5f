"""From raw files to numbers: one measurement of a cell, and the row of its blocks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import fmean

from restbench import audit, columns, experiment, jtl, service_metrics, sysstat
from restbench.cell import FACTORS, Cell, Shape
from restbench.jtl import Completions
from restbench.records import CellRun, Usage, Window
from restbench.service_metrics import ServiceMetrics
from restbench.statistics import Interval, supported_percentile, t_interval
from restbench.store import CellFolder, Run
from restbench.sysstat import MachineUse

#: Metrics that are summed over blocks; all others are means over blocks.
COUNTS = ("samples", "errors", "wrong_answers")


@dataclass(frozen=True)
class Measurement:
    """One measurement of one cell as numbers, named as the table's columns are (`columns`).

    `None`: unknown, or more than the number of completions supports. Its numbers are there even if
    a wrong answer voids them; Row does not show them.
    """

    block: int
    flags: tuple[str, ...]
    reason: str | None = None
    window: Window | None = None
    throughput_per_s: float | None = None
    mean_ms: float | None = None
    p50_ms: float | None = None
    p90_ms: float | None = None
    p95_ms: float | None = None
    p99_ms: float | None = None
    samples: int | None = None
    errors: int | None = None
    wrong_answers: int | None = None
    cpu_ms_per_request: float | None = None
    service_cpu_pct: float | None = None
    load_cpu_pct: float | None = None
    machine_cpu_pct: float | None = None
    memory_mib: float | None = None
    queue_ms: float | None = None
    parse_ms: float | None = None
    compute_ms: float | None = None
    serialize_ms: float | None = None
    machine: MachineUse | None = None
    service_metrics: ServiceMetrics | None = None


@dataclass(frozen=True)
class Row:
    """One cell with all its blocks: a line of the test matrix."""

    cell: Cell
    shape: Shape
    test_ids: tuple[str, ...]
    measurements: tuple[Measurement, ...]

    @property
    def flags(self) -> tuple[str, ...]:
        """Every flag of any block, each once."""
        if not self.measurements:
            return ("not-measured",)
        return tuple(dict.fromkeys(flag for each in self.measurements for flag in each.flags))

    @property
    def measured(self) -> tuple[Measurement, ...]:
        """The blocks that have a window."""
        return tuple(each for each in self.measurements if each.window)

    def value(self, metric: str) -> float | None:
        """The mean over blocks (the sum of a count), None unless every measured block has it.

        A wrong answer in any block leaves nothing but the counts (method, rule 5).
        """
        values = self._values(metric)
        if not values:
            return None
        return sum(values) if metric in COUNTS else fmean(values)

    def interval(self, metric: str) -> Interval | None:
        """The t interval of the mean over blocks; None for fewer than two."""
        values = self._values(metric)
        return t_interval(values) if len(values) > 1 else None

    def record(self) -> dict[str, str | int | float | None]:
        """The row as the table has it: column name → value, in the table's order."""
        told: dict[str, str | int | float | None] = {"test_id": " ".join(self.test_ids)}
        told |= {factor: getattr(self.cell, factor) for factor in FACTORS}
        told |= {metric: self.value(metric) for metric in columns.METRICS}
        told["flags"] = " ".join(self.flags)
        return {name: told[name] for name in columns.NAMES}

    def _values(self, metric: str) -> list[float]:
        if metric not in COUNTS and "wrong-answers" in self.flags:
            return []
        values = [getattr(each, metric) for each in self.measured]
        return [] if None in values else values


def rows(run: Run) -> list[Row]:
    """A row for every planned cell, in the order of the experiment's file."""
    definition = experiment.load(run.experiment_file)
    planned = {each.cell: each.test_ids for each in run.manifest().plan}
    blocks: dict[Cell, list[Measurement]] = {}
    for record, folder in run.cell_runs():
        blocks.setdefault(record.cell, []).append(measurement(record, folder))
    return [
        Row(cell, definition.shape(cell.complexity), planned[cell], tuple(blocks.get(cell, ())))
        for cell in definition.all_cells()
        if cell in planned
    ]


def measurement(record: CellRun, folder: CellFolder) -> Measurement:
    """The numbers of one measurement, from its raw files."""
    if record.window is None or record.usage is None:
        flags = tuple(dict.fromkeys((*record.flags, "failed")))
        return Measurement(block=record.block, flags=flags, reason=record.reason)
    completions = jtl.read(folder.samples, record.window)
    found = _of_completions(record.block, record.window, completions)
    found = _with_cpu_time(found, record.window, record.usage)
    found = _with_observations(found, record, record.window, folder)
    noticed = audit.noticed(_evidence(found, record.cell, record.usage, completions))
    return replace(found, flags=tuple(dict.fromkeys((*record.flags, *noticed))))


def _of_completions(block: int, window: Window, completions: Completions) -> Measurement:
    elapsed = completions.correct_elapsed_ms
    return Measurement(
        block=block,
        flags=(),
        window=window,
        throughput_per_s=elapsed.size / window.seconds,
        mean_ms=float(elapsed.mean()) if elapsed.size else None,
        p50_ms=supported_percentile(elapsed, 50),
        p90_ms=supported_percentile(elapsed, 90),
        p95_ms=supported_percentile(elapsed, 95),
        p99_ms=supported_percentile(elapsed, 99),
        samples=elapsed.size,
        errors=completions.count("error"),
        wrong_answers=completions.wrong_in_load,
        queue_ms=completions.stage_mean_ms("queue"),
        parse_ms=completions.stage_mean_ms("parse"),
        compute_ms=completions.stage_mean_ms("compute"),
        serialize_ms=completions.stage_mean_ms("serialize"),
    )


def _with_cpu_time(found: Measurement, window: Window, usage: Usage) -> Measurement:
    window_ms = window.end_ms - window.start_ms
    service_ms, load_ms = usage.service_cpu_ms, usage.load_cpu_ms
    per_request = service_ms / found.samples if service_ms is not None and found.samples else None
    return replace(
        found,
        cpu_ms_per_request=per_request,
        service_cpu_pct=None if service_ms is None else 100 * service_ms / window_ms,
        load_cpu_pct=None if load_ms is None else 100 * load_ms / window_ms,
    )


def _with_observations(
    found: Measurement, record: CellRun, window: Window, folder: CellFolder
) -> Measurement:
    machine = sysstat.machine_use(folder.sar_json, window)
    service = sysstat.process_use(folder.pidstat, window, record.service_pids)
    return replace(
        found,
        machine_cpu_pct=machine.cpu_pct if machine else None,
        memory_mib=service.peak_rss_mib if service else None,
        machine=machine,
        service_metrics=service_metrics.read(folder.metrics, window),
    )


def _evidence(
    found: Measurement, cell: Cell, usage: Usage, completions: Completions
) -> audit.Evidence:
    mean_of_all = completions.frame["elapsed_ms"].mean()
    return audit.Evidence(
        users=cell.users,
        window_s=found.window.seconds if found.window else 0.0,
        correct=found.samples or 0,
        errors=found.errors or 0,
        wrong_answers=completions.wrong_in_load,
        completed=completions.frame.height,
        mean_of_all_ms=mean_of_all if isinstance(mean_of_all, float) else None,
        load_cpu_ms=usage.load_cpu_ms,
        answered_in_load=completions.answered_in_load,
        service_requests=usage.service_requests,
        told_stages=found.compute_ms is not None,
        steal_pct=found.machine.steal_pct if found.machine else None,
        foreign_pct=_foreign_pct(found),
    )


def _foreign_pct(found: Measurement) -> float | None:
    shares = (found.service_cpu_pct, found.load_cpu_pct)
    if found.machine is None or not found.machine.core_pct or None in shares:
        return None
    known = sum(share for share in shares if share is not None)
    return found.machine.cpu_pct - known / len(found.machine.core_pct)
