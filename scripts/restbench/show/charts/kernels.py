"""Charts of NAS kernels: the cost of the service for each, and their time against cores."""

from __future__ import annotations

from collections.abc import Sequence

from restbench.analyse.comparison import combine, series
from restbench.analyse.measures import Row
from restbench.analyse.npb import ratio, work
from restbench.grouping import grouped
from restbench.show import wording
from restbench.show.charts import forest, lines, theme
from restbench.show.charts.forest import Entry
from restbench.show.charts.lines import Line, Point


def charts(rows: Sequence[Row]) -> list[theme.Chart | None]:
    """The charts of these rows: the cost of the service, then time and speed-up over cores."""
    return [cost(rows), by_cores(rows, is_speed_up=False), by_cores(rows, is_speed_up=True)]


def cost(rows: Sequence[Row]) -> theme.Chart | None:
    """The kernel's own time in the warm service over that in a warm process: a panel per technique,
    a line per kernel and class. None where no row has both."""
    known = (row for row in rows if ratio(row, "service/warm").estimate is not None)
    panels = grouped(known, lambda row: wording.strategy_name(row.cell))
    return forest.chart(
        "npb-cost",
        "What does the service cost a kernel?",
        "The kernel's own time in the warm service, divided by that in a warm process of its own, "
        "with its 95 % interval over blocks. Within the band a difference does not count. A hollow "
        "symbol has one block and no interval.",
        forest.panels(panels, "In the service / in its own process", _cost),
        {name: theme.STYLES[of[0].cell.strategy] for name, of in panels.items()},
    )


def _cost(row: Row) -> Entry:
    cell, found = row.cell, ratio(row, "service/warm")
    name, is_sure = wording.strategy_name(cell), found.ratio is not None
    return forest.compared(found, cell, cell.complexity, name, is_sure=is_sure)


def by_cores(rows: Sequence[Row], *, is_speed_up: bool) -> theme.Chart | None:
    """Kernel time in a warm process over cores, or how many times faster than on one core: a panel
    per kernel and class, a line per technique. None where no number of cores was measured."""
    what = "Speed-up" if is_speed_up else "Kernel time"
    y_label = "Speed-up over one core" if is_speed_up else "Kernel's own time, s"
    panels: dict[str, list[Line]] = {}
    styles: dict[str, int] = {}
    scaled = [row for row in rows if work(row).cores]
    for (technique, panel), group in grouped(scaled, _place).items():
        if points := _points(technique, group, is_speed_up=is_speed_up):
            style = styles.setdefault(technique, len(styles))
            panels.setdefault(panel, []).append(Line(technique, style, points))
    return lines.chart(
        "npb-speed-up" if is_speed_up else "npb-time",
        f"{what} against the number of cores, without the service",
        "The kernel's own time in a warm process that may use this number of cores, with as many "
        "threads (Java) or processes (Python). Points are geometric means over the blocks, with "
        "the 95 % t interval (of the logarithms) where there are enough blocks.",
        [lines.Panel(panel, y_label, tuple(its), has_ticks=True) for panel, its in panels.items()],
        "Cores",
        is_log=not is_speed_up,
    )


def _place(row: Row) -> tuple[str, str]:
    """The technique of a row, and the name of the panel that shows it."""
    of = work(row)
    return f"{row.cell.service} {row.cell.strategy}", f"{of.kernel}, class {of.npb_class}"


def _points(technique: str, group: Sequence[Row], *, is_speed_up: bool) -> tuple[Point, ...]:
    """The points by number of cores; none without a row on one core. A speed-up is paired over the
    blocks."""
    times = {work(row).cores or 0: series(row, "warm_s") for row in group}
    if (one := times.get(1)) is None:
        return ()
    if is_speed_up:
        times = {cores: combine(one, of, lambda a, b: a / b) for cores, of in times.items()}
    return tuple(
        lines.mean_point(cores, list(of.values.values()), name=f"{technique}, {cores} cores")
        for cores, of in sorted(times.items())
        if of.values
    )
