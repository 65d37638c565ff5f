"""The parts of one claim held against a run's rows: each ratio, its verdict and its sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from restbench.cell import Cell
from restbench.claim import Expectation, Metric, Part, Term
from restbench.claim_terms import side
from restbench.columns import readable
from restbench.comparison import Comparison, judged, paired
from restbench.measures import Row

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


WORDS: dict[Metric, str] = {
    "throughput_per_s": "throughput",
    "mean_ms": "mean latency",
    "cpu_ms_per_request": "CPU time per request",
}


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
class _Asked:
    """A question with its two sides found in the rows."""

    part: Part
    label: str
    cells: tuple[str, ...]
    comparison: Comparison


def weigh(parts: Sequence[Part], rows: Mapping[Cell, Row], margin: float) -> list[PartDecision]:
    """A decision for every question of the parts, judged together as one table (Holm)."""
    asked = [each for part in parts for each in _ask(part, rows, margin)]
    verdicts = judged([each.comparison for each in asked])
    return [_decide(each, found) for each, found in zip(asked, verdicts, strict=True)]


def ratio_text(comparison: Comparison) -> str:
    """The ratio for people: `0.312 [0.250, 0.389]`, or without an interval where there is none."""
    if comparison.estimate is None:
        return ""
    text = readable(comparison.estimate)
    ratio = comparison.ratio
    return f"{text} [{readable(ratio.low)}, {readable(ratio.high)}]" if ratio else text


def _ask(part: Part, rows: Mapping[Cell, Row], margin: float) -> list[_Asked]:
    return [
        _ask_one(part, question.numerator, question.denominator, rows, part.margin or margin)
        for question in part.questions()
    ]


def _ask_one(
    part: Part, top: Term, bottom: Term, rows: Mapping[Cell, Row], margin: float
) -> _Asked:
    (one, first), (two, second) = (side(term, part.metric, rows) for term in (top, bottom))
    cells = dict.fromkeys(cell.id for term in (top, bottom) for cell in term.cells)
    return _Asked(part, f"{one} / {two}", tuple(cells), paired(first, second, margin))


def _decide(asked: _Asked, comparison: Comparison) -> PartDecision:
    part = asked.part
    verdict = _verdict(comparison, part)
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


def _verdict(comparison: Comparison, part: Part) -> Verdict:
    ratio = comparison.ratio
    if ratio is None:
        return "one run" if comparison.verdict == "one run" else "not measured"
    if comparison.verdict == "different" and _direction(comparison) in AGAINST[part.expect]:
        return "contradicted"
    if not _holds(comparison, part.expect):
        return "not detected"
    if part.study_value and not ratio.low <= part.study_value <= ratio.high:
        return "same direction, other size"
    return "reproduced"


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


def _why(asked: _Asked, comparison: Comparison, verdict: Verdict, leans: bool) -> str:
    if comparison.estimate is None:
        return f"{asked.label}: {comparison.lack}"
    found = f"{WORDS[asked.part.metric]} {asked.label} = {ratio_text(comparison)}"
    return found + _tail(asked.part, comparison, verdict, leans)


def _tail(part: Part, comparison: Comparison, verdict: Verdict, leans: bool) -> str:
    if verdict == "same direction, other size":
        return f", where the study has {part.study_value}"
    if verdict == "contradicted":
        one_sided = part.expect in ("greater", "less")
        limit = f"of over {100 * comparison.margin:.0f} %"
        return f", a real difference {'the other way' if one_sided else limit}"
    if verdict == "one run":
        return f" in one run, {'as' if leans else 'not as'} the claim says"
    if verdict == "reproduced":
        return ""
    if part.expect in ("greater", "less"):
        seen = comparison.could_have_seen or 1.0
        return f" (could have seen {readable(seen)} or {readable(1 / seen)})"
    return f", not all within the margin of {100 * comparison.margin:.0f} %"
