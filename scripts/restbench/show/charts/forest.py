"""Forest plots: values with their intervals against a margin, one per line. Plain data in, a chart
out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import altair as alt

from restbench.analyse.comparison import Comparison
from restbench.analyse.measures import Row
from restbench.show import wording
from restbench.show.charts import theme

T = TypeVar("T")
_ROW_PX = 34
#: Offsets from the middle of a row: the words stand above it, the interval below.
_WORDS_PX, _MARKS_PX = -8, 8
_LOG_FROM = 4


@dataclass(frozen=True)
class Entry:
    """A line of the plot; without a value it has words only."""

    label: str
    """Entries of one label share a line."""
    value: float | None
    interval: tuple[float, float] | None
    series: str
    """What colour and shape stand for, such as a verdict."""
    name: str = ""
    """The name in the tooltip, where several entries share a label."""
    is_sure: bool = True
    """Whether the mark is filled."""
    cell: str = ""
    note: str = ""
    """Further text in the tooltip."""
    margin: tuple[float, float] | None = None
    """Between these values a difference does not count."""


def band(margin: float) -> tuple[float, float]:
    """The range of ratios within a margin: 0.05 is 5 %."""
    return 1 / (1 + margin), 1 + margin


def compared(found: Comparison, row: Row, label: str, series: str, **others: Any) -> Entry:
    """A cell's ratio against its margin; `others` are fields of the entry."""
    usual: dict[str, Any] = {"cell": row.cell.id, "margin": band(found.margin)}
    usual["note"] = wording.remarks(row)
    return Entry(label, found.estimate, found.ends, series, **(usual | others))


@dataclass(frozen=True)
class Panel:
    """Entries under a title and over one axis."""

    title: str
    x_label: str
    entries: tuple[Entry, ...]
    reference: float | None = 1.0
    """The value that means no difference."""
    is_ratio: bool = True
    """Whether the values are ratios: over a wide range they get a logarithmic axis."""
    from_zero: bool = False
    """Whether there are bars from 0 instead of points."""
    has_values: bool = True
    """Whether the value is written at the right end of each line."""


def panels(
    groups: Mapping[str, Iterable[T]], x_label: str, entry: Callable[[T], Entry], **others: Any
) -> list[Panel]:
    """A panel for each group, under its name; `entry` makes the lines. `others` are fields of the
    panels."""
    return [Panel(name, x_label, tuple(map(entry, of)), **others) for name, of in groups.items()]


def chart(
    name: str, title: str, caption: str, panels: Sequence[Panel], styles: Mapping[str, int]
) -> theme.Chart | None:
    """A chart of these panels; None without a panel. `styles` has the number of each series' colour
    and shape, in the order of the legend."""
    if not panels:
        return None
    used = {entry.series for panel in panels for entry in panel.entries}
    series = {label: number for label, number in styles.items() if label in used}
    description = " ".join([f"{title}. {caption}", *map(_description, panels)])
    drawn = tuple(_panel(panel, series) for panel in panels)
    return theme.Chart(name, title, caption, description, drawn, 330, series)


def _description(panel: Panel) -> str:
    parts = [f"{each.name or each.label}: {_shown(each)}, {each.series}" for each in panel.entries]
    return f"{panel.title}: {'; '.join(parts)}."


def _shown(entry: Entry) -> str:
    return wording.with_ends(entry.value, *(entry.interval or (None, None))) or "no number"


def _panel(panel: Panel, series: Mapping[str, int]) -> theme.View:
    records = [_record(entry, series) for entry in panel.entries]
    rows = list(dict.fromkeys(each["label"] for each in records))
    stroke, shape = theme.series_scales(series)
    base = theme.base(records).encode(y=alt.Y("label:N").axis(None).scale(domain=rows))
    marks = base.transform_filter("isValid(datum.value)").encode(
        x=_x(panel), stroke=stroke, fill=alt.Fill("fill:N").scale(None)
    )
    tips = theme.tips(name="Name", shown=panel.x_label, series="Result", note="Details")
    bars = marks.mark_bar(height=9, yOffset=_MARKS_PX).encode(tooltip=tips)
    intervals = base.transform_filter("isValid(datum.low)").mark_rule(yOffset=_MARKS_PX)
    points = marks.mark_point(yOffset=_MARKS_PX).encode(shape=shape, tooltip=tips)
    words = base.transform_aggregate(groupby=["label"]).mark_text(
        align="left", dy=_WORDS_PX, limit=alt.ExprRef("item.mark.group.width")
    )
    values = base.mark_text(align="right", dy=_WORDS_PX, fill=theme.SOFT)
    intervals = intervals.encode(x="low:Q", x2="high:Q", stroke=stroke)
    layers = [
        *_margins(base, panel),
        *([bars] if panel.from_zero else [intervals, points]),
        words.encode(text="label:N", x=alt.value(0)),
        *([values.encode(text="text:N", x=alt.value("width"))] if panel.has_values else []),
    ]
    return theme.layered(panel.title, _ROW_PX * len(rows), *layers)


def _margins(base: alt.Chart, panel: Panel) -> list[alt.Chart]:
    """The layers behind the marks: the margin of each line, and the reference. The reference is
    drawn below the words of each line, never through them."""
    found = []
    if any(entry.margin for entry in panel.entries):
        ends = base.transform_aggregate(least="max(least)", most="max(most)", groupby=["label"])
        bands = ends.mark_rect(fill=theme.FAINT, opacity=0.6)
        found.append(bands.encode(x="least:Q", x2="most:Q"))
    if panel.reference is not None:
        lines = base.transform_aggregate(groupby=["label"]).mark_rule(strokeWidth=1)
        at = alt.XDatum(panel.reference, type="quantitative")
        below = alt.Y("label:N").axis(None).bandPosition(0.5)
        found.append(lines.encode(x=at, y=below, y2=alt.Y2("label:N", bandPosition=1)))
    return found


def _x(panel: Panel) -> alt.X:
    drawn = ((each.value, *(each.interval or ()), *(each.margin or ())) for each in panel.entries)
    ends = [end for each in (*drawn, (panel.reference,)) for end in each if end is not None]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    x = alt.X("value:Q").title(panel.x_label)
    if panel.from_zero:
        return x.scale(domain=[0, high or 1.0])
    if panel.is_ratio and low > 0 and high > _LOG_FROM * low:
        low, high = low / 1.1, high * 1.1
        return x.scale(type="log", domain=[low, high], nice=False).axis(**theme.log_axis(low, high))
    air = 0.05 * (high - low) or 0.1
    return x.scale(domain=[low - air, high + air], nice=False, zero=False)


def _record(entry: Entry, series: Mapping[str, int]) -> dict[str, Any]:
    colour, _ = theme.style(series[entry.series])
    ends, margin = entry.interval, entry.margin
    return {
        "label": entry.label,
        "value": entry.value,
        "series": entry.series,
        "fill": colour if entry.is_sure else theme.PAPER,
        "text": _shown(entry),
        "shown": _shown(entry) + ("" if ends or entry.value is None else ", no interval"),
        "name": entry.name or entry.label,
        "cell": entry.cell,
        "note": entry.note or "none",
        **({"low": ends[0], "high": ends[1]} if ends else {}),
        **({"least": margin[0], "most": margin[1]} if margin else {}),
    }
