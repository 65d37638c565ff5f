"""The charts of a run, all made of its `run.json`."""

from __future__ import annotations

from pathlib import Path

from restbench.analyse import frameworks as costs
from restbench.analyse import instances as arranged
from restbench.analyse import npb
from restbench.analyse.exported import rows_of
from restbench.analyse.factorial import of_run as explained
from restbench.experiment import experiment
from restbench.failures import CellsFailed
from restbench.judge import builds, regret
from restbench.show import bottleneck, calls, limits, messages
from restbench.show import trace as traces
from restbench.show.charts import (
    course,
    factorial,
    judged,
    kernels,
    overview,
    rates,
    servers,
    study,
    trace,
    workers,
)
from restbench.show.charts.theme import Chart
from restbench.show.workers import grids_of
from restbench.store.exported import Exported


def charts(run: Exported) -> dict[str, Chart]:
    """By name, in the order of a page; those for which the run has nothing are not there."""
    rows = rows_of(run)
    definition = experiment.parse(run.experiment.toml, Path(run.run, "experiment.toml"))
    found = [
        # Of two builds the picture is of both; which technique is best is not asked.
        judged.builds(builds.pairs(rows, definition.thresholds))
        if definition.thresholds
        else overview.chart(rows),
        judged.claims(run.claims),
        *judged.regret(regret.choosing(rows).regrets),
    ]
    if definition.npb is not None:
        found += kernels.charts(npb.ranked(rows))
    if definition.calls is not None:
        found += calls.charts(rows)
    if "messages" in definition.views:
        found = [*messages.charts(rows, definition), *found]
    if "frameworks" in definition.views:
        found = [*servers.of_frameworks(costs.loads(rows)), *found]
    found = [*servers.of_instances(arranged.loads(rows)), *found]
    if definition.workers is not None:
        found = [*map(workers.chart, grids_of(run, rows)), *found]
    if definition.trace is not None:
        cells = {row.cell.id: row.cell for row in rows}
        courses = [
            trace.chart(f"trace-{name}", traces.name_of(cells[name], each), each)
            for name, each in traces.known(run, rows).items()
        ]
        found = [*courses, *found]
    if definition.open is not None:
        known = limits.of(run)
        found += [of(known, definition.open.objective) for of in (rates.limits, rates.steps)]
    try:
        effects = explained(definition, rows)
    except CellsFailed:  # the page says so in words
        effects = None
    found += factorial.charts(effects) if effects else []
    found += [study.chart(each, definition, rows) for each in definition.figures]
    if "bottleneck" in definition.views:
        found += bottleneck.charts(bottleneck.families(run, rows))
    found += [course.stages(rows), course.windows(run.series, [row.cell for row in rows])]
    return {chart.name: chart for chart in found if chart}
