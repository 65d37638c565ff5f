"""A side of a claim's ratio, found in a run's rows: its name for people and its values by block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from restbench.analyse.comparison import Series, combine, in_common_blocks, part_series
from restbench.analyse.measures import Row
from restbench.experiment.cell import Cell
from restbench.experiment.claim import Term
from restbench.experiment.statistics import geometric_mean


def short(cell: Cell) -> str:
    """A cell in few words: `PR@core0 low 10u`."""
    return f"{technique(cell)} {cell.complexity} {cell.users}u"


def technique(cell: Cell) -> str:
    """Its technique in one word: `PR@core0`."""
    return cell.key if cell.placement == "unbound" else f"{cell.key}@{cell.placement}"


def side(term: Term, metric: str, rows: Mapping[Cell, Row], kind: str = "") -> tuple[str, Series]:
    """The side's name and its values by block, of one kind of request where one is named."""
    if len(term.candidates) > 1:
        return _best(term.candidates, metric, rows, kind)
    (cell,) = term.candidates
    name, values = _named(cell, kind), _values(cell, metric, rows, kind)
    if term.minus:
        other = _values(term.minus, metric, rows, kind)
        values = combine(values, other, lambda one, two: one - two)
        return f"({name} − {short(term.minus)})", values  # noqa: RUF001 - a minus sign
    if term.per:
        values = combine(values, _values(term.per, metric, rows, kind), _quotient)
        return f"({name} / {short(term.per)})", values
    return name, values


def _named(cell: Cell, kind: str) -> str:
    """`PR mix 10u`, of one kind `PR low in mix 10u`."""
    if kind in ("", cell.complexity):
        return short(cell)
    return f"{technique(cell)} {kind} in {cell.complexity} {cell.users}u"


def _quotient(one: float, two: float) -> float:
    """0 where there is none: a comparison says of it that it has no ratio."""
    return one / two if two > 0 else 0.0


def _values(cell: Cell, metric: str, rows: Mapping[Cell, Row], kind: str) -> Series:
    if cell not in rows:
        return Series(lack=f"{cell.id} is not in this run")
    return part_series(rows[cell], "" if kind == cell.complexity else kind, metric)


def _best(
    cells: Sequence[Cell], metric: str, rows: Mapping[Cell, Row], kind: str
) -> tuple[str, Series]:
    """The best candidate that the runtime has; none where one was not measured, as that one might
    be it."""
    here = [cell for cell in cells if cell not in rows or "not-offered" not in rows[cell].flags]
    values = {cell: _values(cell, metric, rows, kind) for cell in here}
    name = f"best of {', '.join(technique(cell) for cell in here)}"
    for each in values.values():
        if each.lack or min(each.values.values()) <= 0:
            return f"({name})", each
    sign = 1 if metric == "throughput_per_s" else -1
    means = {cell: geometric_mean(each) for cell, each in in_common_blocks(values).items()}
    best = max(here, key=lambda cell: sign * means[cell])
    return f"{_named(best, kind)} ({name})", values[best]
