"""Charts of traces: columns over time, with incidents as bands behind them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from restbench.show.charts import theme
from restbench.store.traces import BY_CODE, JoinedCourse, TraceEntry

_WAITS = "waits "
#: The panels, each with the prefixes of its columns. A panel without a column is left out.
_PANELS = {
    "Requests per second": ("throughput_per_s", "errors_per_s"),
    "Errors per second, by code": (BY_CODE,),
    "Response time, ms": ("p50_ms", "p95_ms", "p99_ms"),
    "Stages, ms": ("queue_ms", "connection_ms", "database_ms"),
    "Rows": ("live_rows", "dead_rows"),
    "Size, MiB": ("table_mib", "index_mib"),
    "WAL, per second": ("wal_records_per_s", "wal_syncs_per_s"),
    "Oldest snapshot, s": ("oldest_snapshot_s",),
    "Backends by wait": (_WAITS,),
}
#: The unit at the end of a column's name, which the panel's title already has.
_UNIT = re.compile("_(per_s|ms|s|mib)$")
_HEIGHT_PX, _PANEL_PX = 150, 330
#: The least width of a band as a part of the whole: a narrower one would not be visible.
_LEAST_BAND = 0.002
_BANDS = {
    "autovacuum": 2,
    "checkpoint": 1,
    "gc-pause": 5,
    "connection-renewal": 4,
    "restart": 3,
    "fault": 3,
    "stall": 6,
}
_OPACITY = 0.35


def chart(name: str, title: str, found: TraceEntry) -> theme.Chart:
    """A panel for each group of columns that the trace has."""
    panels = {}
    for label, wanted in _PANELS.items():
        if its := [each for each in found.series if each.column.startswith(wanted)]:
            panels[label] = its
    bands = _bands(found)
    kinds = dict.fromkeys(each["band"] for each in bands)
    caption = f"{_steps(panels)}. " + (
        "Bands: " + ", ".join(kinds) + "." if kinds else "The logs report no incident."
    )
    shown = dict.fromkeys(_name(each) for its in panels.values() for each in its)
    series = {column: n for n, column in enumerate(shown)}
    description = f"{title}. {caption} {len(panels)} panels: {'; '.join(panels)}."
    drawn = tuple(_panel(label, its, series, bands, found.seconds) for label, its in panels.items())
    return theme.Chart(name, title, caption, description, drawn, _PANEL_PX, series)


def _steps(panels: Mapping[str, Sequence[JoinedCourse]]) -> str:
    """Over how many seconds a point is: the usual width of a step, then what has another one."""
    named: dict[float, dict[str, None]] = {}
    for label, its in panels.items():
        is_alike = len({each.step_s for each in its}) == 1
        for each in its:
            names = named.setdefault(each.step_s, {})
            names[label.partition(",")[0] if is_alike else _name(each)] = None
    (usual, _), *others = named.items()
    said = (f"{', '.join(names)} over {step:g} s" for step, names in others)
    return "; ".join([f"Each point is over {usual:g} s", *said])


def _bands(found: TraceEntry) -> list[dict[str, Any]]:
    spans = [(each.kind, each.begin_s, each.end_s, each.text) for each in found.incidents]
    spans += [("stall", each.second, each.second + 1, "") for each in found.stalls]
    least = _LEAST_BAND * found.seconds
    return [
        {
            "from": round(max(0.0, begin), 2),
            "to": round(min(found.seconds, max(end, begin + least)), 2),
            "band": kind,
            "note": text or kind,
        }
        for kind, begin, end, text in spans
    ]


def _name(of: JoinedCourse) -> str:
    """`wal records` of `wal_records_per_s`, `IO:WalSync` of a wait."""
    return _UNIT.sub("", of.column.removeprefix(_WAITS)).replace("_", " ")


def _panel(
    label: str,
    its: Sequence[JoinedCourse],
    series: dict[str, int],
    bands: Sequence[dict[str, Any]],
    seconds: int,
) -> theme.View:
    records = [
        {"s": round(n * each.step_s, 1), "value": value, "series": _name(each)}
        for each in its
        for n, value in enumerate(each.values)
    ]
    x = alt.X("s:Q").title("Seconds").scale(domain=[0, seconds], nice=False)
    stroke, _ = theme.series_scales(series)
    lines = theme.base(records).mark_line(strokeWidth=1.2, clip=True)
    lines = lines.encode(x=x, y=alt.Y("value:Q").title(None), stroke=stroke)
    kinds = {each["band"] for each in bands}
    colours = {kind: theme.style(n)[0] for kind, n in _BANDS.items() if kind in kinds}
    behind = (
        theme.base(bands, can_hide=False)
        .mark_rect(opacity=_OPACITY)
        .encode(
            x=alt.X("from:Q").title("Seconds").scale(domain=[0, seconds], nice=False),
            x2="to:Q",
            fill=alt.Fill("band:N")
            .scale(domain=list(colours), range=list(colours.values()))
            .legend(alt.Legend(symbolType="square", symbolStrokeWidth=0)),
            tooltip=theme.tips(band="Incident", note="Details"),
        )
    )
    return theme.layered(label, _HEIGHT_PX, *([behind] if bands else []), lines)
