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
from restbench.experiment.columns import readable
from restbench.show.document import DOUBT, Field, Link, Section, Table, Terms, Text, section, table
from restbench.show.findings import Findings

#: Columns of counts, over all blocks; and of those whose worst block is shown.
_COUNTS = tuple(name for name in COLUMNS if not name.endswith("_s"))
_WORST = tuple(name for name in COLUMNS if name.endswith("_s"))
_HEAD = (
    *("Fault", "Strategy", "Times", "Messages", "Service"),
    *(COLUMNS[name][0] for name in (*_COUNTS, *_WORST)),
)
#: Those of a terminal.
NARROW = (0, 2, 3, 4)
HOW_TO_READ = (
    "Each fault comes at a random moment of a load, and is repaired; then all is drained. Eight "
    "rules judge the history of all requests. Of a service under a fault it is asked: no 5xx but "
    f"503 with Retry-After, no answer later than {LATEST_ANSWER_S} s, a first success within "
    f"{FIRST_SUCCESS_S:.0f} s of the database's, and no failure from {ALL_SUCCEED_S:.0f} s after "
    "it on. Counts are sums over the blocks, times are the worst of them."
)
_CONFIDENCE = 0.95


def of(found: Findings) -> Section | None:
    """The page's section."""
    if found.definition.faults is None:
        return None
    return section(
        "faults",
        "What is lost, or comes twice, when something is killed?",
        Text(sentence(found.rows)),
        *tables(found.rows),
        Text(HOW_TO_READ),
        section("faults-columns", "What the columns mean", Terms(dict(COLUMNS.values()))),
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
    services = (
        f"services broke a promise of theirs {broken} times" if broken else "services kept theirs"
    )
    return (
        f"Of {sends:.0f} messages that were sent during {sum(times.values())} faults ({listed}): "
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


def tables(rows: Sequence[Row]) -> list[Table]:
    """One a service, a line a fault."""
    services: dict[str, list[tuple[Field | str, ...]]] = {}
    for each in outcomes(rows):
        services.setdefault(each.row.cell.service, []).append(_line(each))
    form = f"  n  {'n' * (len(_HEAD) - 5)}"
    return [table(f"{name.capitalize()}: faults", _HEAD, of, form) for name, of in services.items()]


def _line(found: Outcome) -> tuple[Field | str, ...]:
    cell, broken = found.row.cell, found.complaints
    more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
    return (
        Field(Link(cell.complexity, f"#cell-{cell.id}")),
        cell.strategy,
        str(len(found.measured)),
        Field(found.verdict, tone="" if not found.total("violations") else DOUBT),
        Field(f"{broken[0]}{more}" if broken else "as promised", tone=DOUBT if broken else ""),
        *(f"{found.total(name):.0f}" for name in _COUNTS),
        *(readable(found.worst(name)) for name in _WORST),
    )
