"""What several instances come to against one, in words and as a table: the same on the page and in
a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from restbench.analyse.instances import Arrangement, Load
from restbench.experiment.cell import users_text
from restbench.experiment.columns import readable
from restbench.judge import study, verdicts
from restbench.judge.verdicts import ratio_text
from restbench.show.document import DOUBT, Field, Link, Table, table

_HEAD = (
    "Strategy",
    "Size",
    "Users",
    "Instances",
    "Placement",
    "Requests/s",
    "/ one [95 %]",
    "/ best one [95 %]",
    "CPU ms",
    "/ one [95 %]",
    "Warnings and notes",
)
#: Those of a terminal: a run has one number of users.
NARROW = (0, 1, 3, 4, 5, 6, 7)
HOW_TO_READ = (
    "All instances are behind the same front, so its cost is in every number. / one: over one "
    "instance that the kernel places, under the same strategy; / best one: under that instance's "
    "best strategy. Each instance has its part of one's heap or processes."
)


def sentence(loads: Sequence[Load]) -> str:
    """How many times the requests of the best one instance those with a core each answer."""
    services: dict[str, list[tuple[Load, Arrangement]]] = {}
    for load in loads:
        if load.bound:
            services.setdefault(load.cell.service, []).append((load, load.bound))
    parts = []
    for service, of in services.items():
        found = " and ".join(
            f"{ratio_text(bound.to_best)} times as many requests at {load.cell.complexity} "
            f"({bound.row.cell.strategy})"
            for load, bound in of
        )
        count = of[0][1].row.cell.instances
        parts.append(f"in {service.capitalize()} {count} instances, a core each, answer {found}")
    text = "; ".join(parts)
    return f"Next to one instance under its best strategy, {text}." if text else ""


def sure(loads: Sequence[Load]) -> str:
    """How sure the ratios are."""
    return verdicts.sure("throughput", [it.bound.to_best for it in loads if it.bound])


def name(load: Load) -> str:
    """Such as `low, 10 users`."""
    return f"{load.cell.complexity}, {users_text(load.cell.users)}"


def tables(loads: Sequence[Load]) -> list[Table]:
    """One a service, in it a line a strategy, size and arrangement."""
    rows: dict[str, list[tuple[Field | str, ...]]] = {}
    for load in loads:
        rows.setdefault(load.cell.service, []).extend(map(_line, load.arrangements))
    return [
        table(f"{service.capitalize()}: instances", _HEAD, of, "  nn n  n ")
        for service, of in rows.items()
    ]


def _line(found: Arrangement) -> tuple[Field | str, ...]:
    row, cell = found.row, found.row.cell
    return (
        Field(Link(cell.strategy, f"#cell-{cell.id}")),
        cell.complexity,
        str(cell.users),
        str(cell.instances),
        cell.placement,
        readable(row.value("throughput_per_s")),
        ratio_text(found.throughput),
        ratio_text(found.to_best),
        readable(row.value("cpu_ms_per_request")),
        ratio_text(found.cpu_time),
        Field(", ".join(study.marks(row).values()), tone=DOUBT if row.warnings else ""),
    )
