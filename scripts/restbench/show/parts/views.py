"""The sections that are mostly charts: the study's figures, where the time goes, and what each
other kind of experiment is about."""

from __future__ import annotations

from collections.abc import Callable

from restbench.judge import regret
from restbench.show import calls, faults
from restbench.show.document import Bullets, Section, Table, Text, section, table
from restbench.show.findings import Findings
from restbench.show.parts import (
    bottleneck,
    builds,
    factorial,
    limits,
    messages,
    npb,
    servers,
    trace,
)

_HOW_TO_READ = (
    "A share is above 1 where choosing is better, whatever the metric: of throughput it is the "
    "choosing strategy's over the other's, of latency the other's over the choosing one's. Regret "
    "is 1 less the share. The best fixed strategy is the one that these runs show as the best, so "
    "among several alike the one that luck favoured: regret is rather shown too large. Intervals "
    "are of the ratio paired by block; with one block there are none."
)


def of(found: Findings) -> list[Section | None]:
    """What the run's experiment wants to be shown, and its course over time."""
    wanted = [make for view, make in VIEWS.items() if view in found.definition.views]
    course = section("course", "Long windows over time", *found.figures("series"), folded=True)
    return [servers.of_instances(found), *(each for make in wanted for each in make(found)), course]


def _study(found: Findings) -> list[Section | None]:
    return [_choosing(found), _figures(found), _stages(found)]


def _figures(found: Findings) -> Section | None:
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
    intro = Text(
        "The numbers are the study's. Point at a mark for its cell, press it for its details; "
        f"press a name to hide it. Hollow marks have warnings.{dashboards}{lacking}"
    )
    return section("figures", "The study's figures", intro, *shown) if shown else None


def _stages(found: Findings) -> Section | None:
    intro = Text(
        "The service reports with each answer how long it waited, parsed, computed and "
        "serialized; the rest of the response time is the network, the web server and JMeter."
    )
    shown = found.figures("stages")
    return section("stages", "Where the time goes", intro, *shown) if shown else None


def _choosing(found: Findings) -> Section | None:
    choice = regret.choosing(found.rows)
    if not choice.regrets:
        return None
    parts = (
        _lines("Each cell against its best fixed strategy", regret.HEAD, choice.regrets),
        _lines("Each mix against every fixed strategy", regret.HEAD, choice.duels),
        table(
            "Do small requests wait for huge ones? Every strategy",
            regret.SLOWDOWN_HEAD,
            choice.slowdown_lines,
        )
        if choice.slowdowns
        else None,
    )
    details = section("regret-cells", "Each comparison", *parts, folded=True)
    return section(
        "regret",
        "What choosing costs",
        Bullets(tuple(choice.summary())),
        *found.figures("regret"),
        Text(_HOW_TO_READ),
        details,
    )


def _lines(caption: str, head: tuple[str, ...], shares: tuple[regret.Share, ...]) -> Table | None:
    return table(caption, head, [each.line for each in shares]) if shares else None


#: What is made of a run's trials, by the name in its experiment's file, the most special first.
VIEWS: dict[str, Callable[[Findings], list[Section | None]]] = {
    "builds": lambda found: [builds.of(found)],
    "npb": lambda found: [npb.of(found)],
    "calls": lambda found: [calls.of(found)],
    "faults": lambda found: [faults.of(found)],
    "messages": lambda found: [messages.of(found)],
    "limits": lambda found: [limits.of(found)],
    "frameworks": lambda found: [servers.of_frameworks(found)],
    "workers": lambda found: [servers.of_workers(found)],
    "factorial": lambda found: [factorial.of(found)],
    "study": _study,
    "trace": lambda found: [trace.of(found)],
    "bottleneck": lambda found: [bottleneck.of(found)],
}
