"""The highest rates that meet an open load's objective."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from restbench.analyse.limits import Limit
from restbench.experiment.columns import readable
from restbench.experiment.open_load import OpenLoad
from restbench.judge import study
from restbench.show import limits
from restbench.show.document import Section, Table, Terms, Text, section, table
from restbench.show.findings import Findings


def of(found: Findings) -> Section | None:
    """The table of limits, the chart of steps, and, folded, every step."""
    load = found.definition.open
    if load is None:
        return None
    known = limits.of(found.run)
    steps = [_steps(each) for each in known if any(walk.steps for walk in each.walks)]
    reasons = {each.cell.id: each.reason for each in known if each.reason}
    notes = limits.meanings(known, load)
    return section(
        "limits",
        f"The highest rate with {load.objective}",
        Text(
            f"At most {load.objective.unsent_max_share:.1%} of the arrivals unsent, no errors; "
            f"arrivals: {load.arrivals}."
        ),
        *found.figures("open-load"),
        _summary(known, load),
        Terms(notes) if notes else None,
        Terms(reasons) if reasons else None,
        Text(limits.HOW_TO_READ.replace("*", "")),
        section("steps", "Every step", *steps, folded=True),
    )


def _summary(known: Sequence[Limit], load: OpenLoad) -> Table:
    rows = [_fields(limits.summary(each, load), limits.HEADINGS) for each in known]
    head = tuple(limits.HEADINGS.values())
    return table("The highest rate of each technique", head, rows, "  n" + "n" * 9)


def _steps(limit: Limit) -> Table:
    rows = [
        _fields(limits.step(each), limits.STEP_HEADINGS)
        for walk in limit.walks
        for each in walk.steps
    ]
    caption = f"{study.technique(limit.cell)}, {limit.cell.complexity}"
    head = tuple(limits.STEP_HEADINGS.values())
    return table(caption, head, rows, "n" * (len(head) - 1))


def _fields(record: Mapping[str, object], names: Mapping[str, str]) -> list[str]:
    return [readable(record[name]) for name in names]
