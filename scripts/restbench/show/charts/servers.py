"""What a web framework costs and what several instances bring: ratios, a panel a size of work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from restbench.analyse import frameworks as costs
from restbench.analyse import instances as arranged
from restbench.analyse.comparison import MARGIN, Comparison
from restbench.analyse.measures import Row
from restbench.experiment.cell import FRAMEWORKS
from restbench.show import frameworks, instances
from restbench.show.charts import forest
from restbench.show.charts.forest import Entry, Panel
from restbench.show.charts.theme import Chart


def of_frameworks(loads: Sequence[costs.Load]) -> list[Chart | None]:
    """CPU time a request over that in the cheapest: a chart a service and number of users, the most
    users first."""
    return [_costs(each) for each in reversed(frameworks.by_users(loads))]


def _costs(load: costs.Load) -> Chart | None:
    def place(cost: costs.Cost) -> tuple[int, str]:
        cell = cost.row.cell  # in the order of the table of frameworks
        return FRAMEWORKS[cell.service].index(cell.framework), cell.framework_text

    panels = [
        Panel(
            f"{size.complexity}: {frameworks.work(size)}",
            "Over the cheapest",
            tuple(
                _entry(each.row, each.to_best, each.row.cell.framework_text, is_sure=each.is_within)
                for each in sorted(size.costs, key=place)
            ),
        )
        for size in load.sizes
    ]
    return forest.chart(
        f"frameworks-{load.cell.service}-{load.cell.users}",
        f"CPU time a request over that in the cheapest framework: {frameworks.name(load)}",
        f"{frameworks.outcome(load)} Filled: shown to lie within {100 * MARGIN:.0f} % of the "
        "cheapest.",
        panels,
        {"framework": 0},
    )


def of_instances(loads: Sequence[arranged.Load]) -> list[Chart | None]:
    """Throughput over that of the best one: a chart a service."""
    panels: dict[str, list[Panel]] = {}
    for load in loads:
        entries = tuple(
            _entry(
                each.row,
                each.to_best,
                f"{each.row.cell.instances} × {each.row.cell.strategy}",
                series=each.row.cell.placement,
                margin=(1 / (1 + MARGIN), 1 + MARGIN),
            )
            for each in load.arrangements
        )
        shown = Panel(instances.name(load), "Over the best one", entries)
        panels.setdefault(load.cell.service, []).append(shown)
    return [
        forest.chart(
            f"instances-{name}",
            f"Throughput over that of one instance under its best strategy: {name.capitalize()}",
            f"Within {100 * MARGIN:.0f} % nothing differs.",
            of,
            {"unbound": 0, "per-core": 1},
        )
        for name, of in panels.items()
    ]


def _entry(row: Row, found: Comparison, label: str, **others: Any) -> Entry:
    usual = {"series": "framework", "margin": (1.0, 1 + MARGIN)}
    return Entry(
        label=label,
        value=found.estimate,
        interval=found.ends,
        cell=row.cell.id,
        note=", ".join(map(str, row.warnings)),
        **(usual | others),
    )
