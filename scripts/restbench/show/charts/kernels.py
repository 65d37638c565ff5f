"""NAS kernels as charts: what the service costs each, and their time against cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from restbench.analyse.comparison import combine, series
from restbench.analyse.measures import Row
from restbench.analyse.npb import ratio, work
from restbench.show import wording
from restbench.show.charts import forest, rates, theme
from restbench.show.charts.forest import Entry, Panel
from restbench.show.charts.theme import Chart

#: Such as "values of this row, given the same technique's row on one core", by block.
Values = Callable[[Row, Row], Sequence[float]]
_COST = "service/warm"


def charts(rows: Sequence[Row]) -> list[Chart | None]:
    """Of rows in their order: the cost of the service, then time and speed-up over cores."""
    return [cost(rows), time(rows), speed_up(rows)]


def cost(rows: Sequence[Row]) -> Chart | None:
    """The kernel's own time in the warm service over that in a warm process: a panel a technique, a
    line a kernel and class. None where none has both."""
    panels: dict[str, list[Entry]] = {}
    styles: dict[str, int] = {}
    for row in rows:
        found = ratio(row, _COST)
        if found.estimate is not None:
            name = f"{row.cell.service.capitalize()} {row.cell.strategy}"
            styles[name] = theme.STYLES[row.cell.strategy]
            margin = (1 / (1 + found.margin), 1 + found.margin)
            panels.setdefault(name, []).append(
                Entry(
                    label=row.cell.complexity,
                    value=found.estimate,
                    interval=found.ends,
                    series=name,
                    is_sure=found.ratio is not None,
                    cell=row.cell.id,
                    margin=margin,
                )
            )
    return forest.chart(
        "npb-cost",
        "What does the service cost a kernel?",
        "The kernel's own time in the warm service over that in a warm process of its own, with "
        "its 95 % interval over blocks; within the band a difference does not count. Hollow: one "
        "block, no interval.",
        [
            Panel(name, "In the service over its own process", tuple(entries))
            for name, entries in panels.items()
        ],
        styles,
    )


def time(rows: Sequence[Row]) -> Chart | None:
    """The warm process' kernel time; None where no number of cores was looked at."""
    return _by_cores(
        rows,
        "npb-time",
        "Kernel's own time, s",
        lambda row, _one: list(series(row, "warm_s").values.values()),
        "Kernel time against the number of cores, without the service",
        is_log=True,
    )


def speed_up(rows: Sequence[Row]) -> Chart | None:
    """How many times faster than on one core, paired over the blocks."""

    def times(row: Row, one: Row) -> Sequence[float]:
        both = combine(series(one, "warm_s"), series(row, "warm_s"), lambda a, b: a / b)
        return list(both.values.values())

    title = "Speed-up against the number of cores, without the service"
    return _by_cores(rows, "npb-speed-up", "Speed-up over one core", times, title, is_log=False)


def _by_cores(  # noqa: PLR0913 - a chart has that many words
    rows: Sequence[Row], name: str, y_label: str, values: Values, title: str, *, is_log: bool
) -> Chart | None:
    samples: dict[str, dict[str, dict[int, Sequence[float]]]] = {}
    for service, strategy in dict.fromkeys((row.cell.service, row.cell.strategy) for row in rows):
        for (kernel, npb_class), group in _groups(rows, service, strategy).items():
            if by_cores := _values(group, values):
                panel = samples.setdefault(f"{kernel}, class {npb_class}", {})
                panel[f"{service} {strategy}"] = by_cores
    return rates.kernels(name, title, y_label, samples, is_log=is_log)


def _groups(rows: Sequence[Row], service: str, strategy: str) -> dict[tuple[str, str], list[Row]]:
    """A technique's rows on 1, 2, ... cores, by kernel and class."""
    its = (
        row
        for row in rows
        if (row.cell.service, row.cell.strategy) == (service, strategy) and work(row).cores
    )
    return wording.grouped(its, lambda row: (work(row).kernel, work(row).npb_class))


def _values(group: Sequence[Row], values: Values) -> dict[int, Sequence[float]]:
    one = next((row for row in group if work(row).cores == 1), None)
    if one is None:
        return {}
    return {work(row).cores or 0: known for row in group if (known := values(row, one))}
