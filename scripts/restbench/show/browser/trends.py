"""Trends over runs, for the browser: which runs form a series, where a series has steps, and its
chart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import altair as alt

from restbench.analyse import steps
from restbench.experiment.statistics import FEWEST_BLOCKS
from restbench.show.charts import theme

#: The series of one machine and experiment, by cell and framework. A series maps the numbers of the
#: runs that a line may join to the values of their blocks.
Family: TypeAlias = dict[tuple[int, str], dict[int, list[float]]]
#: Stands for the metric in the chart's definition; the page replaces it by the metric's name.
_METRIC = "(metric)"
_HEIGHT_PX = 240


def steps_of(runs: Sequence[Mapping[str, Any]], metrics: Sequence[str]) -> list[dict[str, Any]]:
    """Every step. `runs` are in order of time, as in the browser's document. The series of one
    metric, machine and experiment are tested together, without runs that have no interval."""
    found = []
    for number, metric in enumerate(metrics):
        for family in _families(runs, number):
            known = {key: course for key, course in family.items() if len(course) > 1}
            shifts = steps.find([list(course.values()) for course in known.values()])
            for ((cell, framework), course), its in zip(known.items(), shifts, strict=True):
                place = {"metric": metric, "cell": cell, "framework": framework}
                found += [place | _step(list(course), each) for each in its]
    return found


def _families(runs: Sequence[Mapping[str, Any]], metric: int) -> Iterable[Family]:
    families: dict[tuple[int, str], Family] = {}
    for number, run in enumerate(runs):
        family = families.setdefault((run["machine"], run["experiment"]), {})
        for cell in run["cells"]:
            values = cell["values"][metric][3] if cell["values"][metric] else []
            if len(values) >= FEWEST_BLOCKS and min(values) > 0:
                family.setdefault((cell["cell"], cell["framework"]), {})[number] = values
    return families.values()


def _step(runs: Sequence[int], found: steps.Step) -> dict[str, Any]:
    ratio = [found.ratio.estimate, found.ratio.low, found.ratio.high]
    numbers = [float(f"{each:.5g}") for each in ratio]
    return {"before": runs[found.at - 1], "after": runs[found.at], "ratio": numbers}


def chart() -> theme.Chart:
    """The trend chart without its data and description. A page puts them into the definition:
    `{...spec, data: {name: "trend", values: records}, description}`. There is a record per run, in
    order: `run`; `label`, unique, under the axis; `value`; `low` and `high`, null without an
    interval; `step`, the text of a step at this run, or empty; `segment`, the number of steps
    before the run; `level`, the mean of the runs between two steps. A hollow point has no interval,
    a dashed line is a step, a horizontal one the level."""
    colour, _ = theme.style(0)
    step_colour, _ = theme.style(1)
    data = alt.InlineData(values=[], name="trend")
    base = alt.Chart(data).encode(
        x=alt.X("label:N").title(None).sort(None).axis(labelAngle=-40, labelOverlap=True),
        y=alt.Y("value:Q").title(_METRIC).scale(zero=False),
    )
    at_step = base.transform_filter("datum.step != ''").encode(y=alt.value(0))
    hollow = alt.condition("isValid(datum.low)", alt.value(colour), alt.value(theme.PAPER))
    numbers = {"value": _METRIC, "low": "95 % from", "high": "to"}
    tips = [alt.Tooltip(f"{name}:Q", title=title, format=".4~g") for name, title in numbers.items()]
    levels = base.transform_filter("isValid(datum.level)").mark_line(stroke=step_colour)
    bars = base.transform_filter("isValid(datum.low)").mark_rule(stroke=colour)
    view = theme.layered(
        "",
        _HEIGHT_PX,
        # The first layer has every run: the axis takes the order of the runs from it.
        base.mark_line(stroke=theme.SOFT, strokeWidth=1),
        levels.encode(y="level:Q", detail="segment:N"),
        at_step.mark_rule(stroke=step_colour, strokeDash=[4, 3]).encode(y2=alt.value("height")),
        at_step.mark_text(fontWeight="bold", align="left", dx=4, dy=6).encode(text="step:N"),
        bars.encode(y="low:Q", y2="high:Q"),
        base.mark_point(stroke=colour).encode(
            fill=hollow, tooltip=[*theme.tips(run="Run"), *tips, *theme.tips(step="Step")]
        ),
    )
    return theme.Chart(name="trend", title="", caption="", description="", panels=(view,))
