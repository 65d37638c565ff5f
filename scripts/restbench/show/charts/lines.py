"""Lines of points with their intervals, in panels: plain data in, a chart out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from restbench.analyse.measures import Row
from restbench.experiment.columns import readable
from restbench.experiment.statistics import FEWEST_BLOCKS, geometric_interval, geometric_mean
from restbench.show import wording
from restbench.show.charts import theme

_HEIGHT_PX = 220
#: An end of an interval at or below 0 has no logarithm: it is drawn so far below the value.
_FAR_BELOW = 1e6


@dataclass(frozen=True)
class Point:
    """One cell; `y` is None where it is missing, and the line is interrupted there."""

    x: float
    y: float | None
    interval: tuple[float, float] | None = None
    doubtful: bool = False
    """Whether the mark is drawn hollow."""
    cell: str = ""
    """The id of the cell that the mark links to."""
    name: str = ""
    note: str = ""
    """Further text in the tooltip."""

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the interval, or twice the value without one; `y` must not be None."""
        return self.interval or (self.y or 0.0, self.y or 0.0)


@dataclass(frozen=True)
class Line:
    """One series; `style` numbers its colour and shape."""

    label: str
    style: int
    points: tuple[Point, ...]
    is_limit: bool = False
    """Drawn dashed and without points, in the colour of the line that has its label."""


@dataclass(frozen=True)
class Panel:
    """One pair of axes. Panels of one `y_label` have the same vertical scale."""

    title: str
    y_label: str
    lines: tuple[Line, ...]
    has_ticks: bool = False
    """Whether each measured value of x has a tick; else ticks are placed automatically."""

    @property
    def drawn(self) -> list[Point]:
        """The points that have a value."""
        return [point for line in self.lines for point in line.points if point.y is not None]


def chart(  # noqa: PLR0913 - a chart has that many words
    name: str, title: str, caption: str, panels: Sequence[Panel], x_label: str, *, is_log: bool
) -> theme.Chart | None:
    """The panels side by side, with the values as text alternative; None without a panel."""
    if not panels:
        return None
    series = {line.label: line.style for panel in panels for line in panel.lines}
    scales = {panel.y_label: _scales(panel.y_label, panels) for panel in panels}
    return theme.Chart(
        name=name,
        title=title,
        caption=caption,
        description=" ".join([f"{title}. {caption}", *map(_description, panels)]),
        panels=tuple(
            _panel(panel, series, x_label, scales[panel.y_label]["log" if is_log else "linear"])
            for panel in panels
        ),
        series=series,
        scales=tuple(scales[panel.y_label] for panel in panels),
        is_log=is_log,
    )


def measured(row: Row, metric: str, x: float, name: str = "") -> Point:
    """A cell's mean over the blocks with its 95 % interval, hollow where it has warnings."""
    known, note = row.interval(metric), wording.remarks(row)
    ends = (known.low, known.high) if known else None
    return Point(x, row.value(metric), ends, bool(row.warnings), row.cell.id, name, note)


def mean_point(x: float, values: Sequence[float], **others: Any) -> Point:
    """The geometric mean of the blocks' values above 0; its 95 % interval from FEWEST_BLOCKS on."""
    known = geometric_interval(values) if len(values) >= FEWEST_BLOCKS else None
    mean = geometric_mean(values) if values else None
    return Point(x, mean, (known.low, known.high) if known else None, **others)


def _description(panel: Panel) -> str:
    """The values of a panel in words."""
    lines = [
        f"{line.label}: {', '.join(f'{readable(p.y)} at {p.x:g}' for p in line.points if p.y)}"
        for line in panel.lines
        if not line.is_limit
    ]
    return f"{panel.title or panel.y_label}: {'; '.join(lines)}."


def _scales(y_label: str, panels: Sequence[Panel]) -> dict[str, dict[str, Any]]:
    """The vertical axis of all panels with this label, linear from 0 on and logarithmic: it holds
    every interval."""
    points = [point for each in panels if each.y_label == y_label for point in each.drawn]
    highest = max((max(point.ends) for point in points), default=1.0) or 1.0
    above_0 = [end for point in points for end in (point.ends[0], point.y) if end and end > 0]
    low, high = min(above_0, default=highest) / 1.4, 1.4 * highest
    return {
        "linear": {
            "scale": {"type": "linear", "domain": [0, 1.1 * highest]},
            # A reader can change the scale: what the other one has must have a value here as well.
            "axis": {"tickCount": theme.TICKS},
        },
        "log": {
            "scale": {"type": "log", "domain": [low, high]},
            "axis": theme.log_axis(low, high),
        },
    }


def _panel(panel: Panel, series: dict[str, int], x_label: str, y: Mapping[str, Any]) -> theme.View:
    records = [_record(line, point) for line in panel.lines for point in line.points]
    stroke, shape = theme.series_scales(series)
    x_highest = max((each["x"] for each in records), default=1.0)
    x = alt.X("x:Q").title(x_label).scale(domain=[0, 1.06 * x_highest], nice=False)
    ticks = sorted({each["x"] for each in records if not each["limit"]})
    base = theme.base(records).encode(
        y=alt.Y("y:Q").title(panel.y_label).axis(**y["axis"]).scale(nice=False, **y["scale"])
    )
    bars = base.transform_filter("isValid(datum.low) && !datum.limit").mark_rule(clip=True)
    tips = theme.tips(name="Cell", shown=panel.y_label, ends="95 % interval", note="Warnings")
    fill = alt.Fill("fill:N").scale(None)
    words = base.mark_text(dy=-11).encode(y="top:Q", text="shown:N", stroke=alt.value(None))
    measured = base.transform_filter("!datum.limit")
    layers = [
        measured.mark_line(clip=True),
        base.transform_filter("datum.limit").mark_line(clip=True, strokeDash=[5, 4]),
        bars.encode(y="low:Q", y2="high:Q"),
        measured.mark_point().encode(shape=shape, fill=fill, tooltip=tips),
        *([words] if len(panel.lines) == 1 else []),
    ]
    # By itself Vega writes 1 and 2 as "1.0" and "2.0"; with `format` it rounds 64 threads to 60. Of
    # more values than `tickCount` it leaves out every second one.
    label, count = "format(datum.value, ',~r')", len(ticks)
    if panel.has_ticks:
        x = x.axis(values=ticks, tickCount=count, labelExpr=label, labelOverlap="greedy")
    return theme.layered(panel.title, _HEIGHT_PX, *layers, x=x, stroke=stroke)


def _record(line: Line, point: Point) -> dict[str, Any]:
    drawn = {"x": point.x, "y": point.y, "series": line.label, "limit": line.is_limit}
    if line.is_limit:
        return drawn
    ends = point.interval
    return {
        **drawn,
        "fill": theme.PAPER if point.doubtful else theme.style(line.style)[0],
        "cell": point.cell,
        "name": point.name or point.cell,
        "shown": readable(point.y),
        "ends": f"{readable(ends[0])} to {readable(ends[1])}" if ends else "none: too few blocks",
        "note": point.note or "none",
        "top": point.ends[1] if point.y is not None else None,
        **({"low": max(ends[0], (point.y or 0.0) / _FAR_BELOW), "high": ends[1]} if ends else {}),
    }
