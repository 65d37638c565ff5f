"""The parts of one claim held against a run's rows: each ratio, its verdict and its sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from restbench.analyse.comparison import Comparison, judge, paired
from restbench.analyse.measures import Row
from restbench.experiment.cell import Cell
from restbench.experiment.claim import Expectation, Part, Term
from restbench.experiment.columns import readable
from restbench.experiment.statistics import holm_levels
from restbench.judge.claim_limit import ACROSS_USERS, limit
from restbench.judge.claim_terms import side

Verdict: TypeAlias = Literal[
    "reproduced",
    "same direction, other size",
    "not detected",
    "contradicted",
    "one run",
    "not measured",
]
Direction: TypeAlias = Literal["greater", "less", "none"]

#: Which real difference contradicts an expectation.
AGAINST: dict[Expectation, tuple[Direction, ...]] = {
    "greater": ("less",),
    "less": ("greater",),
    "same": ("greater", "less"),
    "not greater": ("greater",),
    "not less": ("less",),
}
#: What a single run must show to lean towards an expectation.
LEANS: dict[Expectation, tuple[Direction, ...]] = {
    "greater": ("greater",),
    "less": ("less",),
    "same": ("none",),
    "not greater": ("none", "less"),
    "not less": ("none", "greater"),
}


WORDS: dict[str, str] = {
    "throughput_per_s": "throughput",
    "mean_ms": "mean latency",
    "p95_ms": "p95",
    "cpu_ms_per_request": "CPU time per request",
    "kernel_s": "time",
}


class Expected(Protocol):
    """What a part of a claim of any kind says of its ratios."""

    @property
    def metric(self) -> str:
        """What is divided, a key of WORDS."""

    @property
    def expect(self) -> Expectation:
        """What is expected of the ratio."""

    @property
    def study_value(self) -> float | None:
        """The ratio in the study, where it is published as a number."""


@dataclass(frozen=True)
class PartDecision:
    """One ratio of a claim: what was expected of it and what the run says."""

    label: str
    """Such as `M low 30u / M low 10u`."""
    metric: str
    expect: Expectation
    verdict: Verdict
    comparison: Comparison
    study_value: float | None
    cells: tuple[str, ...]
    """The ids of the cells behind it."""
    why: str
    leans: bool = False
    """Of one run: whether it shows what the claim says."""


@dataclass(frozen=True)
class Asked:
    """A question with its two sides found in the rows."""

    part: Expected
    label: str
    cells: tuple[str, ...]
    comparison: Comparison
    limited: str
    """Why something else than the techniques may have made the ratio; empty where nothing did."""

    @property
    def ratio_of(self) -> tuple[str, str]:
        """What identifies the ratio, whatever is expected of it."""
        return self.part.metric, self.label


def weigh(parts: Sequence[Part], rows: Mapping[Cell, Row], margin: float) -> list[PartDecision]:
    """A decision for every question of the parts."""
    return judge_together([each for part in parts for each in _ask(part, rows, margin)])


def judge_together(asked: Sequence[Asked]) -> list[PartDecision]:
    """A decision for every question, judged as one table (Holm). A ratio that two parts look at,
    with two margins, is one comparison of the table."""
    p_values = {each.ratio_of: each.comparison.p_value for each in asked}
    known = {ratio: p_value for ratio, p_value in p_values.items() if p_value is not None}
    levels = dict(zip(known, holm_levels(list(known.values())), strict=True))
    return [_decide(each, judge(each.comparison, levels.get(each.ratio_of, 0.0))) for each in asked]


def ratio_text(comparison: Comparison) -> str:
    """The ratio for people: `0.312 [0.250, 0.389]`, or without an interval where there is none."""
    if comparison.estimate is None:
        return ""
    text = readable(comparison.estimate)
    ratio = comparison.ratio
    return f"{text} [{readable(ratio.low)}, {readable(ratio.high)}]" if ratio else text


def _ask(part: Part, rows: Mapping[Cell, Row], margin: float) -> list[Asked]:
    return [
        _ask_one(part, question.numerator, question.denominator, rows, part.margin or margin)
        for question in part.questions()
    ]


def _ask_one(part: Part, top: Term, bottom: Term, rows: Mapping[Cell, Row], margin: float) -> Asked:
    (one, first), (two, second) = (
        side(term, part.metric, rows, part.kind) for term in (top, bottom)
    )
    cells = dict.fromkeys(cell.id for term in (top, bottom) for cell in term.cells)
    named = [cell for term in (top, bottom) for cell in term.cells]
    found = paired(first, second, margin)
    return Asked(part, f"{one} / {two}", tuple(cells), found, limit(part, named, rows))


def _decide(asked: Asked, comparison: Comparison) -> PartDecision:
    part = asked.part
    verdict = _verdict(comparison, part, asked.limited)
    leans = _direction(comparison) in LEANS[part.expect]
    return PartDecision(
        label=asked.label,
        metric=part.metric,
        expect=part.expect,
        verdict=verdict,
        comparison=comparison,
        study_value=part.study_value,
        cells=asked.cells,
        why=_why(asked, comparison, verdict, leans),
        leans=verdict == "one run" and leans,
    )


def _verdict(comparison: Comparison, part: Expected, limited: str) -> Verdict:
    ratio = comparison.ratio
    if ratio is None:
        return "one run" if comparison.verdict == "one run" else "not measured"
    against = comparison.verdict == "different" and _direction(comparison) in AGAINST[part.expect]
    hidden = limited == ACROSS_USERS or (limited and not against)
    if hidden or not (against or _holds(comparison, part.expect)):
        return "not detected"
    if against:
        return "contradicted"
    return "same direction, other size" if _other_size(comparison, part) else "reproduced"


def _other_size(comparison: Comparison, part: Expected) -> bool:
    """Whether the study's value lies outside the interval by more than the margin. Beside `same` or
    `not greater` it may even lie the other way: there it is only shown."""
    ratio, limit = comparison.ratio, 1 + comparison.margin
    if ratio is None or part.study_value is None or part.expect not in ("greater", "less"):
        return False
    return not ratio.low / limit <= part.study_value <= ratio.high * limit


def _holds(comparison: Comparison, expect: Expectation) -> bool:
    ratio, limit = comparison.ratio, 1 + comparison.margin
    if ratio is None:
        return False
    if expect == "same":
        return comparison.equivalent
    if expect == "not greater":
        return ratio.high < limit
    if expect == "not less":
        return ratio.low > 1 / limit
    return comparison.verdict == "different" and _direction(comparison) == expect


def _direction(comparison: Comparison) -> Direction:
    """Which way the estimate lies, by more than the margin."""
    estimate, limit = comparison.estimate or 1.0, 1 + comparison.margin
    return "greater" if estimate > limit else "less" if estimate < 1 / limit else "none"


def _why(asked: Asked, comparison: Comparison, verdict: Verdict, leans: bool) -> str:
    if comparison.estimate is None:
        return f"{asked.label}: {comparison.lack}"
    found = f"{WORDS[asked.part.metric]} {asked.label} = {ratio_text(comparison)}"
    if verdict == "not detected" and asked.limited:
        return f"{found}, but {asked.limited}"
    return found + _tail(asked.part, comparison, verdict, leans)


def _tail(part: Expected, comparison: Comparison, verdict: Verdict, leans: bool) -> str:
    if verdict == "same direction, other size":
        return f", where the study has {part.study_value}"
    if verdict == "contradicted":
        one_sided = part.expect in ("greater", "less")
        size = f", estimated at over {100 * comparison.margin:.0f} %"
        return f", a real difference{' the other way' if one_sided else size}"
    if verdict == "one run":
        return f" in one run, {'as' if leans else 'not as'} the claim says"
    if verdict == "reproduced":
        return ""
    if part.expect in ("greater", "less"):
        seen = comparison.could_have_seen or 1.0
        return f" (could have seen {readable(seen)} or {readable(1 / seen)})"
    return f", not all within the margin of {100 * comparison.margin:.0f} %"
