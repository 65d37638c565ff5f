"""Several instances compared with one: in words, as tables and as charts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from restbench.analyse import instances, workers
from restbench.analyse.comparison import MARGIN
from restbench.analyse.instances import Arrangement, Load
from restbench.experiment.cell import users_text
from restbench.grouping import grouped
from restbench.judge import verdicts
from restbench.judge.verdicts import ratio_text
from restbench.show import document as doc
from restbench.show import wording
from restbench.show.charts import forest, theme
from restbench.show.findings import Findings, View

HOW_TO_READ = (
    "All instances are behind the same front, so every number includes its cost. / one: the ratio "
    "to one instance that the kernel places, under the same strategy. / best one: the ratio to "
    "that instance under its best strategy. CPU ms: CPU time per request of the instances and the "
    "front. Front ms: the front's part of it. The instances share the heap or the processes of "
    "one."
)


def sentence(loads: Sequence[Load]) -> str:
    """How many times as many requests instances with a core each answer as one instance under its
    best strategy."""
    known = ((load, load.bound) for load in loads if load.bound)
    # The best arrangement of one load may have more instances than that of another.
    groups = grouped(known, lambda each: (each[0].cell.service, each[1].row.cell.instances))
    parts = []
    for (service, count), of in groups.items():
        found = " and ".join(
            f"{ratio_text(bound.to_best)} times{'' if number else ' as many requests'} at "
            f"{load.cell.complexity} ({bound.row.cell.strategy})"
            for number, (load, bound) in enumerate(of)
        )
        parts.append(f"in {service.capitalize()} {count} single-core instances answer {found}")
    text = "; ".join(parts)
    return f"Compared with one instance under its best strategy, {text}." if text else ""


def sure(loads: Sequence[Load]) -> str:
    """How sure the ratios are."""
    return verdicts.certainty_text("throughput", [it.bound.to_best for it in loads if it.bound])


def name(load: Load) -> str:
    """Such as `low, 10 users`."""
    return f"{load.cell.complexity}, {users_text(load.cell.users)}"


def page(found: Findings, known: Sequence[Load]) -> doc.Section | None:
    """The charts, and a table per service."""
    return doc.section(
        "instances",
        "What do several instances bring?",
        *found.figures("instances"),
        *tables(known),
        HOW_TO_READ,
        growth(known, found.cores),
    )


def growth(loads: Sequence[Load], cores: int) -> list[str]:
    """Whether the laws of growth describe how throughput grows with instances. Series with the same
    result, such as too few numbers of instances, share a line."""
    reported: dict[str, list[str]] = {}
    for load in loads:
        for cell, rows in load.growing.items():
            fit = partial(workers.growth, rows, "instances", cores=cores)
            laws = wording.laws(fit, "instances")
            of = f"{wording.strategy_name(cell)} {cell.placement}, {name(load)}"
            reported.setdefault(laws, []).append(of)
    return [
        f"Growth with instances, {of[0] if len(of) == 1 else f'{len(of)} series of cells'}: {laws}."
        for laws, of in reported.items()
    ]


def charts(loads: Sequence[Load]) -> list[theme.Chart | None]:
    """Throughput over that of one instance under its best strategy: a chart per service."""
    services = grouped(loads, lambda load: load.cell.service)
    return [
        forest.chart(
            f"instances-{service}",
            f"Throughput over that of one instance under its best strategy: {service.capitalize()}",
            f"Within {100 * MARGIN:.0f} % a difference does not count.",
            [
                forest.Panel(name(each), "Ratio to best one", tuple(map(_entry, each.arrangements)))
                for each in of
            ],
            {"unbound": 0, "a core each": 1},
        )
        for service, of in services.items()
    ]


def _entry(each: Arrangement) -> forest.Entry:
    """A line such as `2 × serial, a core each`. Each arrangement has a line of its own, as the
    value is written at its end."""
    cell = each.row.cell
    line = f"{cell.instances} × {cell.strategy}{', a core each' * (cell.placement == 'per-core')}"
    return forest.compared(each.to_best, each.row, line, wording.placement(cell))


def terminal(loads: Sequence[Load]) -> list[doc.Table]:
    """The tables without the columns after the ratios of throughput; with the number of users only
    where there are several."""
    known = tables(loads)
    return [each.only((0, 1, *doc.differing(known, 2), 3, 4, 5, 6, 7)) for each in known]


def tables(loads: Sequence[Load]) -> list[doc.Table]:
    """A table per service, with a line per strategy, size and arrangement."""
    every = [each for load in loads for each in load.arrangements]
    return doc.table_each("instances", _COLUMNS, every, lambda each: wording.service_name(each.row))


_COLUMNS: Sequence[doc.Column[Arrangement]] = (
    doc.Column("Strategy", lambda each: doc.cell_link(each.row.cell, each.row.cell.strategy)),
    doc.Column("Size", lambda each: each.row.cell.complexity),
    doc.number("Users", lambda each: each.row.cell.users),
    doc.number("Instances", lambda each: each.row.cell.instances),
    doc.Column("Placement", lambda each: each.row.cell.placement),
    doc.number("Requests/s", lambda each: each.row.value("throughput_per_s")),
    doc.Column("/ one [95 %]", lambda each: ratio_text(each.over_one("throughput_per_s"))),
    doc.Column("/ best one [95 %]", lambda each: ratio_text(each.to_best)),
    doc.number("CPU ms", lambda each: each.row.value("cpu_ms_per_request")),
    doc.Column("/ one [95 %]", lambda each: ratio_text(each.over_one("cpu_ms_per_request"))),
    doc.number("Front ms", lambda each: each.row.value("front_cpu_ms_per_request")),
    doc.Column("Warnings and notes", lambda each: doc.remarks(each.row)),
)


VIEW = View(lambda found: instances.loads(found.rows), page, sentence, sure, charts, terminal)
