"""The study's own view: what choosing costs, its figures, and where the time of a request goes."""

from __future__ import annotations

from restbench.judge import regret as choices
from restbench.show import document as doc
from restbench.show.charts import study
from restbench.show.charts.theme import Chart
from restbench.show.findings import Findings, View
from restbench.show.kinds import regret


def charts(found: Findings) -> list[Chart | None]:
    """What choosing costs, then the figures by the study's numbers."""
    of_choices = regret.charts(choices.choosing(found.rows).regrets)
    rows, definition = found.rows, found.definition
    return [*of_choices, *(study.chart(each, definition, rows) for each in definition.figures)]


def figures(found: Findings) -> doc.Section | None:
    """The figures by the study's numbers; None where none is in the run."""
    shown = found.figures("figure-")
    drawn = {each.chart.name for each in shown}
    absent = [
        str(each.number)
        for each in found.definition.figures
        if f"figure-{each.number}" not in drawn
    ]
    lacking = f" Not in this run: {', '.join(absent)}." if absent else ""
    dashboards = " Figures 28 to 30 are JMeter's own dashboards, linked at their cells." * (
        found.folder.dashboards.exists()
    )
    intro = doc.Text(
        "The numbers are the study's. Point at a mark for its cell, press it for its details; "
        f"press a name to hide it. Hollow marks have warnings.{dashboards}{lacking}"
    )
    return doc.section("figures", "The study's figures", intro, *shown) if shown else None


def stages(found: Findings) -> doc.Section | None:
    """The stages by technique."""
    intro = doc.Text(
        "The service reports with each answer how long it waited, parsed, computed and "
        "serialized; the rest of the response time is the network, the web server and JMeter."
    )
    shown = found.figures("stages")
    return doc.section("stages", "Where the time goes", intro, *shown) if shown else None


VIEW = View(
    lambda found: found,
    lambda found, _its: regret.page(found),
    lambda found: regret.sentence(found.rows),
    lambda found: regret.sure(found.rows),
    charts,
    records=lambda run, found: {run.regret_csv: regret.records(choices.choosing(found.rows))},
    more=(figures, stages),
)
