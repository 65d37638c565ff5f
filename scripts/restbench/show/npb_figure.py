"""Kernel time and speed-up against the number of cores, as figures: a panel a kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from restbench.analyse.comparison import combine, series
from restbench.analyse.measures import Row
from restbench.analyse.npb import work
from restbench.experiment.statistics import geometric_interval, geometric_mean
from restbench.show import drawing
from restbench.show.chart import Chart, Line, Panel, Point
from restbench.store.store import Run
from restbench.store.writing import write_text

#: Such as "values of this row, given the same technique's row on one core", by block.
Values = Callable[[Row, Row], Sequence[float]]


def write(run: Run, rows: Sequence[Row]) -> list[str]:
    """Draw npb-time.svg and npb-speed-up.svg; the names of those that have a point."""
    wanted = {"time": time_chart(rows), "speed-up": speed_up_chart(rows)}
    drawn = {name: chart for name, chart in wanted.items() if chart is not None}
    for name, chart in drawn.items():
        write_text(run.npb_figure(name), drawing.svg(chart))
    return list(drawn)


def time_chart(rows: Sequence[Row]) -> Chart | None:
    """The warm process' kernel time; None where no number of cores was looked at."""
    return _chart(
        rows,
        "kernel_s",
        lambda row, _one: list(series(row, "warm_s").values.values()),
        "Kernel time against the number of cores, without the service",
        log_y=True,
    )


def speed_up_chart(rows: Sequence[Row]) -> Chart | None:
    """How many times faster than on one core, paired over the blocks."""
    return _chart(
        rows,
        "speed_up",
        lambda row, one: list(
            combine(
                series(one, "warm_s"), series(row, "warm_s"), lambda a, b: a / b
            ).values.values()
        ),
        "Speed-up against the number of cores, without the service",
        log_y=False,
    )


def _chart(
    rows: Sequence[Row], metric: str, values: Values, title: str, *, log_y: bool
) -> Chart | None:
    lines: dict[str, list[Line]] = {}
    techniques = list(dict.fromkeys((row.cell.service, row.cell.strategy) for row in rows))
    for colour, (service, strategy) in enumerate(techniques):
        for (kernel, npb_class), group in _groups(rows, service, strategy).items():
            if points := _points(group, values):
                panel = lines.setdefault(f"{kernel}, class {npb_class}", [])
                panel.append(Line(f"{service} {strategy}", colour, points))
    if not lines:
        return None
    widths = sorted({cores for row in rows if (cores := work(row).cores) is not None})
    return Chart(
        title=title,
        caption="The kernel's own time in a warm process that may use so many cores, with as many "
        "threads (Java) or processes (Python); geometric mean over the blocks, with its 95 % "
        "t interval (of the logarithms) where there are several.",
        x_label="Cores",
        x_ticks=tuple(widths),
        log_y=log_y,
        panels=tuple(Panel(metric, name, tuple(found)) for name, found in lines.items()),
    )


def _groups(rows: Sequence[Row], service: str, strategy: str) -> dict[tuple[str, str], list[Row]]:
    """A technique's rows on 1, 2, ... cores, by kernel and class."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if (row.cell.service, row.cell.strategy) == (service, strategy) and work(row).cores:
            groups.setdefault((work(row).kernel, work(row).npb_class), []).append(row)
    return groups


def _points(group: Sequence[Row], values: Values) -> tuple[Point, ...]:
    one = next((row for row in group if work(row).cores == 1), None)
    if one is None:
        return ()
    found = [(row, values(row, one)) for row in group]
    return tuple(
        Point(work(row).cores or 0, geometric_mean(known), _interval(known), False, row.cell.id)
        for row, known in found
        if known
    )


def _interval(values: Sequence[float]) -> tuple[float, float] | None:
    if len(values) < 2:
        return None
    mean = geometric_interval(values)
    return mean.low, mean.high
