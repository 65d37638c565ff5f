"""How a figure looks: plain points in, an SVG out, the same bytes for the same points.

Colours are Okabe and Ito's (told apart with any colour vision), every line has a marker of its
own as well. The SVG follows the reader's light or dark scheme by itself.
"""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator, NullLocator, StrMethodFormatter

from restbench.show.chart import Chart, Line, Panel

Y_LABELS = {
    "throughput_per_s": "Correct responses per second",
    "mean_ms": "Mean latency, ms",
    "latency_ms": "Latency (open load), ms",
    "kernel_s": "Kernel's own time, s",
    "speed_up": "Speed-up over one core",
    "share_of_best": "Share of the best fixed",
}
#: Blue, vermillion, bluish green, reddish purple, orange, sky blue, black; and Tol's wine.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#4d4d4d", "#882255")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

_INK, _FAINT, PAPER = "#1b1f24", "#d5d9de", "#fefefe"
_DARK = {
    _INK: "#e6e8eb",
    _FAINT: "#3a4048",
    PAPER: "#16191d",
    "#0072b2": "#4aa3df",
    "#4d4d4d": "#a6adb5",
    "#882255": "#d9548a",
}
_WIDTH_IN, _PANEL_IN = 7.0, 2.35
_TITLE_IN, _LEGEND_IN, _PANEL_TITLE_IN, _X_AXIS_IN, _LINE_IN = 0.42, 0.28, 0.2, 0.6, 0.165
#: Names beside each other that fit the width.
_LEGEND_COLUMNS = 4
_CAPTION_CHARACTERS, _TITLE_CHARACTERS = 116, 74
#: Names at the x axis stand aslant.
_NAMES_IN, _NAMES_DEGREES = 0.45, 30
_STYLE: dict[Any, object] = {
    "svg.hashsalt": "restbench",
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
    "font.size": 8.5,
    "axes.facecolor": "none",
    "axes.edgecolor": _INK,
    "axes.labelcolor": _INK,
    "text.color": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": _FAINT,
    "grid.linewidth": 0.6,
    "axes.linewidth": 0.8,
}


def svg(chart: Chart) -> str:
    """The figure as an SVG document of 7 inches' width."""
    return document(lambda: draw(chart), chart.title, chart.caption)


def document(drawn: Callable[[], Figure], title: str, caption: str) -> str:
    """An SVG document of what is drawn, which is drawn in this style."""
    with mpl.rc_context(_STYLE):
        text = io.StringIO()
        metadata = {
            "Date": None,
            "Creator": "restbench",
            "Title": title,
            "Description": caption,
        }
        drawn().savefig(text, format="svg", facecolor=PAPER, metadata=metadata)
    lines = (line.rstrip() for line in text.getvalue().splitlines())
    return "\n".join(lines).replace("</style>", f"{_dark_scheme()}</style>", 1) + "\n"


def _dark_scheme() -> str:
    rules = "".join(
        f'[style*="{kind}: {light}"]{{{kind}:{dark}!important}}'
        for light, dark in _DARK.items()
        for kind in ("fill", "stroke")
    )
    return f"@media (prefers-color-scheme: dark){{{rules}}}"


def draw(chart: Chart) -> Figure:
    """The figure as matplotlib has it; `svg` makes the document of it."""
    panels_in = _PANEL_TITLE_IN if any(panel.title for panel in chart.panels) else 0.0
    x_axis_in = _X_AXIS_IN + (_NAMES_IN if chart.x_names else 0.0)
    above_in = _legend_in(chart) + panels_in
    figure, axes = frame(
        chart.title, chart.caption, len(chart.panels), above_in=above_in, x_axis_in=x_axis_in
    )
    for axis, panel in zip(axes, chart.panels, strict=True):
        _draw_panel(axis, panel, chart)
    _share_scales(axes, chart)
    height_in = float(figure.get_figheight())
    _write_legend(figure, chart, axes[0].get_position().y1 + (above_in + 0.1) / height_in)
    return figure


def frame(  # noqa: PLR0913 - lengths, each with its default
    title: str,
    caption: str,
    panels: int,
    *,
    panel_in: float = _PANEL_IN,
    above_in: float = 0.0,
    x_axis_in: float = _X_AXIS_IN,
    left: float = 0.1,
) -> tuple[Figure, list[Axes]]:
    """A figure with its title, its caption and empty panels side by side.

    `panel_in`, `above_in` (what stands between title and panels) and `x_axis_in` are heights in
    inches, `left` the share of the width left of the panels.
    """
    title, caption = _wrapped(title, _TITLE_CHARACTERS), _wrapped(caption, _CAPTION_CHARACTERS)
    head_in = _TITLE_IN + 0.19 * title.count("\n") + above_in
    foot_in = x_axis_in + _LINE_IN * (caption.count("\n") + 1)
    height_in = head_in + panel_in + foot_in
    figure = Figure(figsize=(_WIDTH_IN, height_in))
    axes = list(figure.subplots(1, panels, squeeze=False)[0])
    top, bottom = 1 - head_in / height_in, foot_in / height_in
    figure.subplots_adjust(left=left, right=0.985, top=top, bottom=bottom, wspace=0.26)
    figure.text(0.012, 1 - 0.1 / height_in, title, fontsize=10.5, weight="bold", va="top")
    figure.text(0.012, 0.06 / height_in, caption, fontsize=8, va="bottom", linespacing=1.35)
    return figure, axes


def _legend_in(chart: Chart) -> float:
    """The legend's height: a line for each few names, nothing for one name."""
    names = len(chart.labels)
    return _LEGEND_IN * -(-names // _LEGEND_COLUMNS) if names > 1 else 0.0


def _wrapped(text: str, width: int) -> str:
    return "\n".join(textwrap.wrap(text, width, break_on_hyphens=False))


def _draw_panel(axis: Axes, panel: Panel, chart: Chart) -> None:
    alone = len(panel.lines) == 1
    for line in panel.lines:
        _draw_line(axis, line, connected=not chart.x_names, values_written=alone)
    axis.set_title(panel.title, fontsize=8.5, loc="left", fontweight="bold")
    axis.set_xlabel(chart.x_label)
    _draw_x_axis(axis, panel, chart)
    axis.grid(visible=False, axis="x")
    axis.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))


def _draw_x_axis(axis: Axes, panel: Panel, chart: Chart) -> None:
    ticks = panel.x_ticks or chart.x_ticks
    axis.xaxis.set_major_locator(FixedLocator(list(ticks)))
    axis.set_xlim(0, max(ticks) * 1.08)
    if chart.x_names:
        axis.set_xlim(0.4, len(chart.x_names) + 0.6)
        axis.set_xticklabels(
            chart.x_names, rotation=_NAMES_DEGREES, ha="right", rotation_mode="anchor"
        )


def _draw_line(axis: Axes, line: Line, *, connected: bool, values_written: bool) -> None:
    colour, marker = _colour(line.colour), _marker(line.colour)
    if connected:
        xs = [point.x for point in line.points]
        ys = [math.nan if point.y is None else point.y for point in line.points]
        axis.plot(xs, ys, color=colour, linewidth=1.4, zorder=2)
    for y, point in line.drawn:
        axis.errorbar(
            point.x,
            y,
            [[y - point.ends[0]], [point.ends[1] - y]],
            linestyle="",
            marker=marker,
            markersize=6,
            markerfacecolor=PAPER if point.doubtful else colour,
            markeredgecolor=colour,
            ecolor=colour,
            elinewidth=1,
            capsize=3,
            zorder=3,
        )
        if values_written:
            _write_value(axis, point.x, y, above=point.ends[1])


def _write_value(axis: Axes, x: float, y: float, above: float) -> None:
    text = f"{y:.3g}" if y < 1000 else f"{y:.0f}"
    axis.annotate(
        text, (x, above), xytext=(0, 7), textcoords="offset points", ha="center", fontsize=7.5
    )


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def _marker(number: int) -> str:
    return MARKERS[number % len(MARKERS)]


def _share_scales(axes: list[Axes], chart: Chart) -> None:
    for metric in dict.fromkeys(panel.metric for panel in chart.panels):
        same = [a for a, panel in zip(axes, chart.panels, strict=True) if panel.metric == metric]
        ends = [
            point.ends
            for panel in chart.panels
            if panel.metric == metric
            for line in panel.lines
            for _, point in line.drawn
        ]
        for axis in same:
            _scale(axis, ends, chart.log_y)
            axis.tick_params(labelleft=axis is same[0])
        same[0].set_ylabel(Y_LABELS[metric] + (" (log)" if chart.log_y else ""))


def _scale(axis: Axes, ends: list[tuple[float, float]], log_y: bool) -> None:
    highest = max((high for _, high in ends), default=1.0) or 1.0
    if not log_y:
        axis.set_ylim(0, highest * 1.15)
        axis.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
        return
    lowest = min((low for low, _ in ends if low > 0), default=highest)
    axis.set_yscale("log")
    axis.set_ylim(lowest / 1.5, highest * 1.6)
    axis.yaxis.set_major_locator(LogLocator(10, subs=(1, 2, 5)))
    axis.yaxis.set_minor_locator(NullLocator())
    axis.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))


def _write_legend(figure: Figure, chart: Chart, top: float) -> None:
    if len(chart.labels) < 2:
        return
    handles = [
        Line2D([], [], color=_colour(number), marker=_marker(number))
        for number in chart.labels.values()
    ]
    figure.legend(
        handles,
        list(chart.labels),
        loc="upper left",
        bbox_to_anchor=(0.0, top),
        ncols=min(len(handles), _LEGEND_COLUMNS),
        frameon=False,
    )
