"""Charts of NAS kernels: what the service costs them, and their time and speed-up over cores."""

from __future__ import annotations

from collections.abc import Sequence

from restbench.analyse.comparison import combine, series
from restbench.analyse.measures import Row
from restbench.analyse.npb import ratio, work
from restbench.failures import counted
from restbench.grouping import grouped
from restbench.show import wording
from restbench.show.charts import forest, lines, theme
from restbench.show.charts.lines import Line, Point


def technique(row: Row) -> str:
    """The name of a row's technique, with its service."""
    return wording.strategy_name(row.cell)


def charts(rows: Sequence[Row]) -> list[theme.Chart | None]:
    """The charts of these rows: the cost of the service, then time and speed-up over cores."""
    return [cost(rows), by_cores(rows, is_speed_up=False), by_cores(rows, is_speed_up=True)]


def _styles(rows: Sequence[Row]) -> dict[str, int]:
    """The style of each technique, in all charts: the two services share strategies, so a
    strategy's own style does not tell them apart."""
    return {name: number for number, name in enumerate(grouped(rows, technique))}


def cost(rows: Sequence[Row]) -> theme.Chart | None:
    """The kernel's own time in the warm service over that in a warm process: a panel per technique,
    a line per kernel and class. None where no row has both."""
    known = (row for row in rows if ratio(row, "service/warm").estimate is not None)
    panels = grouped(known, technique)
    return forest.chart(
        "npb-cost",
        "What does the service cost a kernel?",
        "The kernel's own time in the warm service, divided by that in a warm process of its own, "
        "with its 95 % interval over blocks. Within the band a difference does not count. A hollow "
        "symbol has one block and no interval.",
        forest.panels(panels, "In the service / in its own process", _cost),
        _styles(rows),
    )


def _cost(row: Row) -> forest.Entry:
    found = ratio(row, "service/warm")
    is_sure = found.ratio is not None
    return forest.compared(found, row, row.cell.complexity, technique(row), is_sure=is_sure)


def by_cores(rows: Sequence[Row], *, is_speed_up: bool) -> theme.Chart | None:
    """Kernel time in a warm process over cores, or how many times faster than on one core: a panel
    per kernel and class, a line per technique. None where no number of cores was measured."""
    what = "Speed-up" if is_speed_up else "Kernel time"
    y_label = "Speed-up over one core" if is_speed_up else "Kernel's own time, s"
    scaled = [row for row in rows if work(row).cores]
    styles = _styles(rows)
    panels = []
    levels = grouped(scaled, lambda row: f"{work(row).kernel}, class {work(row).npb_class}")
    for level, group in levels.items():
        its = tuple(
            Line(name, styles[name], points)
            for name, of in grouped(group, technique).items()
            if (points := _points(name, of, is_speed_up=is_speed_up))
        )
        panels += [lines.Panel(level, y_label, its, has_ticks=True)] if its else []
    return lines.chart(
        "npb-speed-up" if is_speed_up else "npb-time",
        f"{what} against the number of cores, without the service",
        "The kernel's own time in a warm process that may use this number of cores, with as many "
        "threads (Java) or processes (Python). Points are geometric means over the blocks, with "
        "the 95 % t interval (of the logarithms) where there are enough blocks.",
        panels,
        "Cores",
        is_log=not is_speed_up,
    )


def _points(name: str, group: Sequence[Row], *, is_speed_up: bool) -> tuple[Point, ...]:
    """The points by number of cores; none without a row on one core. A speed-up is paired over the
    blocks."""
    times = {work(row).cores or 0: series(row, "warm_s") for row in group}
    if (one := times.get(1)) is None:
        return ()
    if is_speed_up:
        times = {cores: combine(one, of, lambda a, b: a / b) for cores, of in times.items()}
    return tuple(
        lines.mean_point(cores, list(of.values.values()), name=f"{name}, {counted(cores, 'core')}")
        for cores, of in sorted(times.items())
        if of.values
    )
