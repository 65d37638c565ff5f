"""The driver of faults: a trial is a load of messages during which one fault is injected. The
load's history is checked against the rules of queues, and the service against its own promises."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from restbench.analyse import faults as promises
from restbench.analyse import queue_checker
from restbench.analyse.faults import Course
from restbench.deploy.database import Database, answering, fresh
from restbench.deploy.service import Service
from restbench.drive import faults, history
from restbench.drive.history import Clients, Record
from restbench.drive.queue_client import NotSent, QueueCalls, RestQueues
from restbench.experiment.cell import Cell
from restbench.experiment.faults import Faults, FaultWork, work_of
from restbench.failures import EnvironmentProblem
from restbench.machine import process, storage
from restbench.schedule import under_load
from restbench.schedule.block_run import BlockOrder, BlockRun, OnceEach, ended_now
from restbench.schedule.deployments import Deployments, RunningService
from restbench.schedule.pace import PlannedTrial
from restbench.store.trials import Trial

#: The size of the small disk: a database cluster has 40 MiB of files, and some WAL.
DISK_MIB = 256
ON_DISK = {"max_wal_size": "64MB", "min_wal_size": "32MB", "shared_buffers": "64MB"}
#: With less free space on the small disk a service refuses sends; far less than on a usual disk.
ROOM = {"RESTBENCH_DATABASE_MIN_FREE_BYTES": str(1 << 20)}
#: The rules of queues that a history alone shows to be violated.
CERTAIN = ("R2", "R3", "R4", "R5")
#: The largest number of violations, and of complaints, that are noted of a trial.
NOTED = 5


@dataclass
class Bench:
    """A database, and the services that use it."""

    database: Database
    deployments: Deployments
    disk: Path | None = None
    """The small disk that holds the database; None: the database is on a usual disk."""


@contextmanager
def opened(wanted: BlockOrder) -> Iterator[FaultsDriver]:
    """The driver of a block: a fresh database, and fresh services on it."""
    table = wanted.order.experiment.table(Faults)
    usual = [cell for cell in wanted.cells if work_of(cell.complexity).fault != "disk-full"]
    folder = wanted.run.program_log(wanted.block, "histories").parent
    with ExitStack() as stack:
        bench = stack.enter_context(_bench(wanted, folder / "database", usual)) if usual else None
        up = bench.deployments if bench else Deployments(wanted.run, wanted.block, wanted.order)
        here = BlockRun(**vars(wanted), deployments=up)
        if bench:
            with answering():
                here.file.fact(here.block, "databases", {"usual": bench.database.described()})
        yield FaultsDriver(here, table, folder, bench)


@contextmanager
def _bench(
    wanted: BlockOrder, folder: Path, cells: Sequence[Cell], disk: Path | None = None
) -> Iterator[Bench]:
    with fresh(Database(folder, overrides=ON_DISK if disk else {})) as database:
        known = {"": database.environment() | (ROOM if disk else {})}
        is_usual = disk is None
        with under_load.services(wanted, None, known, cells, usual_ports=is_usual) as deployments:
            yield Bench(database, deployments, disk)


@dataclass
class FaultsDriver(OnceEach):
    """Faults of one block (Driver)."""

    table: Faults
    folder: Path
    usual: Bench | None
    """The bench of all faults except a full disk, which needs a bench on a small disk."""
    made: int = 0

    def trial(self, planned: PlannedTrial) -> Trial:
        """Take one trial, with one fault."""
        with self._bench_of(planned.cell) as bench:
            if lack := bench.deployments.lacks(planned.cell):
                raise lack
            return self._trial(planned, bench)

    def again(self, cell: Cell, why: str) -> str | None:
        """Restart a database that is down and a service that did not come up after the fault, for a
        second attempt (OnceEach)."""
        if bench := self.usual:
            if not bench.database.alive():
                bench.database.restart()
            if bench.deployments.of(cell) is None:
                bench.deployments.renew(cell)
        return super().again(cell, why)

    @contextmanager
    def _bench_of(self, cell: Cell) -> Iterator[Bench]:
        if self.usual and work_of(cell.complexity).fault != "disk-full":
            yield self.usual
            return
        with (
            storage.mounted(DISK_MIB) as disk,
            _bench(self.here, disk / "cluster", [cell], disk) as bench,
        ):
            yield bench

    def _trial(self, planned: PlannedTrial, bench: Bench) -> Trial:
        here, cell, work = self.here, planned.cell, work_of(planned.cell.complexity)
        self.made += 1
        name = f"{work.fault}-{here.block}-{self.made}"
        clients = Clients(
            name,
            cell.users,
            [
                (f"{name}-{number}", receiver)
                for number in range(1, self.table.queues + 1)
                for receiver in self.table.receivers
            ],
            self.table.characters,
            work.have_keys,
            self.table.filled,
        )
        service = bench.deployments.running(cell).service
        for queue in dict.fromkeys(queue for queue, _ in clients.addresses):
            QueueCalls(service, cell.strategy).create(queue, self.table.technique)
        record = Record(self.folder / f"{cell.id}-{self.made}.jsonl")
        began_ns, cpu_ms = time.monotonic_ns(), process.cpu_ms(service.pids())
        try:
            course = self._under_load(clients, record, bench, cell, work)
        except EnvironmentProblem:
            # A second attempt must not hide a violation. What is left in the queues is not known.
            found = queue_checker.check(record.requests).findings
            if certain := [each.text for each in found if each.rule in CERTAIN]:
                here.note("wrong", "; ".join(certain[:NOTED]), cell)
            raise
        died = not bench.deployments.running(cell).service.alive()
        here.renew_if_dead(cell, bench.deployments)
        history.drain(clients, self._way(bench, cell), record)
        with answering(), bench.database.connect() as database:
            left = history.left(database, clients)
        record.write(left)
        report = queue_checker.check(record.requests, left)
        extras = promises.extras(course, record.requests, report, record.unconnected)
        extras |= {
            "refused_wrongly": len(record.wrongly_refused),
            "unanswered": len(record.unanswered),
            "died": float(died),
        }
        self._say(cell, report, extras, record)
        took_us = [
            ((each.returned_ns or 0) - each.invoked_ns) / 1000
            for each in record.requests
            if each.outcome == "ok" and each.invoked_ns < course.ended_ns
        ]
        return ended_now(
            planned,
            here.block,
            (course.ended_ns - began_ns) / 1e9,
            took_us,
            errors=sum(each.outcome != "ok" for each in record.requests),
            wrong=report.violations,
            service_cpu_ms=_cpu_ms(service, cpu_ms, bench.deployments.of(cell)),
            extras=extras,
        )

    @answering()
    def _under_load(
        self, clients: Clients, record: Record, bench: Bench, cell: Cell, work: FaultWork
    ) -> Course:
        seed = f"{self.here.order.experiment.seed} {clients.name} {cell.id}"
        waits_s = random.Random(seed).uniform(self.table.earliest_s, self.table.latest_s)  # noqa: S311

        def restart_service(down_s: float) -> None:
            bench.deployments.running(cell).service.stop(signal.SIGKILL)
            time.sleep(down_s)
            bench.deployments.renew(cell)
            bench.deployments.running(cell)  # raises the reason why there is no fresh one

        with history.running(clients, lambda: self._way(bench, cell), record):
            time.sleep(waits_s)
            lasts_s = self.table.lasts_s(work.fault)
            broken = faults.inflict(
                work.fault, bench.database, lasts_s, restart_service, bench.disk
            )
            time.sleep(self.table.after_s)
            return Course(*broken, time.monotonic_ns(), holds_answers=work.fault == "pause")

    def _way(self, bench: Bench, cell: Cell) -> RestQueues:
        def place() -> tuple[str, int]:
            running = bench.deployments.of(cell)
            if running is None:  # between its end and its restart
                raise NotSent
            return running.service.address

        return RestQueues(place, cell.strategy)

    def _say(
        self,
        cell: Cell,
        report: queue_checker.Report,
        extras: Mapping[str, float],
        record: Record,
    ) -> None:
        here = self.here
        for each in report.findings[:NOTED]:
            here.note("violation", f"{each.text} ({record.path.name})", cell)
        broken = promises.complaints(extras)
        for text in broken[:NOTED]:
            here.note("misbehaved", text, cell)
        verdict = promises.verdict(extras)
        also = f"; {'; '.join(broken)}" if broken else ""
        here.view.note(
            f"      {cell.id}  {report.sends} sends, {report.pops} pops: {verdict}{also}"
        )


def _cpu_ms(service: Service, before_ms: float, now: RunningService | None) -> float | None:
    """The CPU time of a service since `before_ms`, in milliseconds; None where another service, or
    none, is in its place by now."""
    is_same = now is not None and now.service is service
    return process.cpu_ms(service.pids()) - before_ms if is_same else None
