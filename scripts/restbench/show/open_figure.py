"""Latency against the offered rate, as a figure: each technique bends up where its limit is."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.ticker import MaxNLocator

from restbench.analyse.open_results import WalkResult
from restbench.experiment import open_experiment
from restbench.experiment.cell import STRATEGIES
from restbench.judge import study
from restbench.show import drawing
from restbench.show.chart import Chart, Line, Panel, Point
from restbench.store.store import Run
from restbench.store.writing import write_text

METRIC = "latency_ms"
TICKS = 6


def write(run: Run, results: Sequence[WalkResult]) -> bool:
    """Draw open-load.svg; False where no step has the percentile."""
    objective = open_experiment.load(run.experiment_file).objective
    drawn = chart(results, f"{objective}")
    if drawn is None:
        return False
    write_text(run.open_load_figure, drawing.svg(drawn))
    return True


def chart(results: Sequence[WalkResult], objective: str) -> Chart | None:
    """A panel a complexity, a line a technique, a point a rate; None where there is no point."""
    panels: dict[str, list[Line]] = {}
    for each in results:
        name = study.technique(each.cell)
        if points := _points(each):
            line = Line(name, list(STRATEGIES[each.cell.service]).index(each.cell.strategy), points)
            panels.setdefault(each.cell.complexity, []).append(line)
    if not panels:
        return None
    ticks = {name: _ticks(lines) for name, lines in panels.items()}
    return Chart(
        title="Latency from the intended moment, against the rate at which requests arrive",
        caption=f"Open load; the percentile of the objective ({objective}) over all arrivals, mean "
        "of a rate's steps. Hollow: the objective was not met. Do not compare the height of points "
        "beyond the limit: it depends on how long the window was.",
        x_label="Requests offered per second",
        x_ticks=max(ticks.values()),
        log_y=True,
        panels=tuple(
            Panel(METRIC, name, tuple(lines), ticks[name]) for name, lines in panels.items()
        ),
    )


def _ticks(lines: Sequence[Line]) -> tuple[int, ...]:
    highest = max(point.x for line in lines for point in line.points)
    return tuple(int(tick) for tick in MaxNLocator(TICKS).tick_values(0, highest))


def _points(result: WalkResult) -> tuple[Point, ...]:
    """A rate whose percentile falls on requests without an answer has no point."""
    points = []
    for rate in sorted({each.step.rate_per_s for each in result.steps}):
        steps = [each for each in result.steps if each.step.rate_per_s == rate]
        known = [each.latency_ms for each in steps if math.isfinite(each.latency_ms or math.inf)]
        if known:
            mean = float(np.mean([each for each in known if each is not None]))
            missed = 2 * sum(bool(each.reasons) for each in steps) > len(steps)
            points.append(Point(round(rate), mean, None, missed, result.cell.id))
    return tuple(points)
