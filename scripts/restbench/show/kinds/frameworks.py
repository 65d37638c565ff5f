"""What web frameworks cost, in words, as tables and as charts."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from restbench import ROOT
from restbench.analyse.comparison import MARGIN
from restbench.analyse.frameworks import Cost, Load, Size, loads
from restbench.experiment.cell import DEFAULT_FRAMEWORKS, FRAMEWORKS, users_text
from restbench.experiment.columns import readable
from restbench.judge import verdicts
from restbench.judge.verdicts import ratio_text
from restbench.show import document as doc
from restbench.show import wording
from restbench.show.charts import forest, theme
from restbench.show.findings import Findings, View

HOW_TO_READ = (
    "Frameworks are ranked by the service's own CPU time per request under JMeter. With small "
    "requests its ratio depends on the load generator; both are shown. wrk loads a cell for one "
    "second in each block. It costs less than JMeter, sends from one thread where JMeter has one "
    "for each user, keeps its connections, sends the same body again and again, and checks only "
    "the status of an answer. The load generator also makes the throughputs of small requests "
    "alike. ≈ stands at the cheapest framework, and at those that cannot be distinguished from it "
    "(paired t, Holm). A p95 needs 1 000 responses in each block, a p99 10 000. The work of a "
    "size is its CPU time per request in the cheapest framework. The framework does not matter "
    f"where all lie within {100 * MARGIN:.0f} % of the cheapest, by the upper ends of their 95 % "
    "intervals. Services are measured without a front: for measuring, not for exposure. The last "
    "table (contract/deviations.toml) shows how each server differs with slow, broken or hostile "
    "requests."
)


def name(load: Load) -> str:
    """Such as `Python, 20 users`."""
    return f"{_place(load)}, {users_text(load.cell.users)}"


def _place(load: Load) -> str:
    """Such as `Python`; with the strategy where that is not `serial`."""
    cell = load.cell
    return cell.service.capitalize() if cell.strategy == "serial" else wording.strategy_name(cell)


def outcome(load: Load) -> str:
    """From which size of work on the framework no longer matters, or that no size shows it."""
    found = load.from_size
    if found is not None:
        return (
            f"{name(load)}: from {found.complexity} on ({work(found)}) the framework no longer "
            f"matters: {_over(found)}, within {100 * MARGIN:.0f} %."
        )
    last = load.sizes[-1]
    start = (
        f"{name(load)}: no size is shown to make the framework irrelevant. "
        f"At {last.complexity}, the largest size ({work(last)})"
    )
    if last.lacking:
        absent = ", ".join(row.cell.framework_text for row in last.lacking)
        return f"{start}, there is no number for {absent}."
    few = "" if last.costs[0].to_best.ratio else ", and one block has no interval"
    return f"{start}, {_over(last)}{few}."


def work(size: Size) -> str:
    """The CPU time of a request in the cheapest framework, in words."""
    return f"{readable(size.work_ms)} ms of CPU time in {size.costs[0].row.cell.framework_text}"


def _over(size: Size) -> str:
    """The most expensive framework, by the upper end of its interval, next to the cheapest."""

    def end(cost: Cost) -> float:
        return cost.to_best.ratio.high if cost.to_best.ratio else cost.to_best.estimate or 0.0

    worst = max(size.costs, key=end)
    return (
        f"{worst.row.cell.framework_text} takes {ratio_text(worst.to_best)} times the CPU time of "
        "the cheapest"
    )


def sentence(known: Sequence[Load]) -> str:
    """For each service with its largest number of users: how much the framework costs at most, and
    from which size on it does not matter."""
    parts = []
    for load in with_most_users(known):
        first = next(each for each in load.sizes if len(each.costs) > 1)
        found = load.from_size
        until = (
            f"from {found.complexity} on ({readable(found.work_ms)} ms) the framework no longer "
            "matters"
            if found
            else f"the framework may matter at {load.sizes[-1].complexity}, the largest size"
        )
        best, worst = first.costs[0], first.costs[-1]
        parts.append(
            f"in {_place(load)} with {users_text(load.cell.users)} a "
            f"{first.complexity} request costs "
            f"{readable(worst.to_best.estimate)} times as much CPU time in "
            f"{worst.row.cell.framework_text} as in {best.row.cell.framework_text}; {until}"
        )
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def sure(known: Sequence[Load]) -> str:
    """How sure the ratios are."""
    return verdicts.certainty_text("CPU time", [cost.to_best for cost in _costs(known)])


def _costs(known: Sequence[Load]) -> list[Cost]:
    return [cost for load in known for size in load.sizes for cost in size.costs]


def with_most_users(known: Sequence[Load]) -> list[Load]:
    """The loads with the most users of each service; `known` is in ascending order of users."""
    most = {each.cell.service: each.cell.users for each in known}
    return [each for each in known if each.cell.users == most[each.cell.service]]


def page(found: Findings, known: Sequence[Load]) -> doc.Section | None:
    """From which size on the framework does not matter, the charts, and a table per service."""
    return doc.section(
        "frameworks",
        "What does the web framework cost?",
        list(map(outcome, known)),
        *found.figures("frameworks"),
        *(table_of(each, known) for each in dict.fromkeys(load.cell.service for load in known)),
        HOW_TO_READ,
        _deviations(known),
    )


def terminal(known: Sequence[Load]) -> list[doc.Table | str]:
    """A table per service with its largest number of users, then the outcome of each load."""
    tables = [table_of(load.cell.service, [load]) for load in with_most_users(known)]
    note = [
        "≈: cannot be distinguished from the cheapest. CPU time is that under JMeter; the page "
        "also has that under wrk, where wrk loaded a cell."
    ]
    return [
        *(each.only((0, 1, 2, 3, 4, 5, 8)) for each in tables),
        *note * bool(tables),
        *map(outcome, known),
    ]


def charts(known: Sequence[Load]) -> list[theme.Chart | None]:
    """CPU time per request over that in the cheapest framework: a chart per service and number of
    users, the most users first."""
    return [_chart(each) for each in reversed(known)]


def _chart(load: Load) -> theme.Chart | None:
    """A panel per size, with the frameworks in the order of FRAMEWORKS."""
    order = FRAMEWORKS[load.cell.service].index

    def entries(size: Size) -> tuple[forest.Entry, ...]:
        ranked = sorted(size.costs, key=lambda each: (order(each.row.cell.framework), _name(each)))
        return tuple(map(_entry, ranked))

    return forest.chart(
        f"frameworks-{load.cell.service}-{load.cell.users}",
        f"CPU time per request over that in the cheapest framework: {name(load)}",
        f"{outcome(load)} A filled symbol: shown to lie within {100 * MARGIN:.0f} % of the "
        "cheapest.",
        [
            forest.Panel(f"{size.complexity}: {work(size)}", "Ratio to cheapest", entries(size))
            for size in load.sizes
        ],
        {"framework": 0},
    )


def _entry(cost: Cost) -> forest.Entry:
    return forest.compared(
        cost.to_best,
        cost.row,
        _name(cost),
        "framework",
        is_sure=cost.is_within,
        margin=(1.0, 1 + MARGIN),
    )


def _name(cost: Cost) -> str:
    return cost.row.cell.framework_text


def table_of(service: str, known: Sequence[Load]) -> doc.Table:
    """The table of one service: a line per framework, size and number of users."""
    costs = _costs([load for load in known if load.cell.service == service])
    made = doc.table(f"{service.capitalize()}: frameworks", _COLUMNS, costs)
    gone = tuple(map(doc.Field, ("japronto", *[""] * (len(_COLUMNS) - 2), _JAPRONTO)))
    return replace(made, rows=(*made.rows, gone)) if service == "python" else made


def _deviations(known: Sequence[Load]) -> doc.Table:
    """Where the measured frameworks do not answer as the contract says, in the order of
    FRAMEWORKS."""
    measured = {cost.row.cell.framework for cost in _costs(known)}
    text = (ROOT / "contract" / "deviations.toml").read_text(encoding="utf-8")
    listed: list[Mapping[str, str]] = tomllib.loads(text)["deviation"]
    rows = [
        row
        for of in FRAMEWORKS.values()
        for name in of
        for row in listed
        if name in measured and row.get("framework") == name and "front" not in row
    ]
    return doc.table("Answers other than the contract's", _OF_DEVIATIONS, rows)


def _link(cost: Cost) -> doc.Link:
    cell = cost.row.cell
    is_default = cell.framework == DEFAULT_FRAMEWORKS[cell.service]
    return doc.cell_link(cell, f"{_name(cost)}{' (default)' * is_default}")


def _over_default_in_each(cost: Cost, metric: str) -> str:
    """The ratio to the default; empty unless both have the metric in each block."""
    values = [each.value(metric) for each in (cost.row, cost.usual) if each]
    return "" if None in values else ratio_text(cost.over_default(metric))


_COLUMNS: Sequence[doc.Column[Cost]] = (
    doc.Column("Framework", _link),
    doc.Column("Size", lambda cost: cost.row.cell.complexity),
    doc.number("Users", lambda cost: cost.row.cell.users),
    doc.number("CPU ms", lambda cost: cost.row.value("cpu_ms_per_request")),
    doc.Column("/ default [95 %]", lambda cost: ratio_text(cost.over_default())),
    doc.Column(
        "/ cheapest [95 %]", lambda cost: f"{'≈ ' * cost.is_tied}{ratio_text(cost.to_best)}"
    ),
    doc.Column("wrk: CPU ms [95 %]", lambda cost: wording.mean(cost.row, "wrk_cpu_ms_per_request")),
    doc.Column(
        "/ default [95 %]", lambda cost: ratio_text(cost.over_default("wrk_cpu_ms_per_request"))
    ),
    doc.number("Requests/s", lambda cost: cost.row.value("throughput_per_s")),
    doc.Column("/ default [95 %]", lambda cost: ratio_text(cost.over_default("throughput_per_s"))),
    doc.number("wrk /s", lambda cost: cost.row.value("wrk_per_s")),
    doc.Column("/ default [95 %]", lambda cost: ratio_text(cost.over_default("wrk_per_s"))),
    doc.number("p95 ms", lambda cost: cost.row.value("p95_ms")),
    doc.Column("/ default [95 %]", lambda cost: _over_default_in_each(cost, "p95_ms")),
    doc.number("p99 ms", lambda cost: cost.row.value("p99_ms")),
    doc.Column("Warnings and notes", lambda cost: doc.remarks(cost.row)),
)
_OF_DEVIATIONS: Sequence[doc.Column[Mapping[str, str]]] = (
    doc.Column("Framework", lambda row: row["framework"]),
    doc.Column("Request", lambda row: row.get("probe") or row["example"]),
    doc.Column("Answer", lambda row: row["answer"]),
    doc.Column("Why", lambda row: row["why"]),
)
#: Readers of the study of 2022 will look for this framework.
_JAPRONTO = (
    "not measured: no release since 2018; rsgi is the nearest maintained framework, a compiled "
    "HTTP server that calls a bare handler"
)


VIEW = View(lambda found: loads(found.rows), page, sentence, sure, charts, terminal)
