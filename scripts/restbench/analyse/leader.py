"""The best technique of each group of cells, and how sure that is: pure functions on rows.

A group is one complexity and number of users, unbound, behind no web server, with the kernel that
most of the run's cells have; a strategy that the runtime does not have is in none. The best of a
group must be different from EVERY other technique of it, so the group's p value is the largest of
theirs; Holm counts the groups of one scope. Over both services the best technique of the one stands
against the best of the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from restbench.analyse import audit
from restbench.analyse.comparison import Comparison, in_common_blocks, judge, paired, series
from restbench.analyse.measures import Row
from restbench.experiment.cell import Cell
from restbench.experiment.statistics import geometric_mean, holm_levels

Scope: TypeAlias = Literal["java", "python", "both"]
Metric: TypeAlias = Literal["throughput_per_s", "cpu_ms_per_request"]
Verdict: TypeAlias = Literal["best", "no detectable best", "one run", "only one"]


@dataclass(frozen=True)
class Leader:
    """A row of the answer's table: who comes first in a group."""

    scope: Scope
    metric: Metric
    complexity: str
    users: int
    best: Cell
    verdict: Verdict
    """`only one`: no other technique was measured."""
    runner_up: Cell | None = None
    comparison: Comparison | None = None
    """How many times better the best is than the runner-up: above 1 for every metric."""
    tied: tuple[Cell, ...] = ()
    """The techniques that the best is not detectably better than."""
    doubtful: tuple[str, ...] = ()
    """The doubtful cells of the group, each with its flags."""
    missing: tuple[str, ...] = ()
    """The cells of the group without a number: one of them might be the best."""
    absent: tuple[str, ...] = ()
    """The techniques that other groups of the scope have and this one was not planned with."""
    cells: tuple[str, ...] = ()
    """The ids of all cells of the group."""


@dataclass(frozen=True)
class _Standing:
    """A group with its best and what each other one's ratio to it is."""

    rows: tuple[Row, ...]
    best: Row
    others: tuple[tuple[Row, Comparison], ...]
    """The nearest first."""
    missing: tuple[Row, ...]

    @property
    def p_value(self) -> float | None:
        """Of "the best is not better than all others"; None where an interval lacks."""
        values = [found.p_value for _, found in self.others]
        known = [value for value in values if value is not None]
        return max(known) if known and len(known) == len(values) else None


def leaders(rows: Sequence[Row], scope: Scope, metric: Metric) -> list[Leader]:
    """The leader of every group of the scope that has a number, in the order of the rows."""
    groups = _groups(rows, scope)
    every = dict.fromkeys(row.cell.key for group in groups for row in group)
    standings = [
        (standing, tuple(key for key in every if key not in {row.cell.key for row in group}))
        for group in groups
        if (standing := _standing(_heads(group, metric) if scope == "both" else group, metric))
    ]
    known = [each.p_value for each, _ in standings if each.p_value is not None]
    levels = iter(holm_levels(known))
    return [
        replace(
            _leader(each, scope, metric, None if each.p_value is None else next(levels)),
            absent=absent,
        )
        for each, absent in standings
    ]


def _groups(rows: Sequence[Row], scope: Scope) -> list[list[Row]]:
    """The rows by complexity and users; over both services only where both are there."""
    groups: dict[tuple[str, int], list[Row]] = {}
    wanted = ("unbound", "none", _usual_kernel(rows))
    for row in rows:
        cell = row.cell
        plain = (cell.placement, cell.front, cell.kernel) == wanted
        if plain and scope in ("both", cell.service) and "not-offered" not in row.flags:
            groups.setdefault((cell.complexity, cell.users), []).append(row)
    services = 2 if scope == "both" else 1
    return [each for each in groups.values() if len({row.cell.service for row in each}) == services]


def _usual_kernel(rows: Sequence[Row]) -> str:
    """`loops` where as many cells have the one as the other: it is the study's."""
    loops = sum(row.cell.kernel == "loops" for row in rows)
    return "loops" if 2 * loops >= len(rows) else "native"


def _heads(group: Sequence[Row], metric: Metric) -> list[Row]:
    """The best of each service; all of a service of which none has a number."""
    heads: list[Row] = []
    for service in dict.fromkeys(row.cell.service for row in group):
        rows = [row for row in group if row.cell.service == service]
        standing = _standing(rows, metric)
        heads += [standing.best] if standing else rows
    return heads


def _standing(group: Sequence[Row], metric: Metric) -> _Standing | None:
    values = {row.cell: series(row, metric) for row in group}
    measured = [row for row in group if _usable(list(values[row.cell].values.values()))]
    if not measured:
        return None
    sign = 1 if metric == "throughput_per_s" else -1
    known = {row.cell: values[row.cell] for row in measured}
    mean = {cell: geometric_mean(each) for cell, each in in_common_blocks(known).items()}
    best, *others = sorted(measured, key=lambda row: -sign * mean[row.cell])
    compared = []
    for row in others:
        better, worse = (best.cell, row.cell)[::sign]
        compared.append((row, paired(values[better], values[worse])))
    return _Standing(
        tuple(group), best, tuple(compared), tuple(row for row in group if row not in measured)
    )


def _usable(values: Sequence[float]) -> bool:
    return bool(values) and min(values) > 0


def _leader(standing: _Standing, scope: Scope, metric: Metric, level: float | None) -> Leader:
    cell = standing.best.cell
    others = [
        (row, found if level is None else judge(found, level)) for row, found in standing.others
    ]
    tied = tuple(row.cell for row, found in others if not _is_worse(found))
    verdict: Verdict = (
        "only one"
        if not others
        else "one run"
        if level is None and all(found.blocks == 1 for _, found in others)
        else "no detectable best"
        if tied
        else "best"
    )
    return Leader(
        scope,
        metric,
        cell.complexity,
        cell.users,
        cell,
        verdict,
        runner_up=others[0][0].cell if others else None,
        comparison=others[0][1] if others else None,
        tied=() if verdict == "one run" else tied,
        doubtful=tuple(text for row in standing.rows if (text := _doubt(row))),
        missing=tuple(row.cell.id for row in standing.missing),
        cells=tuple(row.cell.id for row in standing.rows),
    )


def _is_worse(found: Comparison) -> bool:
    return found.verdict == "different" and (found.estimate or 0) > 1


def _doubt(row: Row) -> str:
    flags = [flag for flag in row.flags if audit.is_doubtful((flag,))]
    return f"{row.cell.id}: {', '.join(flags)}" if flags else ""
