"""Which technique comes first in each group of cells, and how sure that is: pure functions on rows.
`judge.answer` puts the result into words.

A group is the cells of one complexity and number of users that are unbound, in the default
framework with one worker behind no web server, and have the kernel that most of the run's cells
have. A strategy that the runtime does not offer is in no group. The best of a group must be better
than EVERY other technique in it (intersection-union, so the group's p value is the largest of the
pairs' p values); Holm counts the groups of one scope. A pair needs the look before, as a claim
does (method, rule 6), and is `not-measurable` where the load generator caused its ratio (rule 7).
A technique with too few blocks for a verdict is not compared where it is OUT_OF_RACE times as slow.
In the scope `both`, the best technique of one service is compared with the best of the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, TypeAlias, get_args

from restbench.analyse import messages
from restbench.analyse.comparison import Comparison, best_cell, paired, series, usable
from restbench.analyse.measures import Row
from restbench.experiment.cell import Cell
from restbench.experiment.statistics import FEWEST_BLOCKS, holm_levels
from restbench.grouping import grouped
from restbench.judge import verdicts
from restbench.judge.guard import unmeasurable
from restbench.judge.questions import OUT_OF_RACE
from restbench.judge.verdicts import DECIDED, LEVEL, PRECEDENCE, SMALL, Verdict

Scope: TypeAlias = Literal["java", "python", "both"]
Metric: TypeAlias = Literal["throughput_per_s", "cpu_ms_per_request"]

SCOPES: tuple[Scope, ...] = get_args(Scope)


@dataclass(frozen=True)
class Leader:
    """A row of the answer's table: which technique comes first in a group."""

    scope: Scope
    best: Cell
    others: tuple[tuple[Cell, Comparison], ...]
    """The other techniques, the nearest first, each with how many times better the best is: above 1
    for every metric."""
    unmeasurable: Mapping[Cell, str] = field(default_factory=dict)
    """By other technique: why something else caused its ratio; only those with such a reason."""
    standings: Mapping[Cell, Verdict] = field(default_factory=dict)
    """By other technique: the verdict on "the best is better than this one"."""
    far: frozenset[Cell] = frozenset()
    """Those of the others that are out of the race, with too few blocks for a test."""
    warned: tuple[str, ...] = ()
    """The cells of the group that have warnings, with these."""
    missing: tuple[str, ...] = ()
    """The cells of the group without a number: one of them might be the best."""
    cells: tuple[str, ...] = ()
    is_order: bool = False
    """Whether no group has an interval: one block gives an order, no verdict."""

    @property
    def verdict(self) -> Verdict:
        """The verdict on "the best is better than every other"; `not-measured` without another."""
        found = self.standings.values()
        return next((each for each in PRECEDENCE if each in found), "not-measured")

    @property
    def tied(self) -> tuple[Cell, ...]:
        """The techniques that the best is not shown to be better than."""
        return tuple(cell for cell, each in self.standings.items() if each != "reproduced")

    @property
    def tested(self) -> list[Comparison]:
        """The comparisons that are tests: those with techniques that are not out of the race."""
        return [each for cell, each in self.others if cell not in self.far]

    @property
    def p_value(self) -> float:
        """The p value of "the best is not better than all others"; 1 without an interval."""
        return max((verdicts.p_holds(each, "greater") for each in self.tested), default=1.0)

    @property
    def comparison(self) -> Comparison | None:
        """The comparison with the nearest other technique; None without another."""
        return self.others[0][1] if self.others else None

    @property
    def is_shown(self) -> bool:
        """Whether the best technique is shown to be the best. In a run of one block, which can show
        nothing, whether it came first among several."""
        return self.verdict == "reproduced" or (self.is_order and bool(self.others))

    @property
    def is_tie(self) -> bool:
        """Whether every technique not shown to be worse is shown to be equal, within the margin."""
        return all(self.is_same(cell) for cell in self.tied)

    def is_same(self, cell: Cell) -> bool:
        """Whether another technique is shown to be equal to the best, within the margin."""
        return self.standings.get(cell) in SMALL

    @property
    def text(self) -> str:
        """The verdict for people."""
        if self.comparison is None:
            return "only one"
        tied = [each for cell, each in self.others if cell in self.tied]
        p_holds = partial(verdicts.p_holds, expect="greater")
        least_sure = max(tied, key=p_holds, default=self.comparison)
        text = verdicts.detailed_text(self.verdict, least_sure, "greater")
        return text.replace("reproduced", "best")


def leaders(rows: Sequence[Row], scope: Scope, metric: Metric) -> list[Leader]:
    """The leader of every group of the scope that has a number, in the order of the rows."""
    return of_groups(_groups(rows, scope), scope, metric)


def of_groups(groups: Sequence[Sequence[Row]], scope: Scope, metric: Metric) -> list[Leader]:
    """The leader of each of these groups that has a number, judged together."""
    heads = (_best_row_per_service(group, metric) if scope == "both" else group for group in groups)
    found = [leader for each in heads if (leader := _leader(each, scope, metric))]
    without_last_block = [
        replace(each, others=tuple((cell, it.earlier or it) for cell, it in each.others))
        for each in found
    ]
    is_order = all(ratio.blocks == 1 for each in found for _, ratio in each.others)
    return [
        replace(each, standings=_standings(each, now, before), is_order=is_order)
        for each, now, before in zip(
            found, _levels(found), _levels(without_last_block), strict=True
        )
    ]


def of_messages(rows: Sequence[Row]) -> list[Leader]:
    """Each service's leader among several queue techniques and strategies under one load."""
    groups = messages.of_one_load(rows).items()
    found = (of_groups([group], service, "throughput_per_s") for service, group in groups)
    return [each for leaders in found for each in leaders if each.others]


def _groups(rows: Sequence[Row], scope: Scope) -> list[list[Row]]:
    """The rows by complexity and users; for the scope `both` only groups with both services."""
    groups: dict[tuple[str, int], list[Row]] = {}
    loops = sum(row.cell.kernel == "loops" for row in rows)
    # The study's kernel (loops) where both kernels have equally many cells.
    kernel = "loops" if 2 * loops >= len(rows) else "native"
    for row in rows:
        cell = row.cell
        # Of two builds only B counts: A is its baseline.
        others = cell.model_copy(update={"kernel": "loops", "build": "checkout"}).unusual
        plain = (cell.placement, cell.kernel, others) == ("unbound", kernel, ())
        plain = plain and cell.build != "A"
        if plain and scope in ("both", cell.service) and "not-offered" not in row.flags:
            groups.setdefault((cell.complexity, cell.users), []).append(row)
    services = 2 if scope == "both" else 1
    return [each for each in groups.values() if len({row.cell.service for row in each}) == services]


def _best_row_per_service(group: Sequence[Row], metric: Metric) -> list[Row]:
    """The row of the best technique of each service; all rows of a service without any number."""
    heads: list[Row] = []
    for rows in grouped(group, lambda row: row.cell.service).values():
        leader = _leader(rows, "both", metric)
        heads += [row for row in rows if leader is None or row.cell == leader.best]
    return heads


def _leader(group: Sequence[Row], scope: Scope, metric: Metric) -> Leader | None:
    known = usable(group, metric)
    if not known:
        return None
    far = _out_of_race([row for row in group if row.cell in known], metric)
    best = best_cell({cell: each for cell, each in known.items() if cell not in far}, metric)
    of = {row.cell: row for row in group}
    others, reasons = [], {}
    for cell in known:
        if cell != best:
            pair = (best, cell) if metric == "throughput_per_s" else (cell, best)
            ask = partial(_ratio, metric, *pair)
            others.append((cell, ask(of)))
            reasons[cell] = unmeasurable(metric, "greater", pair, of, ask)
    return Leader(
        scope,
        best,
        tuple(sorted(others, key=lambda each: (each[0] in far, each[1].estimate or 0.0))),
        far=far,
        warned=tuple(
            f"{row.cell.id}: {', '.join(map(str, row.warnings))}" for row in group if row.warnings
        ),
        missing=tuple(row.cell.id for row in group if row.cell not in known),
        cells=tuple(row.cell.id for row in group),
        unmeasurable={cell: why for cell, why in reasons.items() if why},
    )


def _out_of_race(group: Sequence[Row], metric: Metric) -> frozenset[Cell]:
    """The cells that cannot be the best, though they have fewer blocks than a verdict needs: the
    best of the others is OUT_OF_RACE times as good."""
    costs = {
        row.cell: (len(row.measured), 1 / value if metric == "throughput_per_s" else value)
        for row in group
        if (value := row.value(metric))
    }
    least = min((cost for blocks, cost in costs.values() if blocks >= FEWEST_BLOCKS), default=None)
    return frozenset(
        cell
        for cell, (blocks, cost) in costs.items()
        if least is not None and blocks < FEWEST_BLOCKS and cost >= OUT_OF_RACE * least
    )


def _ratio(metric: Metric, better: Cell, worse: Cell, rows: Mapping[Cell, Row]) -> Comparison:
    return paired(series(rows[better], metric), series(rows[worse], metric))


def _levels(found: Sequence[Leader]) -> list[float]:
    """Holm's level of each group. A group with one technique is no test, and is not counted."""
    levels = iter(holm_levels([each.p_value for each in found if each.tested], LEVEL))
    return [next(levels) if each.tested else LEVEL for each in found]


def _standings(leader: Leader, now: float, before: float) -> dict[Cell, Verdict]:
    """The standings by the group's levels in this look and in the look before."""
    found = {
        cell: verdicts.judged(ratio, "greater", (LEVEL, now), (LEVEL, before))
        for cell, ratio in leader.others
    }
    withheld = {cell for cell in leader.unmeasurable if found[cell] in DECIDED}
    return (
        found | dict.fromkeys(withheld, "not-measurable") | dict.fromkeys(leader.far, "reproduced")
    )
