"""An open load's limits and steps: values along an axis of rates."""

from __future__ import annotations

import math
from collections.abc import Sequence

from restbench.analyse.limits import Limit, latency_ms
from restbench.experiment.open_load import Objective
from restbench.judge import study
from restbench.show import wording
from restbench.show.charts import forest, lines, theme
from restbench.show.charts.forest import Entry
from restbench.show.charts.lines import Line, Panel, Point
from restbench.show.charts.theme import Chart

LIMITS, STEPS = "open-load-limits", "open-load"


def limits(found: Sequence[Limit], objective: Objective) -> Chart | None:
    """The highest rate of each technique that meets the objective: a panel a complexity."""
    known = (each for each in found if each.limit_per_s is not None)
    panels = wording.grouped(known, lambda each: each.cell.complexity)
    styles = {study.technique(each.cell): theme.STYLES[each.cell.strategy] for each in found}
    return forest.chart(
        LIMITS,
        "The highest rate that meets the objective",
        f"Objective: {objective}. Geometric mean over blocks with its 95 % interval; hollow: one "
        "block, no interval.",
        [
            forest.Panel(name, "Requests per second", tuple(map(_limit, of)), reference=None)
            for name, of in panels.items()
        ],
        styles,
    )


def _limit(each: Limit) -> Entry:
    interval, name = each.interval, study.technique(each.cell)
    return Entry(
        label=name,
        value=each.limit_per_s,
        interval=(interval.low, interval.high) if interval else None,
        series=name,
        is_sure=interval is not None,
        cell=each.cell.id,
        note="; ".join(each.failed.reasons) if each.failed else "",
    )


def steps(found: Sequence[Limit], objective: Objective) -> Chart | None:
    """A panel a complexity, a line a technique, a point a step; None where there is no point."""
    panels: dict[str, list[Line]] = {}
    for each in found:
        if points := _steps(each, objective.percentile):
            line = Line(study.technique(each.cell), theme.STYLES[each.cell.strategy], points)
            panels.setdefault(each.cell.complexity, []).append(line)
    return lines.chart(
        STEPS,
        "Latency from the intended moment, against the rate at which requests arrive",
        f"Open load; the percentile of the objective ({objective}) over all arrivals of each step. "
        "Hollow: the objective was not met. Do not compare the height of points beyond the limit: "
        "it depends on how long the window was.",
        [Panel(name, "Latency (open load), ms", tuple(each)) for name, each in panels.items()],
        "Requests offered per second",
        is_log=True,
    )


def _steps(limit: Limit, percent: int) -> tuple[Point, ...]:
    """A step whose percentile falls on requests without an answer has no point."""
    every = [step for walk in limit.walks for step in walk.steps]
    name = study.technique(limit.cell)
    return tuple(
        Point(
            x=round(each.rate_per_s),
            y=reached_ms,
            doubtful=not each.met,
            cell=limit.cell.id,
            name=f"{name}, {each.rate_per_s:g}/s",
            note="; ".join(each.reasons),
        )
        for each in sorted(every, key=lambda each: each.rate_per_s)
        if (reached_ms := latency_ms(each, percent)) is not None and math.isfinite(reached_ms)
    )
