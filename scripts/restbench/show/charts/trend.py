"""A value over runs: its interval in each, and the steps that were found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import altair as alt

from restbench.show.charts import theme
from restbench.show.charts.theme import Chart

_HEIGHT_PX = 240
_CAPTION = (
    "Points with 95 % intervals; hollow: a run of too few blocks. Dashed: a step, between that run "
    "and the one before it; across: the mean between steps."
)


@dataclass(frozen=True)
class TrendPoint:
    """A run in the trend. These are the names of the records in the chart's data."""

    run: str
    label: str
    """Under the axis, unique: a day, a commit."""
    value: float
    low: float | None
    """None: no interval."""
    high: float | None
    step: str = ""
    """What is said of a step that was found at this run: `+12 %`; empty where there is none."""
    level: float | None = None
    """The mean of the runs between the steps before and behind it; None where there is no step."""
    segment: int = 0
    """How many steps lie before it."""


def chart(points: Sequence[TrendPoint], title: str, unit: str) -> Chart:
    """The runs in their order. A page may put other records of these names into the definition:
    `{...spec, data: {name: "trend", values: records}}`."""
    colour, _ = theme.style(0)
    step_colour, _ = theme.style(1)
    data = alt.InlineData(values=[asdict(each) for each in points], name="trend")
    base = alt.Chart(data).encode(
        x=alt.X("label:N").title(None).sort(None).axis(labelAngle=-40, labelOverlap=True),
        y=alt.Y("value:Q").title(unit).scale(zero=False),
    )
    at_step = base.transform_filter("datum.step != ''").encode(y=alt.value(0))
    hollow = alt.condition("isValid(datum.low)", alt.value(colour), alt.value(theme.PAPER))
    numbers = {"value": unit, "low": "95 % from", "high": "to"}
    tips = [alt.Tooltip(f"{name}:Q", title=title, format=".4~g") for name, title in numbers.items()]
    levels = base.transform_filter("isValid(datum.level)").mark_line(stroke=step_colour)
    bars = base.transform_filter("isValid(datum.low)").mark_rule(stroke=colour)
    view = theme.layered(
        "",
        _HEIGHT_PX,
        # First, as it has every run: the axis has them in the order in which they come.
        base.mark_line(stroke=theme.SOFT, strokeWidth=1),
        levels.encode(y="level:Q", detail="segment:N"),
        at_step.mark_rule(stroke=step_colour, strokeDash=[4, 3]).encode(y2=alt.value("height")),
        at_step.mark_text(fontWeight="bold", align="left", dx=4, dy=6).encode(text="step:N"),
        bars.encode(y="low:Q", y2="high:Q"),
        base.mark_point(stroke=colour).encode(
            fill=hollow, tooltip=[*theme.tips(run="Run"), *tips, *theme.tips(step="Step")]
        ),
    )
    steps = ", ".join(f"{each.step} at {each.label}" for each in points if each.step)
    return Chart(
        name="trend",
        title=title,
        caption=_CAPTION,
        description=f"{title} over {len(points)} runs, {unit}. Steps: {steps or 'none'}.",
        panels=(view,),
    )
