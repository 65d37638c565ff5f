"""The charts of a run, all made of its `run.json`."""

from __future__ import annotations

from restbench.analyse.exported import rows_of
from restbench.show.charts import overview
from restbench.show.charts.theme import Chart
from restbench.store.exported import Exported


def charts(run: Exported) -> dict[str, Chart]:
    """By name, in the order of a page; those for which the run has nothing are not there."""
    rows = rows_of(run)
    found = [overview.chart(rows)]
    return {chart.name: chart for chart in found if chart}
