"""The techniques of messages under one load: throughput over that of the first, and what an
operation costs the database over what it costs under pgbench."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from restbench.analyse.comparison import Comparison, over
from restbench.analyse.measures import Row
from restbench.analyse.messages import database_cost
from restbench.experiment.cell import Cell, users_text
from restbench.experiment.columns import readable
from restbench.judge import leader
from restbench.judge.leader import Leader
from restbench.show import wording
from restbench.show.charts import forest
from restbench.show.charts.forest import Entry, Panel
from restbench.show.charts.theme import Chart

_PER_S = "throughput_per_s"
_TIED = "not shown to be slower"
_FULL_SPEED, _AT_RATE = "pgbench at full speed", "pgbench at the same rate"
_STYLES = {"first": 0, "slower": 1, _TIED: 6, _FULL_SPEED: 2, _AT_RATE: 3}
_CAPTION = (
    "Throughput over that of the service's first technique, with its 95 % interval paired by "
    "block. The band is the margin within which a difference does not count."
)
_OF_COSTS = (
    " CPU time of the database: of an operation of the service, over that of one of pgbench, which "
    "sends the same statements at its full speed or at the rate of the cell."
)


def chart(rows: Sequence[Row]) -> Chart | None:
    """A panel a service, and one of costs where pgbench was held to a rate; None of several loads
    or without two techniques."""
    leaders = leader.of_messages(rows)
    groups = [{row.cell: row for row in rows if row.cell.id in led.cells} for led in leaders]
    costs = [panel for group in groups if (panel := _costs(group)).entries]
    return forest.chart(
        "messages-ratios",
        "Messages sent and popped, by technique",
        _CAPTION + _OF_COSTS * bool(costs),
        [*map(_over_the_first, leaders, groups), *costs],
        _STYLES,
    )


def label(cell: Cell, among: Iterable[Cell]) -> str:
    """A cell's technique, under its strategy where others have another."""
    is_alike = all(each.strategy == cell.strategy for each in among)
    return cell.technique if is_alike else f"{cell.technique} under {cell.strategy}"


def _over_the_first(led: Leader, group: Mapping[Cell, Row]) -> Panel:
    """A line for each cell that was compared, the nearest to the first on top."""
    first = group[led.best]
    cells = [led.best, *(cell for cell, _ in led.others)]
    standings = dict.fromkeys(cells, "slower") | dict.fromkeys(led.tied, _TIED)
    standings[led.best] = "first"
    entries = [
        _entry(
            group[cell],
            over(first, "", _PER_S, group[cell]),
            f"{label(cell, cells)}: {readable(group[cell].value(_PER_S))}/s",
            standings[cell],
        )
        for cell in cells
    ]
    title = f"{led.best.service.capitalize()}, {led.complexity}, {users_text(led.users)}"
    return Panel(title, "Throughput over the first", tuple(entries))


def _costs(group: Mapping[Cell, Row]) -> Panel:
    """Two lines for each cell to whose rate pgbench was held."""
    entries = [
        _entry(row, cost, f"{label(row.cell, group)}, {how}", how)
        for row in group.values()
        if (at_rate := database_cost(row, at_rate=True)).estimate
        for how, cost in ((_FULL_SPEED, database_cost(row)), (_AT_RATE, at_rate))
    ]
    service = next(iter(group)).service.capitalize()
    return Panel(f"{service}: CPU time of the database", "Over pgbench's", tuple(entries))


def _entry(row: Row, found: Comparison, name: str, series: str) -> Entry:
    is_sure = found.ratio is not None and series != _TIED
    note = wording.remarks(row)
    return forest.compared(found, row.cell, name, series, is_sure=is_sure, note=note)
