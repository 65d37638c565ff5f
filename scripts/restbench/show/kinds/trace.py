"""The results of traces, in words and as tables: the same on the page and in a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress
from typing import TypeAlias

from restbench.analyse import trace
from restbench.analyse.measures import Row
from restbench.experiment.cell import Cell, users_text
from restbench.experiment.columns import readable
from restbench.experiment.trace import Trace
from restbench.failures import counted
from restbench.judge import traces
from restbench.judge.traces import TraceDecision
from restbench.show import document as doc
from restbench.show import wording
from restbench.show.charts import trace as courses
from restbench.show.charts.theme import Chart
from restbench.show.findings import Findings, View
from restbench.show.parts.claims import TONES
from restbench.store.traces import CountEntry, FaultEntry, StallEntry, SteadyEntry, TraceEntry

_MOST_STALLS = 50
HOW_TO_READ = (
    f"Steady: the means of {trace.PART_S} s vary by {100 * trace.MOST_CV:.0f} % at most "
    "(coefficient of variation), and the 95 % interval of the last third over the first "
    f"(means of {trace.BATCH_S} s) lies within {100 * trace.MOST_DRIFT:.0f} %. Drifting: the "
    "interval lies outside. Too imprecise: neither, so that a longer trace is needed. "
    "Oscillating: the means vary by more. A stall is a second with less than "
    f"{100 * trace.STALLED:.0f} % of the median throughput. Where each user takes as many "
    "messages as it sends, the number of rows stays the same. Such a table counts as growing if "
    f"its size in the last third is over {trace.MOST_GROWTH} times that in the second third."
)
#: A cell with its trace.
_Known: TypeAlias = tuple[Row, TraceEntry]
_Column: TypeAlias = doc.Column[_Known]


def known(found: Findings) -> list[_Known]:
    """The newest trace of each cell without a wrong answer, in the order of the rows."""
    right = {(row.cell.id, each.block) for row in found.rows for each in row.valid_blocks}
    traces = [each for each in found.run.traces if (each.cell, each.block) in right]
    by_cell = {each.cell: each for each in sorted(traces, key=lambda each: each.block)}
    return [(row, by_cell[row.cell.id]) for row in found.rows if row.cell.id in by_cell]


def sentence(found: Findings) -> str:
    """The verdicts on throughput and response time of a trace, its stalls, and its table. For
    several traces it has the verdicts and stalls only, with the controls last."""
    every = known(found)
    if len(every) == 1:
        ((row, only),) = every
        return _sentence(row, only, *_short_names(every))
    kinds = [
        [each for each in every if (each[1].fault is None) is plain] for plain in (True, False)
    ]
    return " ".join(
        _in_short(each, name)
        for kind in kinds
        for (_, each), name in zip(kind, _short_names(kind), strict=True)
    )


def _sentence(row: Row, found: TraceEntry, name: str) -> str:
    """The sentence on a single trace. For a control (a trace with a fault) it says whether the
    fault was seen, and not whether the trace was steady."""
    if found.fault is not None:
        fault, dead = found.fault, found.fault.dead_rows
        rows = f", with up to {dead:.0f} dead rows" if dead else ""
        when = f", {fault.begin_s:.0f} to {fault.end_s:.0f} s of {found.seconds},"
        return f"{_fault(fault, f'{name}{when}')}{rows}."
    mean_ms = row.value("mean_ms")
    mean = "" if mean_ms is None else f", {readable(mean_ms)} ms on average,"
    return (
        f"Throughput of {name} was {_verdict(found.throughput, f' over {_span(found)}')}. "
        f"Response time{mean} was {_verdict(found.response)}. {_stalls(found)}{_table(found)}."
    )


def _in_short(found: TraceEntry, name: str) -> str:
    if found.fault is not None:
        return f"{_fault(found.fault, name)}."
    throughput, response = (
        "not judged" if each is None else _said(each) for each in (found.throughput, found.response)
    )
    stalls = _stalls(found)
    return (
        f"{name} over {_span(found)}: throughput {throughput}, response time {response}, "
        f"{stalls[0].lower()}{stalls[1:]}."
    )


def _span(found: TraceEntry) -> str:
    minutes, seconds = divmod(found.seconds, 60)
    return f"{found.seconds} s" if seconds or minutes < 2 else f"{minutes} minutes"


def _verdict(found: SteadyEntry | None, over: str = "") -> str:
    if found is None:
        return f"not judged{over}: too short, or a third without answers"
    said = _said(found)
    if said == "drifting":
        return f"drifting{over}: last third over first {_ratio(found)}"
    return f"{said}{over}: means of {trace.PART_S} s varied by {100 * found.cv:.1f} %"


def _stalls(found: TraceEntry) -> str:
    count, unexplained = len(found.stalls), sum(not each.because for each in found.stalls)
    if not count:
        return "No second stalled"
    return f"{counted(count, 'second')} stalled, {unexplained} unexplained"


def _table(found: TraceEntry) -> str:
    """How the table of messages changed; empty where there is none."""
    if found.growth is not None:
        went = "grew" if found.growth > trace.MOST_GROWTH else "kept its size"
        percent = round(100 * found.growth - 100)
        return f"; the table of messages {went} ({percent:+d} % in the last third)"
    if found.rows is not None:
        return f"; the table of messages went from {found.rows[0]:.0f} to {found.rows[1]:.0f} rows"
    return ""


def _said(found: SteadyEntry) -> str:
    """The verdict that follows from the numbers; an older file may store another one."""
    verdict = trace.verdict(found.cv, found.low, found.high)
    return traces.imprecise([found]) if verdict == "too-imprecise" else verdict


def _ratio(found: SteadyEntry) -> str:
    ends = f" [{found.low:.3f}, {found.high:.3f}]" if found.low and found.high else ""
    return f"{found.last_over_first:.3f}{ends}"


def _fault(fault: FaultEntry, name: str) -> str:
    seen = fault.during_per_s < trace.FAULT_SEEN * fault.before_per_s
    return (
        f"The control {fault.kind} of {name} is {'seen' if seen else 'NOT seen'}: "
        f"{readable(fault.before_per_s)} requests/s before it, {readable(fault.during_per_s)} in "
        "the last half of it"
    )


def name_of(cell: Cell, found: TraceEntry) -> str:
    """Such as `Java worker-pool, function, 50 threads, 200, 60 users at 600 requests/s`."""
    return ", ".join(filter(None, _levels(cell, found)))


def _levels(cell: Cell, found: TraceEntry) -> tuple[str, ...]:
    """The levels that name a trace, strategy first and users last; an unused one is empty."""
    rate = f" at {found.rate_per_s:g} requests/s" if found.rate_per_s else ""
    return (
        wording.strategy_name(cell),
        "" if cell.technique == "none" else cell.technique,
        counted(cell.pool_threads, "thread") if cell.pool_threads else "",
        counted(cell.connections, "connection") if cell.connections else "",
        f"{cell.instances} instances" if cell.instances > 1 else "",
        cell.postgres,
        cell.settings,
        cell.complexity,
        f"{users_text(cell.users)}{rate}",
    )


def _short_names(every: Sequence[_Known]) -> list[str]:
    """Such as `Java worker-pool (60 users at 600 requests/s)`; of the other levels only those in
    which the traces differ."""
    levels = [_levels(row.cell, each) for row, each in every]
    telling = [len(set(of)) > 1 for of in zip(*levels, strict=True)]
    # The users are named in any case, and the strategy stands before the brackets.
    told = ([*compress(of[1:-1], telling[1:-1]), of[-1]] for of in levels)
    return [
        f"{of[0]} ({', '.join(filter(None, said))})" for of, said in zip(levels, told, strict=True)
    ]


def terminal(found: Findings) -> list[doc.Table]:
    """The traces, then what they say of the claims."""
    shown = [_summary(found).only((0, 2, 3, 4, 6, 7, 8, 10)), claims(found)]
    return [each for each in shown if each.rows]


def _summary(found: Findings) -> doc.Table:
    return doc.table("Traces", _COLUMNS, known(found))


def page(found: Findings, _its: Findings) -> doc.Section | None:
    """Verdicts, courses with what happened, and what the database said; None without a trace."""
    every = known(found)
    if not every:
        return None
    return doc.section(
        "traces",
        "How did it go over time?",
        claims(found),
        *found.figures("trace"),
        _summary(found),
        HOW_TO_READ,
        *(
            doc.section(
                f"trace-{n}",
                f"What happened: {name_of(row.cell, each)}",
                *tables(each),
                folded=True,
            )
            for n, (row, each) in enumerate(every, start=1)
        ),
    )


def charts(found: Findings) -> list[Chart]:
    """A chart per trace."""
    return [
        courses.chart(f"trace-{row.cell.id}", name_of(row.cell, each), each)
        for row, each in known(found)
    ]


def _steady(heading: str, of: Callable[[TraceEntry], SteadyEntry | None]) -> list[_Column]:
    """The columns with the verdict on a metric and the numbers that it follows from."""

    def verdict(each: _Known) -> doc.Field:
        said = _said(found) if (found := of(each[1])) else "none"
        tones = {"steady": doc.GOOD, "none": ""}
        return doc.Field(said, tones.get(said, doc.WARNING))

    return [
        doc.Column(heading, verdict),
        doc.number("Variation %", lambda e: f"{100 * found.cv:.1f}" if (found := of(e[1])) else ""),
        doc.number("Last/first [95 %]", lambda e: _ratio(found) if (found := of(e[1])) else ""),
    ]


_COLUMNS: Sequence[_Column] = (
    doc.Column("Trace", lambda of: doc.cell_link(of[0].cell, name_of(of[0].cell, of[1]))),
    doc.number("Seconds", lambda of: of[1].seconds),
    doc.number("Requests/s", lambda of: of[0].value("throughput_per_s")),
    *_steady("Throughput", lambda trace: trace.throughput),
    doc.number("Mean ms", lambda of: of[0].value("mean_ms")),
    *_steady("Response time", lambda trace: trace.response),
    doc.number("Stalls", lambda of: len(of[1].stalls)),
    doc.number("Table last/second third", lambda of: of[1].growth),
    doc.number(
        "Errors", lambda of: ", ".join(f"{code}: {n}" for code, n in of[1].errors.items()) or "0"
    ),
)


def claims(found: Findings) -> doc.Table:
    """What the traces say about the claims of their experiment, a line per claim."""
    every = {row.cell.id: each for row, each in known(found)}
    cells = [row.cell for row in found.rows]
    said = traces.claims(found.definition.table(Trace), every, cells)
    columns: list[doc.Column[TraceDecision]] = [
        doc.Column("Claim", lambda each: each.claim.id),
        doc.Column("What it says", lambda each: each.claim.text),
        doc.Column("Expected", lambda each: each.claim.expect),
        doc.Column("Here", lambda each: each.found),
        doc.Column("Verdict", lambda each: doc.Field(each.verdict, TONES[each.verdict])),
    ]
    return doc.table("Claims on the traces", columns, said)


def tables(found: TraceEntry) -> list[doc.Table]:
    """What happened, errors, the stalls, what backends waited for, and the table at the end."""
    bloat = {f"pgstattuple {name}": of for name, of in found.bloat.items()}
    waits, counted = found.waits.items(), (found.totals | bloat).items()
    return [
        doc.table("What happened", _COUNTS, found.counts),
        doc.table("Errors by code", _CODES, [(found, *each) for each in found.errors.items()]),
        doc.table("Stalls", _STALLS, found.stalls[:_MOST_STALLS]),
        doc.listed("Backends at work, by what they wait for", ("Event", "Mean"), waits, texts=1),
        doc.listed(
            "What the database counted", ("What", "Growth, or final value"), counted, texts=1
        ),
    ]


_COUNTS: Sequence[doc.Column[CountEntry]] = (
    doc.Column("What", lambda each: each.kind),
    doc.number("Times", lambda each: each.count),
    doc.number("Seconds", lambda each: each.seconds),
    doc.number("Longest s", lambda each: each.longest_s),
)
_CODES: Sequence[doc.Column[tuple[TraceEntry, str, int]]] = (
    doc.Column("Code", lambda of: of[1]),
    doc.number("Times", lambda of: of[2]),
    doc.number("Per second", lambda of: of[2] / of[0].seconds),
    doc.number("Most per second", lambda of: of[0].most_errors_per_s.get(of[1])),
)
_STALLS: Sequence[doc.Column[StallEntry]] = (
    doc.number("Second", lambda each: each.second),
    doc.number("Requests/s", lambda each: each.per_s),
    doc.Column("What happened in it", lambda each: ", ".join(each.because) or "unexplained"),
)


VIEW = View(
    lambda found: found,
    page,
    sentence,
    lambda _found: "Each trace was recorded once: what another hour would show is not known.",
    charts,
    terminal,
)
