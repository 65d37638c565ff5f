"""What a factorial design has found, as charts: the effects, and the checks of their residuals."""

from __future__ import annotations

import math

import altair as alt
import numpy as np
import scipy  # its parts are loaded when they are first used

from restbench.analyse.factorial import Effect, Factorial
from restbench.show import factorial as words
from restbench.show.charts import forest, theme
from restbench.show.charts.forest import Entry, Panel
from restbench.show.charts.theme import Chart

EFFECTS, RESIDUALS = "factorial-effects", "factorial-residuals"
_STYLES = {"effect": 0, "unexplained": 6}
_DRAWN_AT_MOST, _HEIGHT_PX = 20, 200


def charts(found: Factorial) -> list[Chart | None]:
    """The effects; the residuals too where there are several blocks."""
    return [_effects(found), *([_residuals(found)] if found.degrees_of_freedom else [])]


def _effects(found: Factorial) -> Chart | None:
    ranked = sorted(found.effects, key=lambda each: -each.share_pct)[:_DRAWN_AT_MOST]
    is_ratio = found.model == "multiplicative"
    shares = [Entry(each.name, each.share_pct, None, "effect") for each in ranked]
    shares += [Entry(name, share, None, "unexplained") for name, share in words.unexplained(found)]
    sizes = [_size(found, each, is_ratio=is_ratio) for each in ranked]
    unit = "High over low" if is_ratio else f"q, {found.design.response}"
    size = "high over low" if is_ratio else "q, half of high less low"
    shown = (
        f"with {100 * found.confidence:.0f} % intervals; filled where Holm's test over all effects "
        "tells it from none."
        if found.degrees_of_freedom
        else "one run a cell; the band is Lenth's margin."
    )
    caption = f"Bars: shares of the variation, a description and no test. Points: {size}, {shown}"
    if len(ranked) < len(found.effects):
        caption += f" The {_DRAWN_AT_MOST} largest of {len(found.effects)} effects."
    return forest.chart(
        EFFECTS,
        f"What explains {words.response(found)}",
        caption,
        [
            Panel("Share", "Share of the variation, %", tuple(shares), None, from_zero=True),
            Panel("Size", unit, tuple(sizes), 1.0 if is_ratio else 0.0, is_ratio=is_ratio),
        ],
        _STYLES,
    )


def _size(found: Factorial, effect: Effect, *, is_ratio: bool) -> Entry:
    value, low, high = effect.ratio if is_ratio else (effect.q, *effect.ends)
    margin = None
    if not found.degrees_of_freedom:
        limit = found.lenth_margin
        margin = (math.exp(-2 * limit), math.exp(2 * limit)) if is_ratio else (-limit, limit)
    return Entry(
        label=effect.name,
        value=value,
        interval=None if effect.half_width is None else (low, high),
        series="effect",
        is_sure=effect in found.distinguishable(),
        note=f"{effect.share_pct:.1f} % of the variation",
        margin=margin,
    )


def _residuals(found: Factorial) -> Chart:
    residuals = np.array(found.residuals)
    flat = residuals.ravel()
    places = np.argsort(np.argsort(flat, kind="stable"))
    panels = {
        "Predicted": np.repeat(found.means, residuals.shape[1]),
        "Order of measurement": np.argsort(np.argsort(np.array(found.order).ravel(), kind="stable"))
        + 1,
        "Normal quantile": scipy.special.ndtri((places + 0.5) / flat.size),
    }
    caption = (
        "Sound: no trend and one width in the first two panels, a straight line in the third. "
        + " ".join(found.warnings or ("No check of the residuals fails.",))
    )
    return Chart(
        name=RESIDUALS,
        title=f"Residuals of {words.response(found)}",
        caption=caption,
        description=f"Three scatter plots of {flat.size} residuals. {caption}",
        panels=tuple(_scatter(label, x.tolist(), flat.tolist()) for label, x in panels.items()),
    )


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
