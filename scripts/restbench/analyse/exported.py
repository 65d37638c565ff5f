"""A run's rows as entries of `run.json`, and the same rows read back from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean

from restbench.analyse import estimates, measures, warnings
from restbench.analyse.measurement import Measurement, by_name
from restbench.analyse.measures import Row
from restbench.experiment.cell import FACTORS, Cell
from restbench.experiment.statistics import (
    FEWEST_BLOCKS,
    geometric_interval,
    geometric_mean,
    t_interval,
)
from restbench.grouping import grouped
from restbench.store import exported
from restbench.store.exported import BlockEntry, CellEntry, Estimate, RunExport
from restbench.store.store import Run

#: Metrics that a cell's entry reports over its blocks.
_ESTIMATED = ("throughput_per_s", "cpu_ms_per_request", "mean_ms", "p50_ms", "p95_ms", "p99_ms")


def rows(run: Run) -> list[Row]:
    """The rows of a run: from its trials where it has them, else from its `run.json`; empty where
    it has neither. Raises BadConfiguration where the run has an earlier format."""
    run.require_read()
    if not run.trials.path.exists() and run.exported_file.exists():
        return rows_of(exported.read(run.exported_file))
    return measures.rows(run)


def cell_entry(row: Row) -> CellEntry:
    """The entry of a cell over its blocks."""
    return CellEntry(
        id=row.cell.id,
        factors={factor: getattr(row.cell, factor) for factor in FACTORS},
        test_ids=row.test_ids,
        shape=row.shape,
        mix=row.mix,
        logs=row.logs,
        **{metric: _estimate(row, metric) for metric in _ESTIMATED},
        extras={
            name: over_blocks(values)
            for name, values in by_name(each.extras for each in row.valid_blocks).items()
        },
        blocks=len(row.measured),
        trials=sum(each.trials or 0 for each in row.measured),
        warnings=row.warnings,
        notes=row.notes,
    )


def _estimate(row: Row, metric: str) -> Estimate | None:
    value = row.value(metric)
    if value is None:
        return None
    low, high = row.ends(metric)
    return Estimate(value=value, low=low, high=high)


def over_blocks(values: Sequence[float]) -> Estimate:
    """The mean of an extra, geometric where all values are above 0, and from FEWEST_BLOCKS values
    on the ends of its interval."""
    is_ratio = min(values) > 0
    if len(values) < FEWEST_BLOCKS:
        mean = geometric_mean(values) if is_ratio else fmean(values)
        return Estimate(value=mean, low=None, high=None)
    if is_ratio:
        ratio = geometric_interval(values)
        return Estimate(value=ratio.estimate, low=ratio.low, high=ratio.high)
    found = t_interval(values)
    return Estimate(value=found.mean, low=found.low, high=found.high)


def block_entries(rows: Iterable[Row]) -> list[BlockEntry]:
    """Every block of every cell, with its own warnings."""
    return [
        each.model_copy(
            update={"cell": row.cell.id, "warnings": warnings.of_cell([each], row.cell.users)}
        )
        for row in rows
        for each in row.measurements
    ]


def rows_of(run: RunExport) -> list[Row]:
    """The rows that an exported run was made of."""
    blocks = grouped(run.blocks, lambda each: each.cell)
    return [_row(each, blocks.get(each.id, [])) for each in run.cells]


def _row(entry: CellEntry, blocks: Sequence[BlockEntry]) -> Row:
    cell = Cell.model_validate(entry.factors)
    known = [each.model_dump(exclude={"cell", "warnings"}) for each in blocks]
    found = map(Measurement.model_validate, known)
    measurements = tuple(estimates.completed(each, cell.users) for each in found)
    return Row(cell, entry.shape, entry.test_ids, measurements, entry.mix, entry.logs)
