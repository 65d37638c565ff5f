"""Kernel time and speed-up against the number of cores, as figures: a panel a kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from restbench.analyse.comparison import combine
from restbench.analyse.npb_results import NpbRow
from restbench.show.charts import rates, theme
from restbench.show.charts.theme import Chart
from restbench.store.store import Run
from restbench.store.writing import write_text

#: Such as "values of this row, given the same technique's row on one core", by round.
Values = Callable[[NpbRow, NpbRow], Sequence[float]]


def write(run: Run, rows: Sequence[NpbRow]) -> list[str]:
    """Draw npb-time.svg and npb-speed-up.svg; the names of those that have a point."""
    wanted = {"time": time_chart(rows), "speed-up": speed_up_chart(rows)}
    drawn = {name: chart for name, chart in wanted.items() if chart is not None}
    for name, chart in drawn.items():
        write_text(run.npb_figure(name), theme.svg(chart))
    return list(drawn)


def time_chart(rows: Sequence[NpbRow]) -> Chart | None:
    """The warm process' kernel time; None where no number of cores was looked at."""
    samples = _samples(rows, lambda row, _one: list(row.series("warm_s").values.values()))
    title = "Kernel time against the number of cores, without the service"
    return rates.kernels("npb-time", title, "Kernel's own time, s", samples, is_log=True)


def speed_up_chart(rows: Sequence[NpbRow]) -> Chart | None:
    """How many times faster than on one core, paired over the rounds."""

    def speed_up(row: NpbRow, one: NpbRow) -> Sequence[float]:
        times = (one.series("warm_s"), row.series("warm_s"))
        return list(combine(*times, lambda a, b: a / b).values.values())

    title = "Speed-up against the number of cores, without the service"
    samples = _samples(rows, speed_up)
    return rates.kernels("npb-speed-up", title, "Speed-up over one core", samples, is_log=False)


def _samples(rows: Sequence[NpbRow], values: Values) -> rates.Samples:
    samples: dict[str, dict[str, dict[int, Sequence[float]]]] = {}
    for service, strategy in dict.fromkeys((row.cell.service, row.cell.strategy) for row in rows):
        for (kernel, npb_class), group in _groups(rows, service, strategy).items():
            if by_cores := _by_cores(group, values):
                panel = samples.setdefault(f"{kernel}, class {npb_class}", {})
                panel[f"{service} {strategy}"] = by_cores
    return samples


def _groups(
    rows: Sequence[NpbRow], service: str, strategy: str
) -> dict[tuple[str, str], list[NpbRow]]:
    """A technique's rows on 1, 2, ... cores, by kernel and class."""
    groups: dict[tuple[str, str], list[NpbRow]] = {}
    for row in rows:
        if (row.cell.service, row.cell.strategy) == (service, strategy) and row.work.cores:
            groups.setdefault((row.work.kernel, row.work.npb_class), []).append(row)
    return groups


def _by_cores(group: Sequence[NpbRow], values: Values) -> dict[int, Sequence[float]]:
    one = next((row for row in group if row.work.cores == 1), None)
    if one is None:
        return {}
    return {row.work.cores or 0: known for row in group if (known := values(row, one))}
