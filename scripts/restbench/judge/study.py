"""The study's tables: which rows each table has, and the texts printed with them (Markdown,
terminal, page)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from restbench.analyse.measures import COUNTS, Row
from restbench.analyse.warnings import explain
from restbench.experiment.cell import Cell
from restbench.experiment.columns import readable
from restbench.experiment.records import Proof
from restbench.experiment.statistics import FEWEST_BLOCKS
from restbench.grouping import grouped

#: The metrics that a table of the study shows; the full results matrix has all of them.
STUDY_COLUMNS = (
    "throughput_per_s",
    "mean_ms",
    "p50_ms",
    "p90_ms",
    "p95_ms",
    "p99_ms",
    "cpu_ms_per_request",
    "service_cpu_pct",
    "load_cpu_pct",
    "machine_cpu_pct",
    "memory_mib",
)
_TIMES = "\N{MULTIPLICATION SIGN}"
_VERDICTS = {True: "DOES", False: "DOES NOT", None: "NOT PROVEN"}


def tables(rows: Sequence[Row]) -> dict[str, list[tuple[str, Row]]]:
    """The rows as the study groups them (T-A, T-B, ...), by the title of their table, each with the
    test id under which it stands there.

    A cell with two test ids stands in two tables: measured once, reported twice.
    """
    tests = ((test_id, row) for row in rows for test_id in row.test_ids)
    groups = grouped(tests, lambda each: re.sub(r"\d+$", "", each[0]))
    return {
        _title(name, group): sorted(group, key=lambda entry: entry[0])
        for name, group in sorted(groups.items())
    }


def _title(name: str, group: list[tuple[str, Row]]) -> str:
    sizes = {row.cell.complexity: row.shape for _, row in group}
    ((complexity, shape), *others) = sizes.items()
    if others or shape is None:
        return f"{name}: {', '.join(sizes)}"
    operands = (f"{shape.rows}{_TIMES}{shape.inner}", f"{shape.inner}{_TIMES}{shape.columns}")
    return f"{name}: {complexity} ({' · '.join(operands)})"


def technique(cell: Cell) -> str:
    """The technique's name for people: `S serial`, `PR process-per-request @core0`."""
    parts = [cell.strategy] if cell.key == cell.strategy else [cell.key, cell.strategy]
    parts += [f"@{cell.placement}"] if cell.placement != "unbound" else []
    parts += [f"+{level}" for level in cell.unusual]
    return " ".join(parts)


def shown(row: Row, metric: str) -> str:
    """A value for people, with its half-width where there are several blocks."""
    value = row.value(metric)
    if value is None:
        return ""
    text = readable(value)
    known = row.interval(metric) if metric not in COUNTS else None
    if known is None:
        return text
    decimals = len(text.partition(".")[2])
    rounded = f"{known.half_width:.{decimals}f}"
    # Where it would round to 0, it has one more decimal than the value.
    return f"{text} ± {rounded if float(rounded) else f'{known.half_width:.{decimals + 1}f}'}"


def verdict(proof: Proof) -> str:
    """DOES, DOES NOT or NOT PROVEN."""
    return _VERDICTS[proof.does]


def failures(rows: Iterable[Row]) -> list[str]:
    """Each block without a result, with the first line of the reason: the rest is in its record."""
    return [
        f"{row.cell.id}, block {each.block}: {each.reason.partition(chr(10))[0]}"
        for row in rows
        for each in row.measurements
        if each.reason and "failed" in each.flags
    ]


def not_measured(rows: Iterable[Row]) -> list[str]:
    """Each cell for which there was no time, with what it needs."""
    reasons = {
        row.cell.id: each.reason
        for row in rows
        for each in row.measurements
        if each.reason and "not-measured" in each.flags and not row.measured
    }
    return [f"{cell}: {reason}" for cell, reason in reasons.items()]


def blocks_line(planned: int, rows: Sequence[Row]) -> str:
    """How many blocks there are, and what that means for intervals. `planned` counts those, too,
    that only undecided claims would ask for."""
    measured = max((len(row.measured) for row in rows), default=0)
    of_planned = f" of at most {planned}" if measured < planned else ""
    if measured >= FEWEST_BLOCKS:
        return (
            f"{measured}{of_planned}; ± is the 95 % t interval over these blocks. All are from "
            "one run: at other times results may differ by more"
        )
    if measured == 0:
        return f"none{of_planned}: nothing was measured"
    return (
        f"{'one' if measured == 1 else 'two'}{of_planned}: an interval needs three blocks, so a "
        "difference between two cells applies only to this run"
    )


def warnings_and_notes(row: Row) -> dict[str, str]:
    """A row's warnings and notes for people: `steal ≤ 3.2 %`, a note as `retried 2/5` where two of
    five blocks have it."""
    blocks = len(row.measurements)
    counts = {flag: row.blocks_with(flag) for flag in row.flags}
    notes = {
        flag: flag if count in (0, blocks) else f"{flag} {count}/{blocks}"
        for flag, count in counts.items()
    }
    return notes | {each.kind: str(each) for each in row.warnings}


def flag_meanings(rows: Iterable[Row]) -> dict[str, str]:
    """The warnings and notes of these rows, each with its sentence."""
    seen = dict.fromkeys(kind for row in rows for kind in warnings_and_notes(row))
    return {kind: explain(kind) for kind in seen}
