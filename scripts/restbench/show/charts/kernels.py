"""Charts of NAS kernels: the cost of the service for each, and their time against cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from restbench.analyse.comparison import combine, series
from restbench.analyse.measures import Row
from restbench.analyse.npb import ratio, work
from restbench.grouping import grouped
from restbench.show import wording
from restbench.show.charts import forest, lines, theme
from restbench.show.charts.forest import Entry
from restbench.show.charts.lines import Line, Point

#: The values of a row by block. The second argument is the same technique's row on one core.
Values = Callable[[Row, Row], Sequence[float]]


def charts(rows: Sequence[Row]) -> list[theme.Chart | None]:
    """The charts of these rows: the cost of the service, then time and speed-up over cores."""
    return [cost(rows), time(rows), speed_up(rows)]


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


def time(rows: Sequence[Row]) -> theme.Chart | None:
    """Kernel time in a warm process over cores; None where no number of cores was measured."""
    return _by_cores(
        rows,
        "npb-time",
        "Kernel's own time, s",
        lambda row, _one: list(series(row, "warm_s").values.values()),
        "Kernel time against the number of cores, without the service",
        is_log=True,
    )


def speed_up(rows: Sequence[Row]) -> theme.Chart | None:
    """How many times faster than on one core, paired over the blocks."""

    def times(row: Row, one: Row) -> Sequence[float]:
        both = combine(series(one, "warm_s"), series(row, "warm_s"), lambda a, b: a / b)
        return list(both.values.values())

    title = "Speed-up against the number of cores, without the service"
    return _by_cores(rows, "npb-speed-up", "Speed-up over one core", times, title, is_log=False)


def _by_cores(  # noqa: PLR0913 - a chart has that many words
    rows: Sequence[Row], name: str, y_label: str, values: Values, title: str, *, is_log: bool
) -> theme.Chart | None:
    """A panel per kernel and class, a line per technique."""
    panels: dict[str, list[Line]] = {}
    styles: dict[str, int] = {}
    scaled = [row for row in rows if work(row).cores]
    for (technique, panel), group in grouped(scaled, _place).items():
        if points := _points(technique, group, values):
            style = styles.setdefault(technique, len(styles))
            panels.setdefault(panel, []).append(Line(technique, style, points))
    return lines.chart(
        name,
        title,
        "The kernel's own time in a warm process that may use this number of cores, with as many "
        "threads (Java) or processes (Python). Points are geometric means over the blocks, with "
        "the 95 % t interval (of the logarithms) where there are enough blocks.",
        [
            lines.Panel(
                panel,
                y_label,
                tuple(its),
                tuple(sorted({at.x for line in its for at in line.points})),
            )
            for panel, its in panels.items()
        ],
        "Cores",
        is_log=is_log,
    )


def _place(row: Row) -> tuple[str, str]:
    """The technique of a row, and the name of the panel that shows it."""
    of = work(row)
    return f"{row.cell.service} {row.cell.strategy}", f"{of.kernel}, class {of.npb_class}"


def _points(technique: str, group: Sequence[Row], values: Values) -> tuple[Point, ...]:
    """The points by number of cores; none without a row on one core."""
    by_cores = {work(row).cores or 0: row for row in group}
    if (one := by_cores.get(1)) is None:
        return ()
    return tuple(
        lines.mean_point(cores, known, name=f"{technique}, {cores} cores")
        for cores, row in sorted(by_cores.items())
        if (known := values(row, one))
    )
