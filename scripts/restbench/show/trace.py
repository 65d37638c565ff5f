"""What a trace came to, in words and as tables: the same on the page and in a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from restbench.analyse import trace
from restbench.analyse.measures import Row
from restbench.experiment.cell import Cell
from restbench.experiment.columns import readable
from restbench.experiment.experiment import Experiment
from restbench.judge import study, traces
from restbench.show.document import BAD, DOUBT, GOOD, SOFT, Field, Link, Table, table
from restbench.store.exported import Exported
from restbench.store.traces import FaultEntry, SteadyEntry, TraceEntry

_HEAD = (
    *("Trace", "Seconds", "Requests/s", "Throughput", "CV %", "Last/first [95 %]"),
    *("Mean ms", "Response time", "CV %", "Last/first [95 %]"),
    *("Stalls", "Table last/second third", "Errors"),
)
#: Those of a terminal.
NARROW = (0, 2, 3, 4, 6, 7, 8, 10)
_TONES = {"reproduced": GOOD, "contradicted": BAD, "too-imprecise": DOUBT, "not-measured": SOFT}
_MOST_STALLS = 50
HOW_TO_READ = (
    f"Steady: the means of {trace.PART_S} s have a coefficient of variation of "
    f"{100 * trace.MOST_CV:.0f} % at most, and the 95 % interval of the last third over the first "
    f"(means of {trace.BATCH_S} s) lies within {100 * trace.MOST_DRIFT:.0f} %. Drifting: it lies "
    "outside; too imprecise: neither, so that a longer trace is needed. Oscillating: the "
    "coefficient is larger. A stall is a second with less than "
    f"{100 * trace.STALLED:.0f} % of the median throughput. A load in which each user takes what "
    "it sends keeps its rows: the table grows if its last third is over "
    f"{trace.MOST_GROWTH} times its second."
)


def known(run: Exported, rows: Sequence[Row]) -> dict[str, TraceEntry]:
    """The newest trace of each cell, by its id, in the order of the rows."""
    by_cell = {each.cell: each for each in sorted(run.traces, key=lambda each: each.block)}
    return {row.cell.id: by_cell[row.cell.id] for row in rows if row.cell.id in by_cell}


def sentence(run: Exported, rows: Sequence[Row]) -> str:
    """`java worker-pool, 200, 60 users at 600/s: 1800 s, throughput steady (CV 3.1 %, …`"""
    cells = {row.cell.id: row.cell for row in rows}
    return " ".join(_sentence(cells[name], each) for name, each in known(run, rows).items())


def _sentence(cell: Cell, found: TraceEntry) -> str:
    """Of a control what it shows: that it goes on as it began is not asked."""
    if found.fault is not None:
        return f"{name_of(cell, found)}: in {found.seconds} s {_fault(found.fault)}."
    parts = [
        f"{name} {_verdict(each)}"
        for name, each in (("throughput", found.throughput), ("response time", found.response))
    ]
    unexplained = sum(not each.because for each in found.stalls)
    stalls = "no stall" if len(found.stalls) == 0 else _count(len(found.stalls), "stall")
    parts.append(f"{stalls}, {unexplained} unexplained" if found.stalls else stalls)
    if found.growth is not None:
        grew = "grew" if found.growth > trace.MOST_GROWTH else "did not grow"
        parts.append(f"the table {grew} (last third over second {found.growth:.2f})")
    elif found.rows is not None:
        parts.append(f"rows went from {found.rows[0]:.0f} to {found.rows[1]:.0f}")
    return f"{name_of(cell, found)}: in {found.seconds} s {'; '.join(parts)}."


def _verdict(found: SteadyEntry | None) -> str:
    if found is None:
        return "has no verdict: too short, or a third without answers"
    return f"{_said(found)} (CV {100 * found.cv:.1f} %, last third over first {_ratio(found)})"


def _said(found: SteadyEntry) -> str:
    """The verdict of its numbers: a file of old may have another."""
    verdict = trace.verdict(found.cv, found.low, found.high)
    return traces.imprecise([found]) if verdict == "too-imprecise" else verdict


def _ratio(found: SteadyEntry) -> str:
    ends = f" [{found.low:.3f}, {found.high:.3f}]" if found.low and found.high else ""
    return f"{found.last_over_first:.3f}{ends}"


def _fault(fault: FaultEntry) -> str:
    seen = fault.during_per_s < trace.FAULT_SEEN * fault.before_per_s
    dead = f", with up to {fault.dead_rows:.0f} dead rows" if fault.dead_rows else ""
    return (
        f"the control {fault.kind} ({fault.begin_s:.0f} to {fault.end_s:.0f} s) is "
        f"{'seen' if seen else 'NOT seen'}: {readable(fault.before_per_s)}/s before it, "
        f"{readable(fault.during_per_s)}/s in its last half{dead}"
    )


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def name_of(cell: Cell, found: TraceEntry) -> str:
    """Such as `java worker-pool +function, 200, 60 users at 600/s`."""
    rate = f" at {found.rate_per_s:g}/s" if found.rate_per_s else ""
    users = _count(cell.users, "user")
    return f"{cell.service} {study.technique(cell)}, {cell.complexity}, {users}{rate}"


def summary(found: Mapping[str, TraceEntry], rows: Sequence[Row]) -> Table:
    """A line a trace."""
    cells = {row.cell.id: row for row in rows}
    lines = [_line(cells[name], each) for name, each in found.items()]
    return table("Traces", _HEAD, lines, " nn nnn nnnnn")


def _line(row: Row, found: TraceEntry) -> tuple[Field | str, ...]:
    return (
        Field(Link(name_of(row.cell, found), f"#cell-{row.cell.id}")),
        str(found.seconds),
        readable(row.value("throughput_per_s")),
        *_columns(found.throughput),
        readable(row.value("mean_ms")),
        *_columns(found.response),
        str(len(found.stalls)),
        readable(found.growth),
        ", ".join(f"{code}: {count}" for code, count in found.errors.items()) or "0",
    )


def _columns(found: SteadyEntry | None) -> tuple[Field | str, ...]:
    if found is None:
        return "none", "", ""
    said = _said(found)
    tone = GOOD if said == "steady" else DOUBT
    return Field(said, tone), f"{100 * found.cv:.1f}", _ratio(found)


def claims(definition: Experiment, run: Exported, rows: Sequence[Row]) -> Table | None:
    """What the traces say of the claims of their experiment, a line each; None without any."""
    if definition.trace is None:
        return None
    found = traces.claims(definition.trace, known(run, rows), [row.cell for row in rows])
    lines = [
        (
            each.claim.id,
            each.claim.text,
            each.claim.expect,
            each.found,
            Field(each.verdict, _TONES[each.verdict]),
        )
        for each in found
    ]
    head = ("Claim", "What it says", "Expected", "Here", "Verdict")
    return table("Claims of the course", head, lines) if lines else None


def tables(found: TraceEntry) -> list[Table]:
    """What happened, the stalls, what backends waited for, and the table at the end."""
    numbers = [(name, readable(value)) for name, value in found.totals.items()]
    numbers += [(f"pgstattuple {name}", readable(value)) for name, value in found.bloat.items()]
    stalls = [
        (str(each.second), readable(each.per_s), ", ".join(each.because) or "unexplained")
        for each in found.stalls[:_MOST_STALLS]
    ]
    happened = [
        (each.kind, str(each.count), readable(each.seconds), readable(each.longest_s))
        for each in found.counts
    ]
    waits = [(event, readable(count)) for event, count in found.waits.items()]
    made = (
        ("What happened", ("What", "Times", "Seconds", "Longest s"), happened, " nnn"),
        ("Stalls", ("Second", "Requests/s", "What happened in it"), stalls, "nn "),
        ("Backends at work, by what they wait for", ("Event", "Mean"), waits, " n"),
        ("What the database counted", ("What", "By how much, or at the end"), numbers, " n"),
    )
    return [table(caption, head, lines, kinds) for caption, head, lines, kinds in made if lines]
