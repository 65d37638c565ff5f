"""Charts of where the time of a request goes, and of long windows over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, TypeAlias

import altair as alt

from restbench.analyse.measures import Row
from restbench.experiment.cell import Cell, users_text
from restbench.experiment.columns import HEADINGS, readable
from restbench.grouping import grouped
from restbench.judge import study
from restbench.show.charts import theme
from restbench.show.wording import panel_name, rounded, rounded_record
from restbench.store.exported import SeriesEntry

#: The stages of a request in their order, each with the number of its colour.
STAGES = {"queue": 6, "parse": 5, "compute": 0, "serialize": 2, "network": 4}
_ROW_PX, _COURSE_PX = 18, 150
#: Wide enough for a name with a setting and its numbers.
_LABEL_PX = 320
#: A panel shows no more steps than this: adjacent ones are joined.
_MOST_STEPS = 150
#: The name of a bar (`bar`), the `cell` that it links to, and milliseconds by stage.
Bar: TypeAlias = Mapping[str, Any]


def stages(rows: Sequence[Row]) -> theme.Chart | None:
    """A panel per service, placement and size; a bar per technique and number of users."""
    timed = [row for row in rows if None not in (row.value("compute_ms"), row.value("mean_ms"))]
    timed.sort(key=lambda row: (row.cell.service, row.cell.placement != "unbound", row.work))
    panels = grouped(timed, lambda row: panel_name(row.cell))
    return bars(
        "stages-shares",
        "Where the time of a request goes",
        "The service reports with each answer how long it waited, parsed, computed and serialized; "
        "the rest of the response time is network, web server and JMeter. Each bar is a technique "
        "and number of users with its mean response time. A long queue does not mean a slow "
        "computation: with more users than cores, requests wait under any technique.",
        {name: _records(of) for name, of in panels.items()},
        STAGES,
    )


def _records(rows: Sequence[Row]) -> list[Bar]:
    """A bar per row, named by those parts of its name that not all rows of the panel share."""
    named = [[row.cell.strategy, *(f"+{part}" for part in row.cell.unusual_parts)] for row in rows]
    common = set.intersection(*map(set, named)) if len(rows) > 1 else set()
    return [
        {
            # For the fastest cells the rest, `network`, can come out below 0.
            **{stage: max(0.0, row.value(f"{stage}_ms") or 0.0) for stage in STAGES},
            "bar": f"{name} · {row.cell.users}: {readable(row.value('mean_ms'))} ms",
            "cell": row.cell.id,
        }
        for row, parts in zip(rows, named, strict=True)
        for name in [" ".join(part for part in parts if part not in common) or parts[0]]
    ]


def bars(
    name: str,
    title: str,
    caption: str,
    panels: Mapping[str, Sequence[Bar]],
    stages: Mapping[str, int],
) -> theme.Chart | None:
    """Panels of bars, by their titles, each bar divided into stages; None without a panel. `stages`
    numbers the colours."""
    if not panels:
        return None
    said = (_description(*each, stages) for each in panels.items())
    drawn = tuple(_bars(*each, stages) for each in panels.items())
    return theme.Chart(name, title, caption, " ".join([caption, *said]), drawn, 340, stages)


def _description(name: str, of: Sequence[Bar], stages: Mapping[str, int]) -> str:
    """In how many bars of a panel which stage is the largest."""
    largest = [max(stages, key=each.__getitem__) for each in of]
    counts = {stage: largest.count(stage) for stage in stages if stage in largest}
    return f"{name}: largest {', '.join(f'{stage} in {n}' for stage, n in counts.items())}."


def _bars(name: str, of: Sequence[Bar], stages: Mapping[str, int]) -> theme.View:
    records = list(map(rounded_record, of))
    colours = [theme.style(number)[0] for number in stages.values()]
    drawn = theme.base(records, can_hide=False).transform_calculate(
        total="+".join(f"datum.{stage}" for stage in stages)
    )
    drawn = drawn.transform_fold(list(stages), ["series", "ms"]).transform_calculate(
        share="datum.ms / datum.total",
        shown="format(datum.ms, '.3~r') + ' ms, ' + format(datum.share, '.1%')",
        place=f"indexof({list(stages)}, datum.series)",
    )
    x = alt.X("share:Q").title("Share of the mean response time").scale(domain=[0, 1])
    y = alt.Y("bar:N").title(None).axis(domain=False, ticks=False, labelLimit=_LABEL_PX)
    drawn = (
        drawn.transform_filter(theme.IS_SHOWN)
        .mark_bar()
        .encode(
            x=x.axis(format="%", values=[0, 0.5, 1]),
            y=y.scale(domain=[each["bar"] for each in records], padding=0.12),
            fill=alt.Fill("series:N").scale(domain=list(stages), range=colours),
            order="place:Q",
            tooltip=theme.tips(bar="Cell", series="Stage", shown="Mean"),
        )
    )
    return theme.layered(name, _ROW_PX * len(records), drawn)


def windows(series: Sequence[SeriesEntry], cells: Sequence[Cell]) -> theme.Chart | None:
    """Throughput and latency over time in the long windows: a panel per column, size and number of
    users, a line per technique; None where the run has no long window."""
    known = {cell.id: cell for cell in cells}
    order = list(known).index
    own = sorted((each for each in series if each.cell in known), key=lambda of: order(of.cell))
    courses = [(known[each.cell], each) for each in own]
    panels = grouped(
        courses,
        lambda of: f"{panel_name(of[0])}, {users_text(of[0].users)}: {HEADINGS[of[1].column]}",
    )
    styles = theme.technique_styles([cell for cell, _ in of] for of in panels.values())
    if not panels:
        return None
    caption = (
        "Long uninterrupted windows check the interleaved trials: a trend means that the service "
        "was not warm, a dip that another program ran. "
        f"Each line has at most {_MOST_STEPS} points."
    )
    title = "The long windows over time"
    description = f"{caption} {len(panels)} panels: {'; '.join(panels)}."
    drawn = tuple(_window(name, found, styles) for name, found in panels.items())
    return theme.Chart("series-course", title, caption, description, drawn, 300, styles)


def _window(
    name: str, found: Sequence[tuple[Cell, SeriesEntry]], styles: Mapping[str, int]
) -> theme.View:
    records = [
        {"s": at, "value": value, "series": study.technique(cell)}
        for cell, each in found
        for at, value in _joined(each)
    ]
    stroke, _ = theme.series_scales(styles)
    drawn = (
        theme.base(records)
        .mark_line(strokeWidth=1.2)
        .encode(x=alt.X("s:Q").title("Seconds"), y=alt.Y("value:Q").title(None), stroke=stroke)
    )
    return theme.layered(name, _COURSE_PX, drawn)


def _joined(each: SeriesEntry) -> list[tuple[float, float | None]]:
    """Moments in seconds with their values; adjacent values are joined to means where there are
    more than _MOST_STEPS."""
    step = -(-len(each.values) // _MOST_STEPS)
    found = []
    for begin in range(0, len(each.values), step):
        known = [value for value in each.values[begin : begin + step] if value is not None]
        found.append((round(begin * each.step_s, 2), rounded(fmean(known)) if known else None))
    return found
