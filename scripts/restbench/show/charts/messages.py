"""Charts of message loads: operations over users, threads, connections and characters; the
techniques of one load, with the database's cost of an operation relative to that under pgbench; and
where the time of one user's requests goes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from operator import attrgetter

from restbench.analyse import messages
from restbench.analyse.comparison import Comparison, over
from restbench.analyse.measures import Row, alike
from restbench.analyse.messages import STAGES, TimeBreakdown, database_cost
from restbench.experiment.cell import Cell, users_text
from restbench.experiment.columns import readable
from restbench.experiment.experiment import Experiment
from restbench.experiment.level import Messages
from restbench.failures import counted
from restbench.grouping import grouped
from restbench.judge import leader
from restbench.judge.leader import Leader
from restbench.show import wording
from restbench.show.charts import course, forest, lines, theme
from restbench.show.charts.lines import Line, Panel, Point

#: The colours of the stages, by the number of the style.
_COLOURS = dict(zip(STAGES, (4, 6, 5, 1, 0, 3, 2), strict=True))
_PER_S = "throughput_per_s"
_TIED = "not shown to be slower"
_FULL_SPEED, _AT_RATE = "pgbench at full speed", "pgbench at the same rate"
_STYLES = {"first": 0, "slower": 1, _TIED: 6, _FULL_SPEED: 2, _AT_RATE: 3}
_OF_RATIOS = (
    "Throughput divided by that of the service's first technique, with its 95 % interval paired by "
    "block. The band is the margin within which a difference does not count."
)
_OF_COSTS = (
    " CPU time of the database: that of an operation of the service, divided by that of an "
    "operation of pgbench, which sends the same statements at full speed or at the rate of the "
    "cell."
)


def name(cell: Cell) -> str:
    """Such as `Java function, 200, 80 users`, followed by the instances where there are several."""
    several = f", {cell.instances} instances" if cell.instances > 1 else ""
    load = ", ".join([cell.complexity, *settings_of(cell), users_text(cell.users)])
    return f"{cell.service.capitalize()} {cell.technique}, {load}{several}"


def settings_of(cell: Cell) -> list[str]:
    """The settings of database and service, where they are not the usual ones."""
    return [each for each in (cell.postgres, cell.settings) if each]


def _caption(panels: Sequence[Panel]) -> str:
    if any(line.is_limit for panel in panels for line in panel.lines):
        return "A dashed line is pgbench, the limit, in the colour of its technique."
    return "No limit was measured."


def charts(rows: Sequence[Row], definition: Experiment) -> list[theme.Chart | None]:
    """For a single load the techniques relative to the first; else throughput over users, threads,
    connections and characters; and the stages of one user's requests."""
    of_messages = [row for row in rows if messages.is_message(row)]
    return [
        over_the_first(of_messages),
        _over_users(of_messages, "technique", "none"),
        _over_users(of_messages, "strategy", ""),
        _over_threads(of_messages),
        _over_connections(of_messages),
        _over_characters(of_messages, definition),
        _stages(messages.time_breakdowns(of_messages)),
    ]


def over_the_first(rows: Sequence[Row]) -> theme.Chart | None:
    """A panel per service, and one of costs where pgbench was limited to the rate of a cell. None
    where there are several loads, or fewer than two techniques."""
    leaders = leader.of_messages(rows)
    groups = [{row.cell: row for row in rows if row.cell.id in led.cells} for led in leaders]
    costs = [panel for group in groups if (panel := _costs(group)).entries]
    return forest.chart(
        "messages-ratios",
        "Messages sent and popped, by technique",
        _OF_RATIOS + _OF_COSTS * bool(costs),
        [*map(_panel_of, leaders, groups), *costs],
        _STYLES,
    )


def label(cell: Cell, among: Iterable[Cell]) -> str:
    """A cell's technique, with its strategy where cells among `among` have another one."""
    is_alike = all(each.strategy == cell.strategy for each in among)
    return cell.technique if is_alike else f"{cell.technique} under {cell.strategy}"


def _panel_of(led: Leader, group: Mapping[Cell, Row]) -> forest.Panel:
    """A line for each cell that was compared: the first, then the others, nearest to it on top."""
    first = group[led.best]
    cells = [led.best, *(cell for cell, _ in led.others)]
    standings = dict.fromkeys(cells, "slower") | dict.fromkeys(led.tied, _TIED)
    standings[led.best] = "first"
    entries = [
        _compared(
            group[cell],
            over(first, "", _PER_S, group[cell]),
            f"{label(cell, cells)}: {readable(group[cell].value(_PER_S))}/s",
            standings[cell],
        )
        for cell in cells
    ]
    title = f"{led.best.service.capitalize()}, {led.best.complexity}, {users_text(led.best.users)}"
    return forest.Panel(title, "Throughput over the first", tuple(entries))


def _costs(group: Mapping[Cell, Row]) -> forest.Panel:
    """Two lines for each cell for which pgbench was also measured at the cell's rate."""
    entries = [
        _compared(row, cost, f"{label(row.cell, group)}, {how}", how)
        for row in group.values()
        if (at_rate := database_cost(row, at_rate=True)).estimate
        for how, cost in ((_FULL_SPEED, database_cost(row)), (_AT_RATE, at_rate))
    ]
    service = next(iter(group)).service.capitalize()
    return forest.Panel(f"{service}: CPU time of the database", "Ratio to pgbench", tuple(entries))


def _compared(row: Row, found: Comparison, name: str, series: str) -> forest.Entry:
    is_sure = found.ratio is not None and series != _TIED
    return forest.compared(found, row, name, series, is_sure=is_sure)


def _over_users(rows: Sequence[Row], what: str, usual: str) -> theme.Chart | None:
    """A panel per service and kind of messages; lines are techniques or strategies (`what`)."""
    label: Callable[[Cell], str] = attrgetter(what)
    several = {
        cell: group
        for cell, group in alike(rows, users=0, **{what: usual}).items()
        if len({label(row.cell) for row in group}) > 1
    }
    is_limited = what == "technique"
    panels = _panels(
        several,
        lambda cell: ", ".join([cell.service.capitalize(), cell.complexity, *settings_of(cell)]),
        lambda row: row.cell.users,
        label=label,
        has_limit=is_limited,
    )
    title = f"Messages sent and popped, by {what}"
    caption = _caption(panels) if is_limited else "All lines have the same technique."
    return lines.chart(f"messages-{what}", title, caption, panels, "Users", is_log=True)


def _over_threads(rows: Sequence[Row]) -> theme.Chart | None:
    several = alike((row for row in rows if row.cell.pool_threads), pool_threads=0)
    panels = _panels(several, name, lambda row: row.cell.pool_threads)
    title = "Messages sent and popped, by threads with one connection each"
    return lines.chart("messages-threads", title, _caption(panels), panels, "Threads", is_log=False)


def _over_connections(rows: Sequence[Row]) -> theme.Chart | None:
    panels = _panels(
        alike(rows, connections=0),
        lambda cell: f"{name(cell)}, {counted(cell.pool_threads, 'thread')}",
        lambda row: row.cell.connections or row.cell.pool_threads,
    )
    title = "Messages sent and popped, by connections at a fixed number of threads"
    caption = _caption(panels)
    return lines.chart("messages-connections", title, caption, panels, "Connections", is_log=False)


def _over_characters(rows: Sequence[Row], definition: Experiment) -> theme.Chart | None:
    sizes = {
        row.cell: level.characters
        for row in rows
        if (level := definition.size(row.cell.complexity, Messages)) and level.queues > 1
        if level.load == "paired" and not level.keys
    }
    several = alike((row for row in rows if row.cell in sizes), complexity="by size")
    panels = _panels(several, name, lambda row: sizes[row.cell], fewest=3)
    title = "Messages sent and popped, by message size"
    return lines.chart("messages-sizes", title, _caption(panels), panels, "Characters", is_log=True)


def _panels(  # noqa: PLR0913 - the last three are given by name
    groups: Mapping[Cell, Sequence[Row]],
    title: Callable[[Cell], str],
    x: Callable[[Row], float],
    *,
    label: Callable[[Cell], str] = attrgetter("technique"),
    fewest: int = 2,
    has_limit: bool = True,
) -> list[Panel]:
    """A panel for each group with at least `fewest` different values of `x`. A label has the same
    style in all panels."""
    shown = {cell: group for cell, group in groups.items() if len({*map(x, group)}) >= fewest}
    labels = dict.fromkeys(label(row.cell) for group in shown.values() for row in group)
    styles = {each: style for style, each in enumerate(labels)}

    def panel(cell: Cell, rows: Sequence[Row]) -> Panel:
        known = grouped(rows, lambda row: label(row.cell))
        found = (_lines(each, styles[each], of, x, has_limit) for each, of in known.items())
        return Panel(title(cell), "Operations/s", tuple(chain.from_iterable(found)))

    return [panel(cell, group) for cell, group in shown.items()]


def _lines(
    label: str, style: int, rows: Sequence[Row], x: Callable[[Row], float], has_limit: bool
) -> list[Line]:
    own = sorted(rows, key=x)

    def points(metric: str) -> tuple[Point, ...]:
        return tuple(lines.measured(row, metric, x(row)) for row in own)

    found = [Line(label, style, points("throughput_per_s"))]
    if has_limit and any(row.value("pgbench_per_s") for row in own):
        found.append(Line(label, style, points("pgbench_per_s"), is_limit=True))
    return found


def _stages(pies: Sequence[TimeBreakdown]) -> theme.Chart | None:
    panels = grouped(pies, lambda pie: wording.strategy_name(pie.row.cell))
    return course.bars(
        "messages-stages",
        "Where the time of one user's requests goes",
        "Measured by the service's own clock, with one user. Network is the time outside the "
        "service: the web server, the kernel, the load generator. Rest is computing that waits "
        "neither for a connection nor for the database.",
        {title: list(map(_bar, of)) for title, of in panels.items()},
        _COLOURS,
    )


def _bar(pie: TimeBreakdown) -> course.Bar:
    cell = pie.row.cell
    bar = f"{pie.kind} {cell.complexity}, {cell.technique}: {readable(pie.whole_ms)} ms"
    return {**pie.parts_ms, "bar": bar, "cell": cell.id}
