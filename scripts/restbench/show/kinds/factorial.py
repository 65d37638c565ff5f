"""The results of a factorial design, in words, as tables and as charts: the effects, the variation
that no effect explains, and the checks of the residuals."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import altair as alt
import numpy as np
import scipy  # its parts are loaded when they are first used

from restbench.analyse import factorial
from restbench.analyse.factorial import Effect, Factorial
from restbench.analyse.measures import Row
from restbench.experiment.columns import readable
from restbench.experiment.experiment import Experiment
from restbench.failures import CellsFailed
from restbench.judge import trust
from restbench.show import document as doc
from restbench.show.charts import forest, theme
from restbench.show.findings import Findings, View

#: From this share on the sentence says "… % of the variation is" this effect.
MOST_OF_IT_PCT = 50.0
_NAMED_FROM_PCT, _NAMED_AT_MOST = 1.0, 5
_TITLE = "How much does each factor explain?"
_SIGNS_SHOWN_UP_TO = 16
_STYLES = {"effect": 0, "unexplained": 6}
_DRAWN_AT_MOST, _HEIGHT_PX = 20, 200


def of(definition: Experiment, rows: Sequence[Row]) -> Factorial | str | None:
    """The effects of a run's design; why there are none; None without a design."""
    try:
        return factorial.of_run(definition, rows)
    except CellsFailed as error:
        return str(error)


def page(found: Findings, its: Factorial | str | None) -> doc.Section | None:
    """The sentence, the charts, and the effects, or why there are none."""
    if not isinstance(its, Factorial):
        return doc.section("factorial", _TITLE, its)
    signs = sign_table(its) if len(its.means) <= _SIGNS_SHOWN_UP_TO else None
    return doc.section(
        "factorial",
        _TITLE,
        sentence(its),
        *found.figures("factorial"),
        effect_table(its),
        [*its.design.warnings(), *its.left_out, *its.warnings],
        doc.section("factorial-signs", "The cells with their signs", signs, folded=True),
    )


def sentence(found: Factorial) -> str:
    """What explains the response, how much is unexplained, and which effects differ from 0."""
    if found.sst == 0:
        return f"No variation: {response(found)} is the same in every run."
    first, *others = sorted(found.effects, key=lambda each: -each.share_pct)
    named = [each for each in others if each.share_pct >= _NAMED_FROM_PCT][:_NAMED_AT_MOST]
    parts = [_lead(found, first)]
    parts += [f"{each.name} {each.share_pct:.1f} %" for each in named]
    if unnamed := others[len(named) :]:
        share = sum(each.share_pct for each in unnamed)
        together = " together" * (len(unnamed) > 1)
        parts.append(f"{len(unnamed)} more{together} {share:.1f} %")
    rest = [f"{found.block_share_pct:.1f} % is between blocks"] if found.ss_blocks else []
    if found.degrees_of_freedom:
        rest.append(f"{found.error_share_pct:.1f} % is between runs of one cell")
    explained = "; ".join(part for part in (", ".join(parts), ", ".join(rest)) if part)
    return f"{explained}. {_significance(found)}"


def sure(found: Factorial) -> str:
    """How sure the effects are."""
    blocks, percent = trust.blocks_of([len(found.blocks)]), f"{100 * found.confidence:.0f} %"
    if not found.degrees_of_freedom:
        return f"The shares come from {blocks}; no effect has an interval."
    return f"Effects have {percent} intervals over {blocks}, and are tested together."


def _lead(found: Factorial, first: Effect) -> str:
    if first.share_pct >= MOST_OF_IT_PCT:
        return f"{first.share_pct:.0f} % of {response(found)}'s variation is {first.name}"
    levels = found.design.factors.get(first.name)
    change = f" ({levels[0]} → {levels[1]})" if levels else ""
    share = f"{first.share_pct:.1f} % of the variation of {response(found)}"
    return f"{first.name}{change} explains {share}"


def _significance(found: Factorial) -> str:
    if found.degrees_of_freedom == 0:
        margin = _limit(found, found.lenth_margin)
        return f"One run per cell gives shares only; Lenth's margin is {margin}."
    test = f"(Holm, {100 * (1 - found.confidence):.0f} %)"
    seen = [f"{each.name} ({_size(found, each)})" for each in found.distinguishable()]
    # The ratio is that of the response at a factor's high and low level; it is named only once.
    of = f", {_words(found)} high/low" if found.model == "multiplicative" else ""
    known = f"Distinguishable from 0 {test}{of}: {trust.named(seen)}"
    known = known if seen else f"No effect is distinguishable from 0 {test}"
    limit = found.smallest_detectable_effect
    if found.model == "multiplicative":
        return f"{known}; ratios below {np.exp(2 * limit):.3f} could not be detected."
    return f"{known}; effects below {_limit(found, limit)} could not be detected."


def _size(found: Factorial, effect: Effect) -> str:
    if found.model == "multiplicative":
        return readable(effect.ratio[0])
    return f"q {readable(effect.q)}"


def _limit(found: Factorial, value: float) -> str:
    """A value, also as a percentage of the mean except on a logarithmic scale, which has no 0."""
    short = f"{float(f'{value:.2g}'):g}"
    if found.model == "multiplicative" or found.q0 == 0:
        return short
    return f"{short} ({100 * value / abs(found.q0):.1f} %)"


def response(found: Factorial) -> str:
    """The name of the response without its unit; of its logarithm where effects multiply."""
    return f"ln {_words(found)}" if found.model == "multiplicative" else _words(found)


def _words(found: Factorial) -> str:
    if found.design.response == "mean_ms":
        return "mean response time"
    return re.sub("_(per_s|ms|s|pct|mib)$", "", found.design.response).replace("_", " ")


def unexplained(found: Factorial) -> list[tuple[str, float]]:
    """The parts of the variation that are no effect, each with its share in percent."""
    parts = [("between blocks", found.block_share_pct)] if found.design.blocks else []
    parts.append(("between runs of one cell", found.error_share_pct))
    return parts if found.degrees_of_freedom else []


def effect_table(found: Factorial) -> doc.Table:
    """A row for the mean, each effect, the blocks and the error."""
    is_ratio = found.model == "multiplicative"
    percent = f"{100 * found.confidence:.0f} %"
    size = "High / low" if is_ratio else "q"
    head = ("Sign", "Effect", size, f"{percent} interval", "Share %", "p (Holm)")
    mean = math.exp(found.q0) if is_ratio else found.q0
    rows: list[tuple[object, ...]] = [("I", "mean", mean, "", "", "")]
    rows += [_effect(each, is_ratio=is_ratio) for each in found.effects]
    rows += [("", name, "", "", f"{share:.1f}", "") for name, share in unexplained(found)]
    return doc.listed("Effects", head, rows, texts=2)


def _effect(each: Effect, *, is_ratio: bool) -> tuple[object, ...]:
    value, low, high = each.ratio if is_ratio else (each.q, *each.ends)
    ends = "" if each.half_width is None else f"{readable(low)} … {readable(high)}"
    p = "" if each.p_holm is None else f"{each.p_holm:.3f}".replace("0.000", "< 0.001")
    return each.column.words[0], each.name, value, ends, f"{each.share_pct:.1f}", p


def sign_table(found: Factorial) -> doc.Table:
    """A row per cell in Yates order: its levels, its signs, its mean on the scale of the model, and
    the intervals of the mean and of one further run, without the effect of that run's block."""
    mean = "Mean of ln" if found.model == "multiplicative" else "Mean"
    head = ["Cell", "I", *(each.column.words[0] for each in found.effects), mean]
    widths: list[float] = []
    if found.degrees_of_freedom:
        percent = f"{100 * found.confidence:.0f} %"
        head += [f"{percent} interval", f"{percent} for a new run"]
        coefficients = len(found.means)
        widths = [found.half_width(coefficients), found.half_width(coefficients, 1)]
    rows = [
        (
            found.design.cell_named(cell),
            1,
            *(of.column.signs[cell] for of in found.effects),
            value,
            *(f"{readable(value - width)} … {readable(value + width)}" for width in widths),
        )
        for cell, value in enumerate(found.means)
    ]
    return doc.listed("Signs and means", head, rows, texts=1)


def charts(found: Factorial) -> list[theme.Chart | None]:
    """The effects; the residuals too where there are several blocks."""
    return [_effects_chart(found), *([_residuals(found)] if found.degrees_of_freedom else [])]


def _effects_chart(found: Factorial) -> theme.Chart | None:
    ranked = sorted(found.effects, key=lambda each: -each.share_pct)[:_DRAWN_AT_MOST]
    is_ratio = found.model == "multiplicative"
    shares = [forest.Entry(each.name, each.share_pct, None, "effect") for each in ranked]
    shares += [forest.Entry(name, share, None, "unexplained") for name, share in unexplained(found)]
    sizes = [_sized(found, each, is_ratio=is_ratio) for each in ranked]
    unit = "High / low" if is_ratio else f"q, {found.design.response}"
    size = "high / low" if is_ratio else "q, half of high minus low"
    shown = (
        f"with {100 * found.confidence:.0f} % intervals. A filled symbol: the effect differs "
        "from none by Holm's test over all effects."
        if found.degrees_of_freedom
        else "from one run per cell; the band is Lenth's margin."
    )
    caption = (
        f"Bars: shares of the variation, which describe and do not test. Points: {size}, {shown}"
    )
    if len(ranked) < len(found.effects):
        caption += f" Only the {_DRAWN_AT_MOST} largest of {len(found.effects)} effects are shown."
    return forest.chart(
        "factorial-effects",
        f"What explains {response(found)}",
        caption,
        [
            forest.Panel("Share", "Share of the variation, %", tuple(shares), None, from_zero=True),
            forest.Panel("Size", unit, tuple(sizes), 1.0 if is_ratio else 0.0, is_ratio=is_ratio),
        ],
        _STYLES,
    )


def _sized(found: Factorial, effect: Effect, *, is_ratio: bool) -> forest.Entry:
    value, low, high = effect.ratio if is_ratio else (effect.q, *effect.ends)
    margin = None
    if not found.degrees_of_freedom:
        limit = found.lenth_margin
        margin = (math.exp(-2 * limit), math.exp(2 * limit)) if is_ratio else (-limit, limit)
    return forest.Entry(
        label=effect.name,
        value=value,
        interval=None if effect.half_width is None else (low, high),
        series="effect",
        is_sure=effect in found.distinguishable(),
        note=f"{effect.share_pct:.1f} % of the variation",
        margin=margin,
    )


def _residuals(found: Factorial) -> theme.Chart:
    residuals = np.array(found.residuals)
    flat = residuals.ravel()
    places = np.argsort(np.argsort(flat, kind="stable"))
    panels = {"Predicted": np.repeat(found.means, residuals.shape[1])}
    if not found.design.blocks:
        panels["Block"] = np.array(found.order).ravel()
    panels["Normal quantile"] = scipy.special.ndtri((places + 0.5) / flat.size)
    caption = (
        "The model is sound if the last panel shows a straight line, and the other panels show no "
        "trend and an even spread. "
        + " ".join(found.warnings or ("No check of the residuals fails.",))
        + " Differences between blocks are removed from the residuals, so these are not compared "
        "with the order of measurement." * found.design.blocks
    )
    drawn = tuple(_scatter(label, x.tolist(), flat.tolist()) for label, x in panels.items())
    description = f"{len(panels)} scatter plots of {flat.size} residuals. {caption}"
    title = f"Residuals of {response(found)}"
    return theme.Chart("factorial-residuals", title, caption, description, drawn)


def _scatter(label: str, xs: list[float], residuals: list[float]) -> theme.View:
    records = [{"x": x, "residual": y} for x, y in zip(xs, residuals, strict=True)]
    colour, _ = theme.style(_STYLES["effect"])
    zero = theme.base([{"at": 0}], can_hide=False).mark_rule(strokeWidth=1).encode(y="at:Q")
    points = theme.base(records, can_hide=False).mark_point(size=30, fill=colour, stroke=colour)
    points = points.encode(
        x=alt.X("x:Q").title(label).scale(zero=False),
        y=alt.Y("residual:Q").title("Residual"),
        tooltip=[alt.Tooltip(f"{each}:Q", format=".4~g") for each in ("x", "residual")],
    )
    return theme.layered("", _HEIGHT_PX, zero, points)


VIEW = View(
    lambda found: of(found.definition, found.rows),
    page,
    lambda its: sentence(its) if isinstance(its, Factorial) else "",
    lambda its: sure(its) if isinstance(its, Factorial) else "",
    lambda its: charts(its) if isinstance(its, Factorial) else (),
    records=lambda run, its: (
        {run.factorial_json: its.to_json()} if isinstance(its, Factorial) else {}
    ),
)
