"""CPU time a request by web framework over that of the default, a panel a size of work."""

from __future__ import annotations

from collections.abc import Sequence

from restbench.analyse.comparison import MARGIN
from restbench.analyse.frameworks import Cost, Load
from restbench.experiment.cell import FRAMEWORKS
from restbench.experiment.columns import readable
from restbench.show import frameworks
from restbench.show.charts import forest
from restbench.show.charts.forest import Entry, Panel
from restbench.show.charts.theme import Chart


def charts(loads: Sequence[Load]) -> list[Chart]:
    """One a service and number of users, the most users first."""
    return [_chart(each) for each in reversed(frameworks.by_users(loads))]


def _chart(load: Load) -> Chart:
    cell = load.cell
    panels = []
    for size in load.sizes:
        known = sorted(size.costs, key=_place)
        work = f"{readable(size.work_ms)} ms in {size.costs[0].row.cell.framework_text}"
        entries = tuple(map(_entry, known))
        panels.append(Panel(f"{size.complexity}: {work}", "Over the cheapest", entries))
    return forest.chart(
        f"frameworks-{cell.service}-{cell.users}",
        f"CPU time a request over that in the cheapest framework: {frameworks.name(load)}",
        f"{frameworks.outcome(load)} Filled: shown to lie within {MARGIN:.0%} of the cheapest.",
        panels,
        {"framework": 0},
    )


def _place(cost: Cost) -> tuple[int, str]:
    """In the order of the table of frameworks."""
    cell = cost.row.cell
    return FRAMEWORKS[cell.service].index(cell.framework), cell.framework_text


def _entry(cost: Cost) -> Entry:
    return Entry(
        label=cost.row.cell.framework_text,
        value=cost.to_best.estimate,
        interval=cost.to_best.ends,
        series="framework",
        is_sure=cost.is_within,
        cell=cost.row.cell.id,
        note=", ".join(map(str, cost.row.warnings)),
        margin=(1.0, 1 + MARGIN),
    )
