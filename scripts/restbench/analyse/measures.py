"""From raw files to numbers: one measurement of a cell, and the row of its blocks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import fmean

from restbench.analyse import audit, estimates, evidence, jtl, timeline, warnings, within_run
from restbench.analyse.flags import explain
from restbench.analyse.jtl import Completions
from restbench.analyse.measurement import NOTHING, KindMeasurement, Known, Measurement
from restbench.analyse.warnings import Note, Warning
from restbench.experiment import columns, experiment
from restbench.experiment.cell import FACTORS, Cell, Kind, Shape
from restbench.experiment.experiment import Experiment
from restbench.experiment.records import CellRun, Usage, Window
from restbench.experiment.statistics import Interval, t_interval
from restbench.observe import pidstat, service_metrics, sysstat
from restbench.store.cell_folder import CellFolder
from restbench.store.store import Run

__all__ = ["COUNTS", "Known", "Measurement", "Row", "measurement", "row", "rows"]

#: Metrics that are summed over blocks; all others are means over blocks.
COUNTS = ("samples", "errors", "wrong_answers")

#: With fewer blocks no ends of an interval are published (method, rule 6).
FEWEST_BLOCKS = 3


@dataclass(frozen=True)
class Row:
    """One cell with all its blocks: a line of the test matrix."""

    cell: Cell
    shape: Shape | None
    """None where the requests are of several sizes: those of `mix`."""
    test_ids: tuple[str, ...]
    measurements: tuple[Measurement, ...]
    mix: tuple[Kind, ...] = ()

    @property
    def flags(self) -> tuple[str, ...]:
        """Every flag of any block, each once."""
        if not self.measurements:
            return ("not-measured",)
        return tuple(dict.fromkeys(flag for each in self.measurements for flag in each.flags))

    @property
    def warnings(self) -> tuple[Warning, ...]:
        """What may have biased the cell by more than half the margin, the largest first."""
        return warnings.of_cell(self.measured, self.cell.users)

    @property
    def notes(self) -> tuple[Note, ...]:
        """What else to know before believing it, with the number of its blocks."""
        found = []
        for flag in self.flags:
            text, count = explain(flag), self.blocks_with(flag)
            some = f" (in {count} of {len(self.measurements)} blocks)"
            found.append(Note(flag, text + some * (0 < count < len(self.measurements))))
        return tuple(found)

    def blocks_with(self, flag: str) -> int:
        """In how many of its blocks a flag was raised."""
        return sum(flag in each.flags for each in self.measurements)

    @property
    def measured(self) -> tuple[Measurement, ...]:
        """The blocks that have a window."""
        return tuple(each for each in self.measurements if each.window)

    @property
    def right(self) -> tuple[Measurement, ...]:
        """Those of them in which no answer was wrong."""
        return tuple(each for each in self.measured if "wrong-answers" not in each.flags)

    def value(self, metric: str) -> float | None:
        """The mean over blocks (the sum of a count), None unless every measured block has it.

        A block with a wrong answer has nothing but its counts (method, rule 5).
        """
        values = self._values(metric)
        if not values:
            return None
        return sum(values) if metric in COUNTS else fmean(values)

    def interval(self, metric: str) -> Interval | None:
        """The t interval of the mean over blocks; None for fewer than two."""
        values = self._values(metric)
        return t_interval(values) if len(values) > 1 else None

    def ends(self, metric: str) -> tuple[float, float] | tuple[None, None]:
        """The ends of that interval as they are published: none below FEWEST_BLOCKS, where the t
        quantile is more than the data."""
        known = self.interval(metric) if len(self.measured) >= FEWEST_BLOCKS else None
        return (known.low, known.high) if known else (None, None)

    def record(self) -> dict[str, str | int | float | None]:
        """The row as the table has it: column name → value, in the table's order."""
        told: dict[str, str | int | float | None] = {"test_id": " ".join(self.test_ids)}
        told |= {factor: getattr(self.cell, factor) for factor in FACTORS}
        told |= {metric: self.value(metric) for metric in columns.METRICS}
        kinds = (*(each.kind for each in self.warnings), *self.flags)
        told["flags"] = " ".join(dict.fromkeys(kinds))
        return {name: told[name] for name in columns.NAMES}

    def _values(self, metric: str) -> list[float]:
        blocks = self.measured if metric in COUNTS else self.right
        values = [getattr(each, metric) for each in blocks]
        return [] if None in values else values


def rows(run: Run) -> list[Row]:
    """A row for every planned cell, in the order of the experiment's file."""
    definition = experiment.load(run.experiment_file)
    planned = {each.cell: each.test_ids for each in run.manifest().plan}
    described = run.machine() if run.machine_file.exists() else {}
    cores = len(described.get("cores_allowed", [])) or 1
    blocks = estimates.measurements(run.trials.trials(), run.trials.events(), cores)
    return [
        row(definition, cell, planned[cell], tuple(blocks.get(cell.id, ())))
        for cell in definition.all_cells()
        if cell in planned
    ]


def row(
    definition: Experiment, cell: Cell, ids: tuple[str, ...], blocks: tuple[Measurement, ...]
) -> Row:
    """A cell of the experiment with its tests and its measurements."""
    mix = definition.mix(cell.complexity)
    return Row(cell, None if mix else definition.shape(cell.complexity), ids, blocks, mix)


def measurement(record: CellRun, folder: CellFolder, known: Known = NOTHING) -> Measurement:
    """The numbers of one measurement, from its raw files, each of them read once."""
    if record.window is None or record.usage is None:
        flags = tuple(dict.fromkeys((*record.flags, "failed")))
        return Measurement(block=record.block, flags=flags, reason=record.reason)
    completions = jtl.read(folder.samples, record.window)
    found = _of_completions(record.block, record.window, completions)
    found = _with_kinds(found, record, record.window, completions)
    found = _with_cpu_time(found, record.window, record.usage)
    found = _with_observations(found, record, record.window, folder)
    found = _with_course(found, record, folder, completions)
    found = evidence.with_facts(found, record, folder, completions)
    noticed = audit.noticed(evidence.of(found, record, known, completions))
    return replace(found, flags=tuple(dict.fromkeys((*record.flags, *noticed))))


def _of_completions(block: int, window: Window, completions: Completions) -> Measurement:
    elapsed = completions.correct_latency_ms()
    return Measurement(
        block=block,
        flags=(),
        window=window,
        throughput_per_s=elapsed.size / window.seconds,
        mean_ms=elapsed.mean,
        p50_ms=elapsed.supported_percentile(50),
        p90_ms=elapsed.supported_percentile(90),
        p95_ms=elapsed.supported_percentile(95),
        p99_ms=elapsed.supported_percentile(99),
        samples=elapsed.size,
        errors=completions.count("error"),
        wrong_answers=completions.wrong_in_load,
        queue_ms=completions.stages_ms["queue"],
        parse_ms=completions.stages_ms["parse"],
        compute_ms=completions.stages_ms["compute"],
        serialize_ms=completions.stages_ms["serialize"],
        network_ms=completions.network_ms,
    )


def _with_kinds(
    found: Measurement, record: CellRun, window: Window, completions: Completions
) -> Measurement:
    elapsed = {kind.name: completions.correct_latency_ms(kind.name) for kind in record.mix}
    kinds = {
        name: KindMeasurement(
            samples=each.size,
            throughput_per_s=each.size / window.seconds,
            mean_ms=each.mean,
            p50_ms=each.supported_percentile(50),
            p95_ms=each.supported_percentile(95),
        )
        for name, each in elapsed.items()
    }
    return replace(found, kinds=kinds)


def _with_cpu_time(found: Measurement, window: Window, usage: Usage) -> Measurement:
    window_ms = 1000 * window.seconds
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
    service = pidstat.process_use(folder.pidstat, window, record.service_pids)
    return replace(
        found,
        machine_cpu_pct=machine.cpu_pct if machine else None,
        memory_mib=service.peak_rss_mib if service else None,
        machine=machine,
        service_metrics=service_metrics.read(folder.metrics, window),
    )


def _with_course(
    found: Measurement, record: CellRun, folder: CellFolder, completions: Completions
) -> Measurement:
    """What the load did over time, and what Little's law makes of its number of completions."""
    line = timeline.of(record, folder, completions)
    diagnostics = within_run.of(line.window_counts) if line else None
    completed = completions.completed
    cycle_ms = 1000 * record.cell.users * completions.window.seconds
    return replace(
        found,
        littles_mean_ms=cycle_ms / completed if completed else None,
        batch_half_width_pct=diagnostics.half_width_pct if diagnostics else None,
        within_run=diagnostics,
        timeline=line,
    )
