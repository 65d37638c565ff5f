"""Rows of messages (`schedule.messages`): how near a service comes to what its database can do,
where the time of a request goes, and how many threads are enough. Pure functions on rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from restbench.analyse.comparison import (
    MARGIN,
    Comparison,
    best_cell,
    over,
    paired,
    series,
    usable,
)
from restbench.analyse.measures import Row, alike
from restbench.experiment.cell import Cell, ServiceName, Technique

KINDS = ("send", "pop")
#: The stages of a request's time. The service's stage `compute` is replaced by `connection`,
#: `database` and `rest`, the part of it that is in neither of the two.
STAGES = ("network", "queue", "parse", "connection", "database", "rest", "serialize")
#: Further resources that the database's processes used, by the name of a trial's extra: a heading,
#: and its meaning. Older runs have none of them.
DATABASE = {
    "database_memory_mib": (
        "Database MiB",
        "Proportional set size of the database's processes at the end of a trial: memory that they "
        "share, such as the shared buffers, counts once.",
    ),
    "database_read_kib_per_request": (
        "Read KiB",
        "What the database's processes read from files per operation, by system calls; reads from "
        "a cache count too.",
    ),
    "database_written_kib_per_request": (
        "Written KiB",
        "What the database's processes wrote to files per operation, likewise: log, tables, "
        "indexes.",
    ),
    "database_wal_kib_per_request": ("WAL KiB", "Growth of the write-ahead log per operation."),
}


@dataclass(frozen=True)
class TimeBreakdown:
    """Where the time of one kind of request goes."""

    row: Row
    kind: str
    whole_ms: float
    """Mean latency."""
    parts_ms: dict[str, float]
    """By stage; they add up to the whole."""

    def share(self, stage: str) -> float:
        """A stage's share of the whole, 0 to 1."""
        return self.parts_ms[stage] / self.whole_ms


@dataclass(frozen=True)
class Pool:
    """Cells that differ in their number of threads alone; `cell` has the rest."""

    cell: Cell
    best: Row
    enough: Row
    """The row of the fewest threads whose throughput is at most MARGIN below the best one's."""
    comparison: Comparison
    """The throughput of `enough` over that of `best`."""


def is_message(row: Row) -> bool:
    """Whether the row's requests send and pop messages."""
    return row.cell.technique != "none"


def share_of_limit(row: Row) -> Comparison:
    """The row's throughput over that of pgbench with the same statements, block by block."""
    return paired(series(row, "throughput_per_s"), series(row, "pgbench_per_s"))


def database_cost(row: Row, *, at_rate: bool = False) -> Comparison:
    """The database's CPU time per operation over that under pgbench, or (`at_rate`) under pgbench
    limited to the cell's own rate."""
    there = "pgbench_at_rate_database_cpu_ms" if at_rate else "pgbench_database_cpu_ms"
    return paired(series(row, "database_cpu_ms_per_request"), series(row, there))


def limits_over(rows: Iterable[Row], usual: Technique) -> dict[Cell, Comparison]:
    """By cell: pgbench's throughput with the cell's technique over that with the `usual` one, under
    the same messages and number of connections. Cells that lack either are left out."""
    known = [row for row in rows if row.value("pgbench_per_s")]
    usuals = {_load(row.cell): row for row in known if row.cell.technique == usual}
    return {
        row.cell: over(usuals[_load(row.cell)], "", "pgbench_per_s", row)
        for row in known
        if row.cell.technique != usual and _load(row.cell) in usuals
    }


def _load(cell: Cell) -> tuple[str, int, str]:
    return cell.complexity, cell.users, cell.postgres


def of_one_load(rows: Iterable[Row]) -> dict[ServiceName, list[Row]]:
    """By service: the measured rows, which differ only in technique and strategy; empty where a
    service has several loads. Without `memory`, which has no database."""
    known = [
        row
        for row in rows
        if row.cell.technique not in ("none", "memory") and row.value("throughput_per_s")
    ]
    loads = alike(known, technique="none", strategy="")
    found = {cell.service: group for cell, group in loads.items()}
    return found if len(found) == len(loads) else {}


def known_of_database(rows: Sequence[Row]) -> list[str]:
    """The names in DATABASE of which any row has a value."""
    return [name for name in DATABASE if any(row.value(name) is not None for row in rows)]


def time_breakdowns(rows: Iterable[Row]) -> list[TimeBreakdown]:
    """The pies of the rows with one user: more users also spend time waiting for each other."""
    of_one = [row for row in rows if row.cell.users == 1 and is_message(row)]
    return [pie for row in of_one for kind in KINDS if (pie := _pie(row, kind)) is not None]


def _pie(row: Row, kind: str) -> TimeBreakdown | None:
    whole_ms = row.value(f"{kind}_ms")
    known = {stage: row.value(f"{kind}_{stage}_ms") for stage in STAGES}
    if not whole_ms or known["network"] is None:
        return None
    parts_ms = {stage: max(0.0, value or 0.0) for stage, value in known.items()}
    parts_ms["rest"] = max(0.0, whole_ms - sum(parts_ms.values()))
    return TimeBreakdown(row, kind, whole_ms, parts_ms)


def pools(rows: Sequence[Row]) -> list[Pool]:
    """The pools that have a throughput for several numbers of threads."""
    found = []
    for cell, group in alike(filter(is_message, rows), pool_threads=0).items():
        known = usable((row for row in group if row.cell.pool_threads), "throughput_per_s")
        if len(known) < 2:
            continue
        by_cell = {row.cell: row for row in group}
        best = by_cell[best_cell(known, "throughput_per_s")]
        ranked = [by_cell[each] for each in sorted(known, key=lambda each: each.pool_threads)]
        compared = ((row, over(best, "", "throughput_per_s", row)) for row in ranked)
        enough, comparison = next(
            each for each in compared if (each[1].estimate or 0.0) >= 1 / (1 + MARGIN)
        )
        found.append(Pool(cell, best, enough, comparison))
    return found


def violations(rows: Iterable[Row]) -> list[str]:
    """The rules that were broken, with the cell: the reason of each block with a wrong answer."""
    return [
        f"{row.cell.id}: {each.reason}"
        for row in rows
        for each in row.measurements
        if "wrong-answers" in each.flags
    ]
