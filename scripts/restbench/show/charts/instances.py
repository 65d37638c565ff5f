"""Throughput of several instances over that of the best one, a panel a size of work."""

from __future__ import annotations

from collections.abc import Sequence

from restbench.analyse.comparison import MARGIN
from restbench.analyse.instances import Arrangement, Load
from restbench.show import instances
from restbench.show.charts import forest
from restbench.show.charts.forest import Entry, Panel
from restbench.show.charts.theme import Chart

_STYLES = {"unbound": 0, "per-core": 1}


def charts(loads: Sequence[Load]) -> list[Chart]:
    """One a service."""
    services = dict.fromkeys(each.cell.service for each in loads)
    return [_chart(each, [it for it in loads if it.cell.service == each]) for each in services]


def _chart(service: str, loads: Sequence[Load]) -> Chart:
    panels = [
        Panel(instances.name(load), "Over the best one", tuple(map(_entry, load.arrangements)))
        for load in loads
    ]
    return forest.chart(
        f"instances-{service}",
        f"Throughput over that of one instance under its best strategy: {service.capitalize()}",
        f"Within {MARGIN:.0%} nothing differs.",
        panels,
        _STYLES,
    )


def _entry(found: Arrangement) -> Entry:
    cell = found.row.cell
    return Entry(
        label=f"{cell.instances} × {cell.strategy}",
        value=found.to_best.estimate,
        interval=found.to_best.ends,
        series=cell.placement,
        cell=cell.id,
        note=", ".join(map(str, found.row.warnings)),
        margin=(1 / (1 + MARGIN), 1 + MARGIN),
    )
