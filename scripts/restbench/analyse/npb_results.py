"""What came of an NPB run, from its records alone: each cell with its times, round by round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from restbench.analyse import flags
from restbench.analyse.comparison import Series
from restbench.analyse.warnings import FOREIGN_LIMIT_PCT
from restbench.experiment.cell import Cell
from restbench.experiment.npb_work import Work, work_of
from restbench.experiment.records import PlannedCell
from restbench.experiment.statistics import Interval, t_interval
from restbench.failures import Unreadable
from restbench.store.npb_records import KernelRun, NpbRun, ServedRun
from restbench.store.store import Run, read_model


@dataclass(frozen=True)
class Column:
    """A number of one measurement."""

    heading: str
    meaning: str
    value: Callable[[NpbRun], float | None]


def _warm(of: Callable[[KernelRun], float]) -> Callable[[NpbRun], float | None]:
    """The median over the last runs of the process, never of its first."""
    return lambda run: _median([of(each) for each in run.direct[1:][-run.kept :]])


def _served(of: Callable[[ServedRun], float]) -> Callable[[NpbRun], float | None]:
    """The median over the last calls of the service."""
    return lambda run: _median([of(each) for each in run.served[-run.kept :]])


def _median(values: Sequence[float]) -> float | None:
    return median(values) if values else None


def _fresh(run: NpbRun) -> float | None:
    return run.direct[0].kernel_seconds if run.direct else None


COLUMNS: dict[str, Column] = {
    "fresh_s": Column("Fresh s", "the kernel's own time in a process that has just begun", _fresh),
    "warm_s": Column(
        "Warm s",
        "the same in that process, after as many runs as the service had calls",
        _warm(lambda each: each.kernel_seconds),
    ),
    "service_s": Column(
        "In service s",
        "the kernel's own time in the warm service",
        _served(lambda each: each.answer.kernel_seconds),
    ),
    "client_s": Column(
        "At client s",
        "the response time of the call, with the generation of the input",
        _served(lambda each: each.client_seconds),
    ),
    "warm_total_s": Column(
        "Warm total s",
        "the process' time with the generation of the input, to hold the client's against",
        _warm(lambda each: each.total_seconds),
    ),
    "service_total_s": Column(
        "Service total s",
        "the service's own time with the generation of the input",
        _served(lambda each: each.answer.total_seconds),
    ),
    "overhead_ms": Column(
        "Call ms",
        "what the call cost beside the kernel and its input: client less service total",
        _served(lambda each: 1000 * each.overhead_seconds),
    ),
    "mops": Column(
        "Mop/s",
        "millions of operations per second in the service, as NPB counts them",
        _served(lambda each: each.answer.mops),
    ),
    "fresh_mops": Column(
        "Fresh Mop/s",
        "the same in the fresh process",
        lambda run: run.direct[0].mops if run.direct else None,
    ),
}


@dataclass(frozen=True)
class NpbRow:
    """One cell with all its rounds."""

    cell: Cell
    rounds: tuple[NpbRun, ...]

    @property
    def work(self) -> Work:
        """What it computes."""
        return work_of(self.cell.complexity)

    @property
    def flags(self) -> tuple[str, ...]:
        """What to know before believing it (`flags.explain`), each once."""
        if not self.rounds:
            return ("not-measured",)
        noted = [flag for each in self.rounds for flag in each.flags]
        noted += ["failed" for each in self.rounds if each.status == "failed"]
        loads = [each.before.foreign_pct for each in self.rounds if each.before]
        noted += ["foreign-load-before" for each in loads if each > FOREIGN_LIMIT_PCT]
        return tuple(dict.fromkeys(noted))

    @property
    def verified(self) -> str:
        """What is to be said of its answers: one that was not verified voids all."""
        if "wrong-answers" in self.flags:
            return "NO"
        if any(each.status == "measured" for each in self.rounds):
            return "yes"
        return self.rounds[0].status if self.rounds else "not measured"

    def series(self, column: str) -> Series:
        """A column's values by round; none where an answer was not verified."""
        if not self.rounds:
            return Series(lack=f"{self.cell.id} was not measured in this run")
        if "wrong-answers" in self.flags:
            return Series(lack=f"{self.cell.id} was not verified", void=True)
        values = {
            each.block: COLUMNS[column].value(each)
            for each in self.rounds
            if each.status == "measured"
        }
        known = {block: value for block, value in values.items() if value is not None}
        return Series(known) if known else Series(lack=f"{self.cell.id} has no {column}")

    def median(self, column: str) -> float | None:
        """Of a column over the rounds; None where there is none."""
        return _median(list(self.series(column).values.values()))

    def interval(self, column: str) -> Interval | None:
        """The t interval of the mean over the rounds, where there are two or more."""
        values = list(self.series(column).values.values())
        return t_interval(values) if len(values) > 1 else None


def results(run: Run) -> list[NpbRow]:
    """Every cell of the plan, by service, technique, kernel and class; without rounds where the run
    ended before it."""
    found: dict[Cell, list[NpbRun]] = {}
    for planned in run.manifest().plan:
        rounds = found.setdefault(planned.cell, [])
        if run.cell(planned.block, planned.cell.id).npb_record.exists():
            rounds.append(_record(run, planned))
    rows = [NpbRow(cell, tuple(rounds)) for cell, rounds in found.items()]
    return sorted(rows, key=lambda row: (row.cell.service, row.cell.strategy, row.work.rank))


def failures(rows: Sequence[NpbRow]) -> list[str]:
    """Each measurement without a result, with the first line of the reason."""
    return [
        f"{row.cell.id}, round {each.block}: {each.status}: {each.reason.partition(chr(10))[0]}"
        for row in rows
        for each in row.rounds
        if each.reason
    ]


def meanings(rows: Sequence[NpbRow]) -> dict[str, str]:
    """The flags of these rows, each with its sentence."""
    return {flag: flags.explain(flag) for row in rows for flag in row.flags}


def _record(run: Run, planned: PlannedCell) -> NpbRun:
    """What cannot be read is no result, and keeps no other measurement from its own."""
    try:
        return read_model(run.cell(planned.block, planned.cell.id).npb_record, NpbRun)
    except Unreadable as error:
        return NpbRun(
            cell=planned.cell,
            block=planned.block,
            order=planned.order,
            status="failed",
            reason=str(error),
            kept=1,
            flags=("unreadable",),
        )
