"""The results of fault injection: in words, as tables and as charts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from restbench.analyse import faults
from restbench.analyse.faults import COLUMNS, Outcome
from restbench.analyse.measurement import Measurement
from restbench.failures import counted
from restbench.show import document as doc
from restbench.show import wording
from restbench.show.charts import forest, theme
from restbench.show.charts.forest import Entry, Panel
from restbench.show.findings import Findings, View

HOW_TO_READ = (
    "Each fault is injected at a random moment of a load, and is then repaired. At the end the "
    "queues are drained. Eight rules judge the history of all requests. A service under a fault "
    "must keep these promises: no 4xx, no 5xx other than 503 with Retry-After, no answer later "
    f"than {faults.LATEST_ANSWER_S} s, a first success within {faults.FIRST_SUCCESS_S:.0f} s of "
    f"the database's first success, and no failure from {faults.ALL_SUCCEED_S:.0f} s after that "
    "on, refused connections included. Counts are sums over the blocks; times are the worst of all "
    "blocks."
)
_CONFIDENCE = 0.95
#: Panels of the chart: the column of each, and the most that a service promises.
_TIMES = (
    ("First success after recovery", "first_s", faults.FIRST_SUCCESS_S),
    ("Latest answer", "latest_s", faults.LATEST_ANSWER_S),
)
_KEPT, _BROKEN = "as promised", "promise broken"
_STYLES = {_KEPT: 0, _BROKEN: 1}


def page(found: Findings, known: Sequence[Outcome]) -> doc.Section | None:
    """The chart and a table per service. The sentence is not repeated: it is the page's answer."""
    return doc.section(
        "faults",
        "What is lost, or comes twice, when something is killed?",
        *found.figures("faults"),
        *tables(known),
        HOW_TO_READ,
        doc.section("faults-columns", "What the columns mean", dict(COLUMNS.values())),
    )


def sentence(known: Sequence[Outcome]) -> str:
    """The number of faults, and what they did to the messages and the services."""
    if not known:
        return "No fault was injected."
    times = Counter[str]()
    for each in known:
        times[each.row.cell.complexity] += len(each.measured)
    listed = ", ".join(f"{count} × {name}" for name, count in times.items())
    number = counted(sum(times.values()), "fault")
    sends, total = sum(each.total("sends") for each in known), _totals(known)
    verdict = faults.verdict(total)
    replayed = int(sum(each.total("replayed") for each in known))
    again = counted(replayed, "answer", "was", "were")
    broken = sum(len(each.complaints) for each in known)
    times_broken = "once" if broken == 1 else f"{broken} times"
    services = (
        f"services broke a promise {times_broken}" if broken else "services kept their promises"
    )
    return (
        f"Of {sends:,.0f} messages that were sent during {number} ({listed}): "
        f"{verdict}; {again} repeated for the same key; {services}."
    )


def sure(known: Sequence[Outcome]) -> str:
    """What this number of faults says about the frequency of violations."""
    trials = sum(len(each.measured) for each in known)
    if not trials:
        return sentence(known)
    if any(_totals(known).values()):
        injected = counted(trials, "fault", "was", "were")
        return f"{injected} injected: violations are facts, however few faults there were."
    most = 100 * (1 - (1 - _CONFIDENCE) ** (1 / trials))
    return (
        f"No violation in {counted(trials, 'fault')}: fewer than {most:.1f} % of such faults "
        "cause one (95 %)."
    )


def _totals(known: Sequence[Outcome]) -> dict[str, float]:
    names = ("lost", "duplicated", "others")
    return {name: sum(each.total(name) for each in known) for name in names}


def charts(known: Sequence[Outcome]) -> list[theme.Chart | None]:
    """A mark per fault: how soon the service answered again, and the longest wait for an answer."""
    panels = []
    for title, column, most_s in _TIMES:
        marks = tuple(
            _mark(each, block, column, most_s) for each in known for block in each.measured
        )
        panels.append(Panel(title, "Seconds", marks, None, is_ratio=False, has_values=False))
    return [
        forest.chart(
            "faults-times",
            "How soon does the service answer again?",
            "Each symbol is one fault. The band ends where the service breaks its promise.",
            panels if known else [],
            _STYLES,
        )
    ]


def _mark(of: Outcome, block: Measurement, column: str, most_s: float) -> Entry:
    cell, value = of.row.cell, block.extras[column]
    label = f"{wording.strategy_name(cell)}, {cell.complexity}"
    return Entry(
        label,
        value,
        None,
        _BROKEN if value > most_s else _KEPT,
        f"{label}, block {block.block}",
        cell=cell.id,
        margin=(0.0, most_s),
    )


def tables(known: Sequence[Outcome]) -> list[doc.Table]:
    """A table per service, with a line per kind of fault and strategy."""
    return doc.table_each("faults", _COLUMNS, known, lambda each: wording.service_name(each.row))


def terminal(known: Sequence[Outcome]) -> list[doc.Table]:
    """The same tables without the detailed columns; with the strategy only where there are
    several."""
    made = tables(known)
    return [each.only((0, *doc.differing(made, 1), 2, 3, 4)) for each in made]


def _service(found: Outcome) -> doc.Field:
    broken = found.complaints
    more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
    return doc.warning(f"{broken[0]}{more}" if broken else _KEPT, broken)


def _number(name: str) -> doc.Column[Outcome]:
    """A column with the sum of a count over all blocks, or with the worst of their times."""
    heading, _ = COLUMNS[name]
    if name.endswith("_s"):
        return doc.number(heading, lambda each: each.worst(name))
    return doc.number(
        heading, lambda each: f"{each.total(name):.0f}" if each.counts(name) else None
    )


_COLUMNS: Sequence[doc.Column[Outcome]] = (
    doc.Column("Fault", lambda each: doc.cell_link(each.row.cell, each.row.cell.complexity)),
    doc.Column("Strategy", lambda each: each.row.cell.strategy),
    doc.number("Times", lambda each: len(each.measured)),
    doc.Column("Messages", lambda each: doc.warning(each.verdict, each.total("violations"))),
    doc.Column("Service", _service),
    *map(_number, sorted(COLUMNS, key=lambda name: name.endswith("_s"))),
)


VIEW = View(lambda found: faults.outcomes(found.rows), page, sentence, sure, charts, terminal)
