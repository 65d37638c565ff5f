"""What a factorial design has found: a sentence, tables in Markdown, two figures as SVG."""

from __future__ import annotations

import re
import textwrap

import numpy as np
import scipy  # its parts are loaded when they are first used
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import StrMethodFormatter

from restbench.analyse.factorial import Effect, Factorial
from restbench.experiment.columns import readable
from restbench.show import drawing

#: From this share on the sentence says what the variation *is*.
MOST_OF_IT_PCT = 50.0
_NAMED_FROM_PCT, _NAMED_AT_MOST = 1.0, 5
_DRAWN_AT_MOST, _SIGNS_SHOWN_UP_TO = 20, 16
_LINE_IN, _NAME_CHARACTERS, _LEFT = 0.15, 28, 0.31
_LOG_FROM_RATIO = 10.0


def sentence(found: Factorial) -> str:
    """What explains the response, how much is left, and which effects are really there."""
    if found.sst == 0:
        return f"No variation: {_response(found)} is the same in every run."
    first, *others = sorted(found.effects, key=lambda each: -each.share_pct)
    named = [each for each in others if each.share_pct >= _NAMED_FROM_PCT][:_NAMED_AT_MOST]
    parts = [_lead(found, first)]
    parts += [f"{each.name} {each.share_pct:.1f} %" for each in named]
    if unnamed := others[len(named) :]:
        share = sum(each.share_pct for each in unnamed)
        parts.append(f"{len(unnamed)} further together {share:.1f} %")
    rest = [f"{found.block_share_pct:.1f} % is between blocks"] if found.ss_blocks else []
    if found.degrees_of_freedom:
        rest.append(f"{found.error_share_pct:.1f} % is between runs of one cell")
    explained = "; ".join(part for part in (", ".join(parts), ", ".join(rest)) if part)
    return f"{explained}. {_significance(found)}"


def _lead(found: Factorial, first: Effect) -> str:
    if first.share_pct >= MOST_OF_IT_PCT:
        return f"{first.share_pct:.0f} % of the variation is `{first.name}`"
    levels = found.design.factors.get(first.name)
    change = f" ({levels[0]} → {levels[1]})" if levels else ""
    share = f"{first.share_pct:.1f} % of the variation of {_response(found)}"
    return f"`{first.name}`{change} explains {share}"


def _significance(found: Factorial) -> str:
    if found.degrees_of_freedom == 0:
        margin = f"{_short(found.lenth_margin)}{_of_mean(found, found.lenth_margin)}"
        return f"One run a cell: shares only; Lenth's margin is {margin}."
    test = f"(Holm, {100 * (1 - found.confidence):.0f} %)"
    seen = [f"{each.name} ({_size(found, each)})" for each in found.distinguishable()]
    known = f"Distinguishable from 0 {test}: {', '.join(seen)}"
    known = known if seen else f"No effect is distinguishable from 0 {test}"
    limit = found.could_have_seen
    if found.model == "multiplicative":
        return f"{known}; ratios nearer to 1 than {np.exp(2 * limit):.3f} could not be seen."
    return f"{known}; effects below {_short(limit)}{_of_mean(found, limit)} could not be seen."


def _size(found: Factorial, effect: Effect) -> str:
    if found.model == "multiplicative":
        return f"high/low {readable(effect.ratio[0])}"
    return f"q {readable(effect.q)}"


def _of_mean(found: Factorial, value: float) -> str:
    """A part of the mean; nothing on a logarithmic scale, which has no 0."""
    if found.model == "multiplicative" or found.q0 == 0:
        return ""
    return f" ({100 * value / abs(found.q0):.1f} %)"


def _short(value: float) -> str:
    return f"{float(f'{value:.2g}'):g}"


def _response(found: Factorial) -> str:
    """The response without its unit; its logarithm where effects multiply."""
    words = re.sub("_(per_s|ms|s|pct|mib)$", "", found.design.response).replace("_", " ")
    return f"ln {words}" if found.model == "multiplicative" else words


def unexplained(found: Factorial) -> list[tuple[str, float]]:
    """The parts of the variation that are no effect, each with its share in percent."""
    parts = [("between blocks", found.block_share_pct)] if found.design.blocks else []
    parts.append(("between runs of one cell", found.error_share_pct))
    return parts if found.degrees_of_freedom else []


def effects_svg(found: Factorial) -> str:
    """The figure *effects*: the share of each as a bar, its size with whiskers next to it."""
    ranked = sorted(found.effects, key=lambda each: -each.share_pct)[:_DRAWN_AT_MOST]
    title = f"What explains {_response(found)}"
    size = "high over low" if found.model == "multiplicative" else "q, half of high less low"
    shown = (
        f"with {100 * found.confidence:.0f} % intervals; filled where Holm's test over all effects "
        "tells it from none."
        if found.degrees_of_freedom
        else "one run a cell; dotted: Lenth's margin."
    )
    caption = f"Bars: shares of the variation, a description and no test. Points: {size}, {shown}"
    if len(ranked) < len(found.effects):
        caption += f" The {_DRAWN_AT_MOST} largest of {len(found.effects)} effects."
    return drawing.document(lambda: _effects(found, ranked, title, caption), title, caption)


def _effects(found: Factorial, ranked: list[Effect], title: str, caption: str) -> Figure:
    rows = [(each.name, each.share_pct) for each in ranked] + unexplained(found)
    names = [textwrap.fill(name, _NAME_CHARACTERS) for name, _ in rows]
    row_in = 0.13 + _LINE_IN * max(name.count("\n") + 1 for name in names)
    figure, (bars, sizes) = drawing.frame(
        title, caption, 2, panel_in=0.2 + row_in * len(rows), left=_LEFT
    )
    colours = [drawing.COLOURS[0 if n < len(ranked) else 6] for n in range(len(rows))]
    drawn = bars.barh(range(len(rows)), [share for _, share in rows], 0.6, color=colours)
    bars.bar_label(drawn, fmt="%.1f", padding=3, fontsize=7.5)
    bars.set_xlim(0, 1.2 * max(share for _, share in rows) or 1)
    bars.set_yticks(range(len(rows)), names)
    bars.set_xlabel("Share of the variation, %")
    _draw_sizes(sizes, found, ranked)
    sizes.set_yticks(range(len(rows)), [""] * len(rows))
    for axis in (bars, sizes):
        axis.set_ylim(len(rows) - 0.5, -0.5)
        axis.grid(visible=False, axis="y")
    return figure


def _draw_sizes(axis: Axes, found: Factorial, ranked: list[Effect]) -> None:
    colour, ratio = drawing.COLOURS[0], found.model == "multiplicative"
    seen = found.distinguishable()
    axis.axvline(1 if ratio else 0, color=drawing.COLOURS[6], linewidth=1)
    for place, each in enumerate(ranked):
        value, low, high = each.ratio if ratio else (each.q, *each.ends)
        axis.plot([low, high], [place, place], color=colour, linewidth=1.2, marker="|")
        filled = colour if each in seen else drawing.PAPER
        axis.plot(value, place, "o", color=colour, markerfacecolor=filled)
    # Of an additive effect exp(2q) means nothing, and may be too large for a float.
    ends = [end for each in ranked for end in each.ratio] if ratio else [1.0]
    if max(ends) > _LOG_FROM_RATIO * min(ends):
        axis.set_xscale("log")
        axis.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    if found.degrees_of_freedom == 0:
        for end in (-found.lenth_margin, found.lenth_margin):
            at = float(np.exp(2 * end)) if ratio else end
            axis.axvline(at, color=drawing.COLOURS[1], linestyle=":")
    axis.set_xlabel("High over low" if ratio else f"q, {found.design.response}")


def residuals_svg(found: Factorial) -> str | None:
    """The figure *residuals*: against prediction, order and normal quantiles; None for r = 1."""
    if found.degrees_of_freedom == 0:
        return None
    title = f"Residuals of {_response(found)}"
    caption = (
        "Sound: no trend and one width in the first two panels, a straight line in the third. "
        + " ".join(found.warnings or ("No check of the residuals fails.",))
    )
    return drawing.document(lambda: _residuals(found, title, caption), title, caption)


def _residuals(found: Factorial, title: str, caption: str) -> Figure:
    residuals = np.array(found.residuals)
    count = residuals.size
    by_time = np.argsort(np.argsort(np.array(found.order).ravel(), kind="stable")) + 1
    places = np.argsort(np.argsort(residuals.ravel(), kind="stable"))
    figure, axes = drawing.frame(title, caption, 3)
    panels = {
        "Predicted": np.repeat(found.means, residuals.shape[1]),
        "Order of measurement": by_time,
        "Normal quantile": scipy.special.ndtri((places + 0.5) / count),
    }
    for axis, (label, x) in zip(axes, panels.items(), strict=True):
        axis.axhline(0, color=drawing.COLOURS[6], linewidth=1)
        axis.plot(x, residuals.ravel(), "o", color=drawing.COLOURS[0], markersize=4)
        axis.set_xlabel(label)
        axis.tick_params(labelleft=axis is axes[0])
    axes[0].set_ylabel("Residual")
    return figure
