"""What web frameworks cost, in words and as tables: the same on the page and in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from restbench.analyse.comparison import MARGIN
from restbench.analyse.frameworks import Cost, Load, Size
from restbench.experiment.cell import DEFAULT_FRAMEWORKS, users_text
from restbench.experiment.columns import readable
from restbench.judge import study, verdicts
from restbench.judge.verdicts import ratio_text
from restbench.show.document import DOUBT, Field, Link, Table, table

_HEAD = (
    "Framework",
    "Size",
    "Users",
    "CPU ms",
    "/ default [95 %]",
    "/ cheapest [95 %]",
    "Requests/s",
    "/ default [95 %]",
    "wrk /s",
    "/ default [95 %]",
    "p99 ms",
    "Warnings and notes",
)
HOW_TO_READ = (
    "CPU time a request is the service's own: the load generator changes nothing about it, while "
    "small requests have throughputs that it makes alike: there frameworks are ranked by CPU time. "
    "wrk costs less than JMeter, keeps its connections, sends one body again and again, and looks "
    "at an answer's status alone. The cheapest, and what cannot be told "
    "from it (paired t, Holm), is marked ≈. A p99 needs 10 000 responses. A size's work is its CPU "
    f"time a request in the cheapest framework; a framework does not matter where all lie within "
    f"{MARGIN:.0%} of the cheapest, by the upper ends of their 95 % intervals."
)
#: What somebody looks for who knows the study of 2022.
JAPRONTO = (
    "not measured: no release since 2018; rsgi is the nearest living kind, a compiled HTTP "
    "server that calls a bare handler"
)


def name(load: Load) -> str:
    """Such as `Python, 20 users`."""
    return f"{load.cell.service.capitalize()}, {users_text(load.cell.users)}"


def outcome(load: Load) -> str:
    """From which size of work on the framework no longer matters, or that no size shows it."""
    found = load.from_size
    if found is not None:
        return (
            f"{name(load)}: from {found.complexity} on ({work(found)}) the framework no longer "
            f"matters: {_over(found)}, within {MARGIN:.0%}."
        )
    last = load.sizes[-1]
    start = f"{name(load)}: not reached. At {last.complexity}, the largest size ({work(last)})"
    if last.lacking:
        absent = ", ".join(row.cell.framework_text for row in last.lacking)
        return f"{start}, there is no number of {absent}."
    few = "" if last.costs[0].to_best.ratio else ", and one block has no interval"
    return f"{start}, {_over(last)}{few}."


def work(size: Size) -> str:
    """Of a request, in the cheapest framework."""
    return f"{readable(size.work_ms)} ms of CPU time in {size.costs[0].row.cell.framework_text}"


def _over(size: Size) -> str:
    """The dearest framework next to the cheapest, by the end of its interval."""

    def end(cost: Cost) -> float:
        return cost.to_best.ratio.high if cost.to_best.ratio else cost.to_best.estimate or 0.0

    worst = max(size.costs, key=end)
    return (
        f"{worst.row.cell.framework_text} takes {ratio_text(worst.to_best)} times the CPU time of "
        "the cheapest"
    )


def sentence(loads: Sequence[Load]) -> str:
    """How much the framework costs at most, and from where on nothing, by service with its most
    users."""
    parts = []
    for load in with_most_users(loads):
        first, found = load.sizes[0], load.from_size
        until = (
            f"from {found.complexity} on ({readable(found.work_ms)} ms) it no longer matters"
            if found
            else f"up to {load.sizes[-1].complexity} it is not shown to stop mattering"
        )
        best, *_, worst = first.costs
        parts.append(
            f"in {name(load)}, a {first.complexity} request costs "
            f"{readable(worst.to_best.estimate)} times as much CPU time in "
            f"{worst.row.cell.framework_text} as in {best.row.cell.framework_text}; {until}"
        )
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def sure(loads: Sequence[Load]) -> str:
    """How sure the ratios are."""
    costs = [cost.to_best for load in loads for size in load.sizes for cost in size.costs]
    return verdicts.sure("CPU time", costs)


def by_users(loads: Sequence[Load]) -> list[Load]:
    """By service, the fewest users first."""
    return sorted(loads, key=lambda each: (each.cell.service, each.cell.users))


def with_most_users(loads: Sequence[Load]) -> list[Load]:
    """Of each service."""
    return list({each.cell.service: each for each in by_users(loads)}.values())


def table_of(service: str, loads: Sequence[Load]) -> Table:
    """A line a framework, size and number of users of one service."""
    costs = [
        cost
        for load in loads
        if load.cell.service == service
        for size in load.sizes
        for cost in size.costs
    ]
    rows: list[tuple[Field | str, ...]] = [_line(cost) for cost in costs]
    if service == "python":
        rows.append(("japronto", *[""] * (len(_HEAD) - 2), JAPRONTO))
    return table(f"{service.capitalize()}: frameworks", _HEAD, rows, "  nn  n n n")


def _line(cost: Cost) -> tuple[Field | str, ...]:
    row, cell = cost.row, cost.row.cell
    is_default = cell.framework == DEFAULT_FRAMEWORKS[cell.service]
    return (
        Field(Link(f"{cell.framework_text}{' (default)' * is_default}", f"#cell-{cell.id}")),
        cell.complexity,
        str(cell.users),
        readable(row.value("cpu_ms_per_request")),
        ratio_text(cost.to_default),
        f"{'≈ ' * cost.is_tied}{ratio_text(cost.to_best)}",
        readable(row.value("throughput_per_s")),
        ratio_text(cost.throughput),
        readable(row.value("wrk_per_s")),
        ratio_text(cost.by_wrk) if cost.by_wrk.estimate else "",
        readable(row.value("p99_ms")),
        Field(", ".join(study.marks(row).values()), tone=DOUBT if row.warnings else ""),
    )
