"""The questions of a claim and their ratios, whose sides have a name and values by block."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from restbench.analyse.comparison import (
    Comparison,
    Series,
    best_cell,
    best_of_others,
    combine,
    common_blocks,
    exact,
    paired,
    pooled,
    series,
)
from restbench.analyse.estimates import LONGEST_FOR_A_MEAN_S
from restbench.analyse.measures import Row
from restbench.experiment.cell import STRATEGIES, Cell
from restbench.experiment.claim_file import Expectation, Part, Question, Term
from restbench.experiment.statistics import COMPLETIONS_NEEDED
from restbench.grouping import grouped
from restbench.judge.guard import Ask, by_generator, unmeasurable

#: A candidate for the best without a value is out of the race (it counts as not the best) where its
#: requests take at least so many times as long as those of the best candidate with a value.
#: Machines of one model differ 1.9-fold, and hours 1.6-fold (method, rule 12): together 3-fold.
OUT_OF_RACE = 5.0


@dataclass(frozen=True)
class QuestionResult:
    """A question of a claim with its ratio found in the rows."""

    label: str
    """Such as `M low 30u / M low 10u`."""
    metric: str
    """The metric whose values are divided, a key of `judge.claims.WORDS`."""
    expect: Expectation
    cells: tuple[str, ...]
    """The ids of the cells behind it."""
    comparison: Comparison
    ask: Ask = field(repr=False, compare=False)
    """Computes the comparison from other rows."""
    study_value: float | None = None
    """The ratio in the study, where it is published as a number."""
    unmeasurable: str = ""
    """What other than the cells caused the ratio; empty where nothing did."""
    is_pooled: bool = False
    """Whether its ratio is pooled with those of other questions."""
    percentile_s: Mapping[str, float] = field(default_factory=dict)
    """By id of each cell with too few answers for the percentile: the seconds of trials in a block
    that would give enough answers; infinity where no time would."""


def asked(parts: Sequence[Part], rows: Sequence[Row], margin: float) -> list[QuestionResult]:
    """The results of the pools, then of all questions. `margin` is for parts without their own."""
    known = {row.cell: row for row in rows}
    found = [
        _ask(part, question, known, part.margin or margin)
        for part in parts
        for question in part.questions()
    ]
    pools = grouped(
        (each for each in found if each.is_pooled),
        lambda each: (each.metric, each.expect, each.comparison.margin),
    )
    return [*(_pool(each, known) for each in pools.values()), *found]


def _ask(part: Part, question: Question, rows: Mapping[Cell, Row], margin: float) -> QuestionResult:
    """One question of a part, its two sides found in the rows."""
    sides = ((question.numerator, part.metric), (question.denominator, part.over or part.metric))
    cells = tuple(dict.fromkeys(cell for term, _ in sides for cell in term.cells))
    compared = exact if part.expect == "equal" else paired

    def ratio(of: Mapping[Cell, Row]) -> Comparison:
        first, second = (side(term, metric, of, part.kind)[1] for term, metric in sides)
        return compared(first, second, margin)

    names = [side(term, metric, rows, part.kind)[0] for term, metric in sides]
    if part.over:
        one, two = names
        second = "" if one == two else f"{two} "
        names = [f"{one} {in_words(part.metric)}", f"{second}{in_words(part.over)}"]
    return QuestionResult(
        " / ".join(names),
        part.metric,
        part.expect,
        tuple(cell.id for cell in cells),
        ratio(rows),
        ratio,
        part.study_value or part.study_values.get(cells[0].complexity),
        unmeasurable(part.metric, part.expect, cells, rows, ratio),
        part.pooled,
        {id: s for term, metric in sides for id, s in _lacking_s(term, metric, rows, part.kind)},
    )


def in_words(metric: str) -> str:
    """The name of a time without its unit, such as `warm total`."""
    return metric.removesuffix("_s").replace("_", " ")


def _pool(asked: Sequence[QuestionResult], rows: Mapping[Cell, Row]) -> QuestionResult:
    """The pooled ratio, for any cell like these, from the ratios of all of them."""
    metric, expect = asked[0].metric, asked[0].expect
    cells = dict.fromkeys(cell for each in asked for cell in each.cells)

    def ratio(of: Mapping[Cell, Row]) -> Comparison:
        return pooled([each.ask(of) for each in asked])

    here = [cell for cell in rows if cell.id in cells]
    own = by_generator(metric, expect, here, rows, ratio)
    return QuestionResult(
        f"any similar cell (from {len(asked)} ratios)",
        metric,
        expect,
        tuple(cells),
        pooled([each.comparison for each in asked]),
        ratio,
        unmeasurable=own or next((each.unmeasurable for each in asked if each.unmeasurable), ""),
        percentile_s={id: s for each in asked for id, s in each.percentile_s.items()},
    )


def short(cell: Cell, kind: str = "") -> str:
    """A cell in few words, not two in the same: `pinned low 10u`, `java adaptive low in mix 1u`."""
    level = cell.complexity if kind in ("", cell.complexity) else f"{kind} in {cell.complexity}"
    return f"{technique(cell)} {level} {cell.users}u"


def technique(cell: Cell) -> str:
    """A cell's name without complexity and users, such as `pinned` or `java serial@core0`; with the
    service where both services have the strategy."""
    both = all(cell.strategy in of for of in STRATEGIES.values())
    name = f"{cell.service} {cell.strategy}" if both else cell.strategy
    at = "" if cell.placement == "unbound" else f"@{cell.placement}"
    return "+".join([f"{name}{at}", *cell.unusual])


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
        other = _values(term.per, metric, rows, kind)
        # A quotient of 0 is reported as no ratio.
        values = combine(values, other, lambda one, two: one / two if two > 0 else 0.0)
        return f"({name} / {short(term.per)})", values
    return name, values


def _values(cell: Cell, metric: str, rows: Mapping[Cell, Row], kind: str) -> Series:
    if cell not in rows:
        return Series(lack=f"{cell.id} is not in this run")
    return series(rows[cell], metric, "" if kind == cell.complexity else kind)


def _best(term: Term, metric: str, rows: Mapping[Cell, Row], kind: str) -> tuple[str, Series]:
    """The name and values of the best candidate that the runtime offers. The values are missing
    where a candidate that is not out of the race was not measured, as it might be the best."""
    here = [
        cell
        for cell in term.candidates
        if cell not in rows or "not-offered" not in rows[cell].flags
    ]
    if not here:
        return "(best of none)", Series(lack="the runtime offers none of the candidates")
    values = {cell: _values(cell, metric, rows, kind) for cell in here}
    lost = [] if kind else _out_of_race(values, metric, rows)
    # Candidates of different complexities, such as ways of calling, may share a technique.
    named = technique if len({*map(technique, here)}) == len(here) else short
    far = f"; {', '.join(map(named, lost))} excluded as far slower" if lost else ""
    name = f"best of {', '.join(map(named, here))}{far}"
    values = {cell: each for cell, each in values.items() if cell not in lost}
    for each in values.values():
        if not each.is_usable:
            return f"({name})", each
    if term.left_out:
        return f"({name}, chosen by the other blocks)", _by_other_blocks(values, metric)
    best = best_cell(values, metric)
    return f"{short(best, kind)} ({name})", values[best]


def _out_of_race(
    values: Mapping[Cell, Series], metric: str, rows: Mapping[Cell, Row]
) -> list[Cell]:
    """The candidates without a value that cannot be the best of throughput or p95, as their
    requests take OUT_OF_RACE times as long: their mean over the best's mean, or over its p95."""
    known = {cell: each for cell, each in values.items() if each.is_usable}
    if not known or metric not in ("throughput_per_s", "p95_ms"):
        return []
    best = best_cell(known, metric)
    value = known[best].median or 0.0
    best_s = value / 1000 if metric == "p95_ms" else best.users / value
    return [
        cell
        for cell, each in values.items()
        if cell not in known
        and not each.void
        and _least_response_s(cell, rows) >= OUT_OF_RACE * best_s
    ]


def _least_response_s(cell: Cell, rows: Mapping[Cell, Row]) -> float:
    """A lower bound of a cell's mean response time: the longest mean (users over throughput) of the
    cell and of the same cell with fewer users, as more users make no answer faster; 0 without."""
    known = [
        other.users / per_s
        for other, row in rows.items()
        if other.users <= cell.users
        and other.model_copy(update={"users": cell.users}) == cell
        and (per_s := row.value("throughput_per_s"))
    ]
    return max(known, default=0.0)


def _lacking_s(
    term: Term, metric: str, rows: Mapping[Cell, Row], kind: str
) -> Iterator[tuple[str, float]]:
    """One side's QuestionResult.percentile_s; candidates far behind the best are left out."""
    means_s = {cell: _least_response_s(cell, rows) for cell in term.candidates}
    best_s = min(filter(None, means_s.values()), default=0.0)
    for cell, mean_s in means_s.items():
        per_s = _values(cell, "throughput_per_s", rows, kind).median
        if metric != "p95_ms" or not per_s or _values(cell, metric, rows, kind).values:
            continue
        if mean_s < OUT_OF_RACE * best_s:
            never = not kind and mean_s > LONGEST_FOR_A_MEAN_S
            yield cell.id, math.inf if never else COMPLETIONS_NEEDED[95] / per_s


def _by_other_blocks(values: Mapping[Cell, Series], metric: str) -> Series:
    """In each block the value of the cell that is best in all others."""
    blocks = common_blocks(values.values())
    if len(blocks) < 2:
        return Series(lack="two blocks with all candidates are needed")
    known = {cell: [each.values[block] for block in blocks] for cell, each in values.items()}
    chosen = best_of_others(known, more_is_better=metric.endswith("_per_s"))
    pairs = zip(blocks, chosen, strict=True)
    return Series({block: values[cell].values[block] for block, cell in pairs})
