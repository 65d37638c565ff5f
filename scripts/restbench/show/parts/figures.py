"""The study's figures, and where the time of a request goes."""

from __future__ import annotations

from restbench.show import document as doc
from restbench.show.findings import Findings


def of_study(found: Findings) -> doc.Section | None:
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


def of_stages(found: Findings) -> doc.Section | None:
    """The stages by technique."""
    intro = doc.Text(
        "The service reports with each answer how long it waited, parsed, computed and "
        "serialized; the rest of the response time is the network, the web server and JMeter."
    )
    shown = found.figures("stages")
    return doc.section("stages", "Where the time goes", intro, *shown) if shown else None
