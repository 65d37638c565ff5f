"""A value over runs: its interval in each, and the steps that were found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from restbench.show.charts import theme
from restbench.show.charts.theme import Chart

_HEIGHT_PX = 240
_CAPTION = (
    "Points with 95 % intervals; hollow: a run of too few blocks. Dashed: a step, between that run "
    "and the one before it; across: the mean between steps."
)


def chart(runs: Sequence[Mapping[str, Any]], unit: str) -> Chart:
    """The runs in their order, a record each: `run`; `label`, unique, under the axis; `value`;
    `low` and `high`, null without an interval; `step`, what is said of one that was found at this
    run, or empty; `segment`, how many steps lie before it; `level`, the mean of the runs between
    two steps. A page may put others into the definition:
    `{...spec, data: {name: "trend", values: records}}`."""
    colour, _ = theme.style(0)
    step_colour, _ = theme.style(1)
    data = alt.InlineData(values=list(runs), name="trend")
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
    return Chart(
        name="trend",
        title="",
        caption=_CAPTION,
        description=f"{unit} over {len(runs)} runs.",
        panels=(view,),
    )
