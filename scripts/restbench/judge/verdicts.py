"""The verdict of a ratio on an expectation: one vocabulary for claims, comparisons of two runs, the
adaptive strategy, leaders and NPB kernels, with the meanings of method, rules 6 and 7. Pure.

`greater`, `less` hold where p <= 5 % against a ratio of 1 and the estimate lies beyond the margin;
the mirror of that contradicts them. `same`, `not greater`, `not less` hold by the 90 % interval
(TOST, non-inferiority); they are contradicted where the ratio is significantly beyond the margin,
at 2.5 % a side. `equal` holds where no block differs; a block that differs contradicts it,
untested. With fewer than FEWEST_BLOCKS common blocks every other expectation is too-imprecise.
A claim of several parts is an intersection-union test (Berger 1982): each part at 5 %.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

from restbench.analyse.comparison import Comparison
from restbench.experiment.claim_file import Expectation
from restbench.experiment.columns import readable
from restbench.experiment.profile import MOST_BLOCKS
from restbench.experiment.statistics import (
    CONFIDENCE,
    FEWEST_BLOCKS,
    Ratio,
    holm_levels,
    two_sided_t,
)
from restbench.failures import counted
from restbench.judge.trust import blocks_of

Verdict: TypeAlias = Literal[
    "contradicted",
    "no-effect",
    "smaller-than-margin",
    "not-measurable",
    "not-measured",
    "too-imprecise",
    "reproduced",
]

Prospect: TypeAlias = Literal["holds", "fails", "near"]
"""What an estimate alone says of an expectation."""

#: A claim whose deciding parts differ has the first of these that occurs: what settles the claim
#: (one part that fails) comes before what is unknown, and that before what holds.
PRECEDENCE: tuple[Verdict, ...] = get_args(Verdict)
#: Verdicts that more time would not change.
DECIDED = frozenset(PRECEDENCE) - {"not-measured", "too-imprecise"}
SMALL = ("no-effect", "smaller-than-margin")
#: The expectations that a difference confirms, not the lack of one.
DIFFERENCES: tuple[Expectation, ...] = ("greater", "less")

LEVEL = 0.05
Levels: TypeAlias = tuple[float, float]
"""Of the tests that contradict and that confirm an expectation."""
_ALONE: Levels = (LEVEL, LEVEL)
#: The confidence of the interval that stands for two one-sided tests at LEVEL.
TWO_ONE_SIDED = 1 - 2 * LEVEL
#: An estimate is near the ratio at which its verdict changes if it is at most so much away from it,
#: as few trials of a quick cell may be.
NEAR = 0.2
#: No half-width below this is asked for: the ratio then lies on the margin (method, rule 6).
FINEST_PCT = 2.0
#: A half-width above this one is reported as "more than" it.
WIDEST_PCT = 100.0
#: From so many blocks on, the look before (one block less) must have had the same verdict. The
#: fewest blocks of a verdict are only one look.
LOOKS_FROM = FEWEST_BLOCKS + 1


def verdict(
    found: Comparison, expect: Expectation, against_at: float = LEVEL, holds_at: float = LEVEL
) -> Verdict:
    """The verdict of this look alone. `against_at` is the level of the test that contradicts the
    expectation, `holds_at` that of the test that confirms it."""
    ratio = _tested(found)
    if found.estimate is None:
        return "not-measured"
    if expect == "equal":
        return "reproduced" if found.estimate == 1 else "contradicted"
    if p_against(found, expect) <= against_at:
        return "contradicted"
    if p_holds(found, expect) <= holds_at:
        return "reproduced"
    if ratio and expect in DIFFERENCES and _inside(ratio, found.margin):
        return "smaller-than-margin" if ratio.p_value <= LEVEL else "no-effect"
    return "too-imprecise"


def judged(
    found: Comparison, expect: Expectation, now: Levels = _ALONE, before: Levels = _ALONE
) -> Verdict:
    """The verdict by the levels of this look and of the look before. From LOOKS_FROM blocks on a
    verdict in DECIDED stands only where the look before had it as well."""
    this = verdict(found, expect, *now)
    if found.earlier is None or found.blocks < LOOKS_FROM or this not in DECIDED:
        return this
    earlier = verdict(found.earlier, expect, *before)
    is_same = this == earlier or (this in SMALL and earlier in SMALL)
    return this if is_same else "too-imprecise"


def judge_table(asked: Sequence[tuple[Comparison, Expectation]]) -> list[Verdict]:
    """The verdicts of one table's ratios: Holm over all that may be contradicted."""
    before = _levels([(found.earlier or found, expect) for found, expect in asked])
    levels = zip(_levels(asked), before, strict=True)
    return [judged(*each, *its) for each, its in zip(asked, levels, strict=True)]


def _levels(asked: Sequence[tuple[Comparison, Expectation]]) -> list[Levels]:
    levels = iter(holm_levels([p_against(*each) for each in asked if _tested(each[0])], LEVEL))
    return [(next(levels) if _tested(found) else LEVEL, LEVEL) for found, _ in asked]


def _tested(found: Comparison) -> Ratio | None:
    """The ratio, if it has the blocks that a verdict needs."""
    return found.ratio if found.blocks >= FEWEST_BLOCKS else None


def p_against(found: Comparison, expect: Expectation) -> float:
    """The p value of the test whose rejection contradicts the expectation; 1 without an interval
    of FEWEST_BLOCKS, or where nothing speaks against it."""
    if expect in DIFFERENCES:
        return p_holds(found, "less" if expect == "greater" else "greater")
    ratio, limit = _tested(found), 1 + found.margin
    if ratio is None:
        return 1.0
    above, below = ratio.p_above(limit), 1 - ratio.p_above(1 / limit)
    sides = {"same": min(above, below), "not greater": above, "not less": below}
    return min(1.0, 2 * sides[expect])


def p_holds(found: Comparison, expect: Expectation) -> float:
    """The p value of the test whose rejection confirms the expectation; 1 likewise."""
    ratio, limit = _tested(found), 1 + found.margin
    if ratio is None:
        return 1.0
    if expect == "greater":
        return ratio.p_value if ratio.estimate > limit else 1.0
    if expect == "less":
        return ratio.p_value if ratio.estimate < 1 / limit else 1.0
    above, below = ratio.p_above(1 / limit), 1 - ratio.p_above(limit)
    return {"same": max(above, below), "not greater": below, "not less": above}[expect]


def _inside(ratio: Ratio, margin: float) -> bool:
    low, high = ratio.ends(TWO_ONE_SIDED)
    return low > 1 / (1 + margin) and high < 1 + margin


def is_on_margin(found: Comparison, expect: Expectation) -> bool:
    """Whether the interval is as narrow as is asked for (FINEST_PCT) and this look still decides
    nothing, with all the blocks that a verdict needs."""
    width = found.half_width_pct
    is_fine = _tested(found) is not None and width is not None and width <= FINEST_PCT
    return is_fine and verdict(found, expect) == "too-imprecise"


def prospect(found: Comparison, expect: Expectation) -> Prospect | None:
    """What the estimate alone says before there is a verdict: `near` where more trials are needed
    to tell whether the expectation holds. None without an estimate, and where one block decides."""
    if found.estimate is None or expect == "equal":
        return None
    at, limit = math.log(found.estimate), math.log1p(found.margin)
    beyond = {
        "greater": at - limit,
        "less": -at - limit,
        "same": limit - abs(at),
        "not greater": limit - at,
        "not less": limit + at,
    }[expect]
    if abs(beyond) <= math.log1p(NEAR):
        return "near"
    return "holds" if beyond > 0 else "fails"


def is_unconfirmed(found: Comparison, expect: Expectation) -> bool:
    """Whether this look alone has a verdict that the look before had not."""
    return judged(found, expect) != verdict(found, expect)


def more_times(found: Comparison, expect: Expectation) -> float | None:
    """The multiple of the blocks measured so far that would decide the ratio, if estimate and
    spread stay. None without an interval, where the ratio lies on the margin (`is_on_margin`), and
    where no number of blocks would decide it, as pooled cells differ."""
    ratio = found.ratio
    if ratio is None or is_on_margin(found, expect):
        return None
    if is_unconfirmed(found, expect):
        return (found.blocks + 1) / found.blocks
    at, limit = abs(math.log(ratio.estimate)), math.log1p(found.margin)
    if expect in DIFFERENCES and at > limit:
        wanted = [(at, CONFIDENCE)]
    else:
        # `same` and differences have two margins, of which the nearer counts; the others have one.
        signed = {"not greater": math.log(ratio.estimate), "not less": -math.log(ratio.estimate)}
        distance = abs(limit - signed.get(expect, at))
        wanted = [(math.log1p(FINEST_PCT / 100), CONFIDENCE), (distance, TWO_ONE_SIDED)]
    fewest = min(_blocks_for(found, ratio, *each) for each in wanted)
    return fewest / found.blocks if fewest < math.inf else None


def _blocks_for(found: Comparison, ratio: Ratio, half_width: float, confidence: float) -> float:
    """The number of blocks after which the half-width of the interval of ln(ratio) is at most
    `half_width`. With n blocks, the part of the error that blocks reduce shrinks as 1/sqrt(n), and
    so does the t quantile with n - 1 degrees of freedom. Infinite where the rest is wider."""
    by_blocks = ratio.degrees_of_freedom == found.blocks - 1 and ratio.kept_variance is None
    kept = ratio.kept_variance or 0.0

    def is_narrow(blocks: float) -> bool:
        freedom = blocks - 1 if by_blocks else ratio.degrees_of_freedom
        error = math.sqrt(kept + (ratio.log_error**2 - kept) * found.blocks / blocks)
        return two_sided_t(freedom, confidence) * error <= half_width

    if kept and two_sided_t(ratio.degrees_of_freedom, confidence) * math.sqrt(kept) > half_width:
        return math.inf
    return (
        found.blocks + 1 + bisect_left(range(found.blocks + 1, MOST_BLOCKS), x=True, key=is_narrow)
    )


def verdict_text(of: Verdict) -> str:
    """The verdict in words, such as `too imprecise`."""
    return of.replace("-", " ")


def detailed_text(
    of: Verdict, found: Comparison, expect: Expectation, minutes: float | None = None
) -> str:
    """The verdict in words, with what belongs to it: `too imprecise (± 6.5 %, 12 minutes more)`.
    `minutes` more would decide it; None where that is not known."""
    words, width = verdict_text(of), found.half_width_pct
    if of != "too-imprecise":
        return words
    if width is None:
        return f"{words} ({'one block, so ' * (found.blocks < 2)}no interval)"
    # With so wide an interval a percentage says no more than that it is large.
    size = f"± {width:.1f} %" if width <= WIDEST_PCT else f"more than ± {WIDEST_PCT:.0f} %"
    if found.blocks < FEWEST_BLOCKS:
        size = f"{found.blocks} blocks, a verdict needs {FEWEST_BLOCKS}"
    elif is_on_margin(found, expect):
        return f"{words} ({size}, on the margin)"
    elif is_unconfirmed(found, expect):
        size += ", to be confirmed by one more block"
    whole = max(1, round(minutes or 0.0))
    time = f", {counted(whole, 'minute')} more" if minutes is not None else ""
    return f"{words} ({size}{time})"


def certainty_text(metric: str, found: Sequence[Comparison]) -> str:
    """A sentence on how certain ratios of a metric are: their blocks and intervals."""
    counts = [each.blocks for each in found if each.blocks] or [0]
    fewest, most = min(counts), max(counts)
    shown = "no interval, so no verdict" if most < 2 else "each ratio has a 95 % interval"
    alone = ", except those of one block" if fewest < 2 <= most else ""
    return f"Ratios of {metric} over {blocks_of(counts)}: {shown}{alone}."


def ratio_text(found: Comparison) -> str:
    """The ratio for people: `0.312 [0.250, 0.389]`, or without an interval where there is none."""
    if found.estimate is None:
        return ""
    text, ratio = readable(found.estimate), found.ratio
    return f"{text} [{readable(ratio.low)}, {readable(ratio.high)}]" if ratio else text
