"""Two builds in one run: the ratio B/A of each cell, paired by block, against the thresholds of the
experiment's file; `docs/ci.md` has the meaning of each state. Pure.

The number of blocks is fixed before a run, so a verdict needs no earlier look that confirms it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

from restbench.analyse.comparison import Comparison, paired, series
from restbench.analyse.measures import Row
from restbench.experiment.cell import Build
from restbench.experiment.columns import HEADINGS
from restbench.experiment.records import BuiltCommit
from restbench.experiment.study import Limit, Thresholds
from restbench.judge import trust, verdicts
from restbench.judge.verdicts import Verdict, ratio_text

State: TypeAlias = Literal["faulty", "beyond", "no number", "undecided", "within"]
Fault: TypeAlias = Literal["wrong answers", "failed"]
"""The more serious fault first."""

_STATES: Mapping[Verdict, State] = {
    "contradicted": "beyond",
    "not-measured": "no number",
    "too-imprecise": "undecided",
    "reproduced": "within",
}
#: A cell has the first of these states that one of its ratios has.
STATES: tuple[State, ...] = get_args(State)
#: How many cells a sentence names.
_NAMED = 3


@dataclass(frozen=True)
class ThresholdResult:
    """A ratio B/A, compared with its threshold."""

    limit: Limit
    comparison: Comparison
    state: State

    def __str__(self) -> str:
        """For people: `Throughput /s 0.812 [0.78, 0.845], at least 0.95: beyond`."""
        found = self.comparison.lack or ratio_text(self.comparison)
        return f"{HEADINGS[self.limit.metric]} {found}, {self.limit}: {self.state}"


@dataclass(frozen=True)
class Pair:
    """A cell in both builds."""

    name: str
    """The cell's id without its build."""
    first: Row
    second: Row
    held: tuple[ThresholdResult, ...]

    @property
    def state(self) -> State:
        """The first of STATES that one of the cell's ratios has."""
        found = {self.state_of(each) for each in self.held}
        return next(each for each in STATES if each in found)

    def state_of(self, held: ThresholdResult) -> State:
        """The state of one ratio of the cell. Where a block has a fault, the ratio covers only the
        other blocks and decides nothing: `faulty`."""
        return "faulty" if self.faults and held.state != "no number" else held.state

    @property
    def faults(self) -> Mapping[str, Fault]:
        """By cell id: the faults that make the command fail whatever the ratios are."""
        found = {row.cell.id: _fault(row) for row in (self.first, self.second)}
        return {name: fault for name, fault in found.items() if fault}

    @property
    def is_left_out(self) -> bool:
        """Whether the cell is missing without a fault: for lack of time, or not offered."""
        flags = {*self.first.flags, *self.second.flags}
        return not self.faults and not flags.isdisjoint(("not-offered", "not-measured"))


def _fault(row: Row) -> Fault | None:
    if "wrong-answers" in row.flags:
        return "wrong answers"
    is_failed = "failed" in row.flags and "not-offered" not in row.flags
    return "failed" if is_failed else None


def pairs(rows: Iterable[Row], thresholds: Thresholds) -> list[Pair]:
    """Each cell that was planned in both builds, in the order of the rows."""
    found: dict[str, dict[Build, Row]] = {}
    for row in rows:
        name = row.cell.model_copy(update={"build": "checkout"}).id
        found.setdefault(name, {})[row.cell.build] = row
    both = {name: (each["A"], each["B"]) for name, each in found.items() if {*each} == {"A", "B"}}
    asked = [
        (paired(series(second, limit.metric), series(first, limit.metric), limit.margin), limit)
        for first, second in both.values()
        for limit in thresholds.limits
    ]
    decided = verdicts.judge_table(
        [(replace(comparison, earlier=None), limit.expect) for comparison, limit in asked]
    )
    held = iter(
        ThresholdResult(limit, comparison, _STATES[verdict])
        for (comparison, limit), verdict in zip(asked, decided, strict=True)
    )
    return [
        Pair(name, *rows_of, tuple(next(held) for _ in thresholds.limits))
        for name, rows_of in both.items()
    ]


def sentence(found: Sequence[Pair], builds: Mapping[Build, BuiltCommit]) -> str:
    """What the run says, in one sentence."""
    states = {state: [each for each in found if each.state == state] for state in STATES}
    parts = []
    if beyond := states["beyond"]:
        parts.append(
            f"beyond the thresholds in {len(beyond)} of {len(found)} cells ({_named(beyond)})"
        )
    faults = [each for pair in found for each in pair.faults.items()]
    for fault in get_args(Fault):
        if cells := [cell for cell, of in faults if of == fault]:
            parts.append(f"{fault}: {trust.named(cells)}")
    if within := states["within"]:
        parts.append(f"within the thresholds in {len(within)} of {len(found)} cells")
    if undecided := states["undecided"]:
        parts.append(f"undecided in {len(undecided)}: measure longer")
    if lacking := states["no number"]:
        parts.append(f"without a result in {len(lacking)}")
    return f"B, {builds['B']}, compared with A, {builds['A']}: {'; '.join(parts)}."


def _named(beyond: Sequence[Pair]) -> str:
    named = [
        f"{each.name}: {held}"
        for each in beyond[:_NAMED]
        for held in each.held
        if held.state == "beyond"
    ]
    return "; ".join([*named, *(["…"] if len(beyond) > _NAMED else [])])
