"""A side of a claim's ratio, found in a run's rows: its name for people and its values by block."""

from __future__ import annotations

from collections.abc import Mapping

from restbench.analyse import comparison
from restbench.analyse.comparison import (
    Series,
    best_of_others,
    combine,
    in_common_blocks,
    series,
)
from restbench.analyse.measures import Row
from restbench.experiment.cell import STRATEGIES, Cell
from restbench.experiment.claim import Term


def short(cell: Cell, kind: str = "") -> str:
    """A cell in few words, not two in the same: `PR@core0 low 10u`, `java F1 low in mix 1u`."""
    level = cell.complexity if kind in ("", cell.complexity) else f"{kind} in {cell.complexity}"
    return f"{technique(cell)} {level} {cell.users}u"


def technique(cell: Cell) -> str:
    """What is not complexity and users: `PR@core0`; with the service where both have the key."""
    both = all(cell.key in (key or name for name, key in of.items()) for of in STRATEGIES.values())
    at = "" if cell.placement == "unbound" else f"@{cell.placement}"
    return "+".join(
        [f"{cell.service} {cell.key}{at}" if both else f"{cell.key}{at}", *cell.unusual]
    )


def side(term: Term, metric: str, rows: Mapping[Cell, Row], kind: str = "") -> tuple[str, Series]:
    """The side's name and its values by block, of one kind of request where one is named."""
    if len(term.candidates) > 1:
        return _best(term, metric, rows, kind)
    (cell,) = term.candidates
    name, values = short(cell, kind), _values(cell, metric, rows, kind)
    if term.minus:
        other = _values(term.minus, metric, rows, kind)
        values = combine(values, other, lambda one, two: one - two)
        return f"({name} − {short(term.minus)})", values  # noqa: RUF001 - a minus sign
    if term.per:
        values = combine(values, _values(term.per, metric, rows, kind), _quotient)
        return f"({name} / {short(term.per)})", values
    return name, values


def _quotient(one: float, two: float) -> float:
    """0 where there is none: a comparison says of it that it has no ratio."""
    return one / two if two > 0 else 0.0


def _values(cell: Cell, metric: str, rows: Mapping[Cell, Row], kind: str) -> Series:
    if cell not in rows:
        return Series(lack=f"{cell.id} is not in this run")
    return series(rows[cell], metric, "" if kind == cell.complexity else kind)


def _best(term: Term, metric: str, rows: Mapping[Cell, Row], kind: str) -> tuple[str, Series]:
    """The best candidate that the runtime has; none where one was not measured, as that one might
    be it."""
    here = [
        cell
        for cell in term.candidates
        if cell not in rows or "not-offered" not in rows[cell].flags
    ]
    values = {cell: _values(cell, metric, rows, kind) for cell in here}
    name = f"best of {', '.join(technique(cell) for cell in here)}"
    for each in values.values():
        if each.lack or min(each.values.values()) <= 0:
            return f"({name})", each
    if term.left_out:
        return f"({name}, picked by the other blocks)", _by_other_blocks(values, metric)
    best = best_of(values, metric)
    return f"{short(best, kind)} ({name})", values[best]


def _by_other_blocks(values: Mapping[Cell, Series], metric: str) -> Series:
    """In each block the value of the cell that is best in all others."""
    blocks = sorted(set.intersection(*(set(each.values) for each in values.values())))
    if len(blocks) < 2:
        return Series(lack="two blocks that have all candidates are needed")
    known = {cell: [each.values[block] for block in blocks] for cell, each in values.items()}
    chosen = best_of_others(known, more_is_better=metric.endswith("_per_s"))
    pairs = zip(blocks, chosen, strict=True)
    return Series({block: values[cell].values[block] for block, cell in pairs})


def best_of(values: Mapping[Cell, Series], metric: str) -> Cell:
    """The cell with the best mean over the blocks that all have; all must have values above 0."""
    more_is_better = metric.endswith("_per_s")
    return comparison.best_of(in_common_blocks(values), more_is_better=more_is_better)


def is_usable(values: Series) -> bool:
    """Whether a ratio can be made of it."""
    return values.lack is None and min(values.values.values()) > 0
