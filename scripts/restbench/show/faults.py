"""What faults came to: a sentence, and a table a service."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from restbench.analyse import faults
from restbench.analyse.faults import (
    ALL_SUCCEED_S,
    COLUMNS,
    FIRST_SUCCESS_S,
    LATEST_ANSWER_S,
    Outcome,
    outcomes,
)
from restbench.analyse.measures import Row
from restbench.show import document as doc
from restbench.show import wording
from restbench.show.findings import Findings

HOW_TO_READ = (
    "Each fault comes at a random moment of a load, and is repaired; then all is drained. Eight "
    "rules judge the history of all requests. Of a service under a fault it is asked: no 5xx but "
    f"503 with Retry-After, no answer later than {LATEST_ANSWER_S} s, a first success within "
    f"{FIRST_SUCCESS_S:.0f} s of the database's, and no failure from {ALL_SUCCEED_S:.0f} s after "
    "it on. Counts are sums over the blocks, times are the worst of them."
)
_CONFIDENCE = 0.95


def page(found: Findings) -> doc.Section | None:
    """A table a service; the sentence is the answer of the page."""
    return doc.section(
        "faults",
        "What is lost, or comes twice, when something is killed?",
        *tables(found.rows),
        doc.Text(HOW_TO_READ),
        doc.section("faults-columns", "What the columns mean", doc.Terms(dict(COLUMNS.values()))),
    )


def sentence(rows: Sequence[Row]) -> str:
    """How many faults, and what they did to how many messages."""
    known = outcomes(rows)
    if not known:
        return "No fault was inflicted."
    times = Counter[str]()
    for each in known:
        times[each.row.cell.complexity] += len(each.measured)
    listed = ", ".join(f"{count} × {name}" for name, count in times.items())
    sends, total = sum(each.total("sends") for each in known), _totals(known)
    verdict = faults.verdict(total)
    replayed = sum(each.total("replayed") for each in known)
    broken = sum(len(each.complaints) for each in known)
    times_broken = "once" if broken == 1 else f"{broken} times"
    services = (
        f"services broke a promise of theirs {times_broken}" if broken else "services kept theirs"
    )
    return (
        f"Of {sends:,.0f} messages that were sent during {sum(times.values())} faults ({listed}): "
        f"{verdict}; {replayed:.0f} answers were given once more, {services}."
    )


def sure(rows: Sequence[Row]) -> str:
    """What so many trials can say of one that fails."""
    known = outcomes(rows)
    trials = sum(len(each.measured) for each in known)
    if not trials:
        return sentence(rows)
    if any(_totals(known).values()):
        return f"{trials} faults were inflicted: violations are facts, whatever their number."
    most = 100 * (1 - (1 - _CONFIDENCE) ** (1 / trials))
    return f"No violation in {trials} faults: fewer than {most:.1f} % of such have one (95 %)."


def _totals(known: Sequence[Outcome]) -> dict[str, float]:
    names = ("lost", "duplicated", "others")
    return {name: sum(each.total(name) for each in known) for name in names}


def tables(rows: Sequence[Row]) -> list[doc.Table]:
    """One a service, a line a fault."""
    known = outcomes(rows)
    return doc.table_each("faults", _COLUMNS, known, lambda each: wording.service_name(each.row))


def terminal(rows: Sequence[Row]) -> list[doc.Table]:
    """The same without strategy and numbers."""
    return [each.only((0, 2, 3, 4)) for each in tables(rows)]


def _service(found: Outcome) -> doc.Field:
    """What it broke of its promises."""
    broken = found.complaints
    more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
    return doc.Field(f"{broken[0]}{more}" if broken else "as promised", doc.DOUBT if broken else "")


def _number(name: str) -> doc.Column[Outcome]:
    """A count over all blocks, or the worst of their times."""
    heading, _ = COLUMNS[name]
    if name.endswith("_s"):
        return doc.number(heading, lambda each: each.worst(name))
    return doc.number(heading, lambda each: f"{each.total(name):.0f}")


_COLUMNS: Sequence[doc.Column[Outcome]] = (
    doc.Column("Fault", lambda each: doc.cell_link(each.row.cell, each.row.cell.complexity)),
    doc.Column("Strategy", lambda each: each.row.cell.strategy),
    doc.number("Times", lambda each: len(each.measured)),
    doc.Column(
        "Messages",
        lambda each: doc.Field(each.verdict, doc.DOUBT if each.total("violations") else ""),
    ),
    doc.Column("Service", _service),
    *map(_number, sorted(COLUMNS, key=lambda name: name.endswith("_s"))),
)
