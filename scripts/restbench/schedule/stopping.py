"""When a run has blocks enough: the stop rule of the full profile (method, rule 6)."""

from __future__ import annotations

from collections.abc import Sequence

from restbench.analyse.measures import Row

METRIC = "throughput_per_s"


def largest_half_width(precision: float) -> float:
    """The relative half-width that a precision g allows: g / (1 + g), so that the true mean lies
    within g of the measured one as often as the interval covers it."""
    return precision / (1 + precision)


def imprecise(rows: Sequence[Row], precision: float) -> list[str]:
    """The ids of the cells whose interval is wider than asked for, or that have none yet.

    A cell without a throughput (it failed, or gave a wrong answer) gets none by measuring on.
    """
    allowed = largest_half_width(precision)
    return [row.cell.id for row in _judged(rows) if not _precise(row, allowed)]


def _judged(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.value(METRIC) is not None]


def _precise(row: Row, allowed: float) -> bool:
    interval = row.interval(METRIC)
    return interval is not None and interval.half_width <= allowed * interval.mean


def verdict(rows: Sequence[Row], precision: float, blocks: int) -> str:
    """Why no further block is measured, for the manifest and the report."""
    cells = len(_judged(rows))
    reached = cells - len(imprecise(rows, precision))
    text = f"{reached} of {cells} cells are within {precision:.1%} after {blocks} blocks"
    lost = len(rows) - cells
    return f"{text}; {lost} more have no number" if lost else text
