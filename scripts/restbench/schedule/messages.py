"""The driver of messages: a closed load on queues that are filled anew before each trial, and loads
by pgbench with the services' statements in between."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import cast

from restbench.deploy.database import Database, answering, fresh
from restbench.drive import messages, monitor, pgbench
from restbench.drive.generator import LoadResult
from restbench.drive.messages import Connection, InDatabase, InProcess
from restbench.drive.queue_client import QueueCalls
from restbench.experiment.cell import Cell, variables
from restbench.experiment.level import Messages
from restbench.failures import EnvironmentProblem, WrongAnswers
from restbench.machine.placement import core_list
from restbench.observe import resources
from restbench.prove import messages as proofs
from restbench.schedule import under_load
from restbench.schedule.block_run import BlockOrder, Driver, LoadRun
from restbench.schedule.closed_load import ClosedDriver
from restbench.schedule.pace import PlannedTrial
from restbench.store.trials import Trial

#: The arm of a load by pgbench, and how many connections it has for each second that it lasts:
#: pgbench counts whole seconds, and a hundred connections need one to plan their statements.
PGBENCH, PGBENCH_CONNECTIONS_A_S = "pgbench", 20
#: The arm of a load by pgbench at a cell's own rate, and its seconds: more, as it sends less.
AT_RATE, AT_RATE_S = "pgbench_at_rate", 3
#: Further seconds of each kind of load by pgbench: to fill the queues, and for a short load that
#: only measures connecting and planning.
OVERHEAD_S, OVERHEAD_AT_RATE_S = 1.5, 2.5
#: From so many minutes on a run has the time to measure how long the disk's fdatasync takes.
ASKS_DISK_FROM_MINUTES = 5


@dataclass
class Store:
    """A database of a block, with the harness' own connections to it and its queues."""

    database: Database
    owner: Connection
    watching: Connection
    """Used by `resources.Meter` only, which queries in a thread of its own."""
    most: int
    """The largest number of queues that a load of the block needs."""
    queues: dict[str, InDatabase] = field(default_factory=dict)
    """By technique; made when they are first used."""

    def of(self, cell: Cell) -> InDatabase:
        """The queues of a cell's technique."""
        if cell.technique not in self.queues:
            made = InDatabase.made(self.owner, cell.technique, self.most)
            self.queues[cell.technique] = made
        return self.queues[cell.technique]


@dataclass
class MessagesRun(LoadRun):
    """A block whose services have queues."""

    stores: Mapping[str, Store] = field(kw_only=True)
    """The databases, by the settings of PostgreSQL that cells name."""
    meter: resources.Meter = field(init=False)

    def level(self, cell: Cell) -> Messages:
        """The messages of a cell, by its level of complexity."""
        return cast(Messages, self.order.experiment.size(cell.complexity, Messages))

    def queues(self, cell: Cell) -> InDatabase | InProcess:
        """The queues of a cell, in a database or in the service's memory."""
        if cell.technique != "memory":
            return self.stores[cell.postgres].of(cell)
        level = self.level(cell)
        return InProcess(self.calls(cell), cell.technique, level.queues)

    def calls(self, cell: Cell) -> QueueCalls:
        """The harness' own requests to the queues of a cell's service."""
        return QueueCalls(self.running(cell).service, cell.strategy)

    def url(self, cell: Cell) -> str:
        """The address of the queues; for several instances without a front one address for each,
        separated by spaces."""
        path = messages.queue_path(cell.strategy, cell.technique)
        service = self.running(cell).service
        each = service.each() if cell.front == "none" else (service,)
        return " ".join(f"{one.base_url}{path}" for one in each)

    @answering()
    def ask(self, cell: Cell) -> None:
        """Send a message and pop it. Raises WrongAnswers where what is popped differs."""
        level, calls = self.level(cell), self.calls(cell)
        self.queues(cell).fill(level.model_copy(update={"filled": 0}), self.order.experiment.seed)
        queue, text = messages.queue_name(cell.technique, 1), "m" * level.characters
        calls.send(queue, text)
        if (found := calls.pop(queue)).get("body") != text:
            raise WrongAnswers(f"pop: not the message that was sent: {str(found)[:200]}")

    @answering()
    def prove(self) -> None:
        """Describe the databases; prove each technique of each service, and the number of
        connections of each strategy that has a pool of them, once in a run. What is not proven is
        reported, and measured all the same (LoadRun)."""
        self.describe()
        known = {(each.service, each.strategy) for each in self.run.proofs()}
        for cell in self.cells:
            for claim in proofs.of(cell):
                if (cell.service, claim.name) in known or self.deployments.lacks(cell):
                    continue
                known.add((cell.service, claim.name))
                self.at(f"proof of {cell.service} {claim.name}")
                service = self.running(cell).service.each()[0]
                found = proofs.proven(claim, service, cell, self.stores[cell.postgres].database)
                self.keep_proof(found, f"{cell.service} {claim.name}")

    def describe(self) -> None:
        """Keep a description of each database as a fact of the block, and note the cells of a
        database that may lose a commit after its answer."""
        facts = {}
        for name, store in self.stores.items():
            facts[name or "usual"] = store.database.described()
            if self.block == 1 and self.order.profile.minutes >= ASKS_DISK_FROM_MINUTES:
                facts[name or "usual"]["fdatasync_us"] = store.database.fdatasync_us()
            if not store.database.durable:
                for cell in self.cells:
                    if cell.postgres == name and cell.technique != "memory":
                        self.note("not-durable", "a commit may be lost after its answer", cell)
        self.file.fact(self.block, "databases", facts)

    @answering()
    def before(self, cell: Cell, drop_s: float) -> None:
        """Fill the queues, so that each load begins with the same messages, and make the meter."""
        with self._counted(cell):
            self.queues(cell).fill(self.level(cell), self.order.experiment.seed)
        store = self.stores[cell.postgres]
        self.meter = resources.Meter(store.database.pids, store.watching, drop_s)

    @answering()
    def after(self, cell: Cell, sent: LoadResult, found: Trial) -> Trial:
        """The trial with the resources that the database used, the stages of sends and pops, and
        the number of violations: whether messages popped and messages left are those sent."""
        since_ms, used = self.meter.used()
        memory_mib = resources.memory_mib(self.stores[cell.postgres].database.pids())
        violations = self._violations(cell, sent)
        right = max(1, messages.right_since(sent, since_ms))
        mean_ms = float(found.elapsed_us.mean()) / 1000 if found.completions else 0.0
        extras = {
            **found.extras,
            **messages.means(sent.measured),
            **{f"database_{name}_per_request": value / right for name, value in used.items()},
            "database_busy_ms": used["cpu_ms"] * found.completions / right,
            "empty_pops": float((sent.measured["kind"] == messages.EMPTY).sum()),
            "ten_mean_ms": 10 * mean_ms,
            "violations": float(violations),
        }
        if memory_mib is not None:
            extras["database_memory_mib"] = memory_mib
        return replace(found, extras=extras, wrong=max(found.wrong, violations))

    @answering()
    def ended(self, cell: Cell, sent: LoadResult) -> None:
        """Note violations of this attempt, which a second attempt must not hide (LoadRun)."""
        if cell.technique != "memory":
            self._violations(cell, sent)

    def _violations(self, cell: Cell, sent: LoadResult) -> int:
        """How often rules of queues were violated in a load; violations are noted as an event."""
        with self._counted(cell):
            left = self.queues(cell).left()
        broken = messages.violations(sent.records, self.level(cell).filled, left)
        if broken:
            text = ", ".join(f"{rule} {count}" for rule, count in broken.items())
            self.note("wrong", f"{text}; {sent.first_error}".rstrip("; "), cell)
        return sum(broken.values())

    @contextmanager
    def _counted(self, cell: Cell) -> Iterator[None]:
        """Count the harness' own requests in this context as sent: queues in a service's memory are
        filled and read by requests, which the service counts together with those of the load."""
        if cell.technique != "memory":
            yield
            return
        service = self.running(cell).service
        before = monitor.answered_requests(service, cell.strategy)
        yield
        after = monitor.answered_requests(service, cell.strategy)
        if before is not None and after is not None:
            self.count(cell, round(sum(after) - sum(before)))


@dataclass
class MessagesDriver(ClosedDriver):
    """Loads of messages in one block (Driver)."""

    here: MessagesRun

    def rounds(self, seconds: float) -> Iterator[Sequence[PlannedTrial]]:
        """The rounds of the closed load, and loads by pgbench in between: one for each limit of the
        cells at any place, and those at a cell's own rate in the second half, when it is known."""
        experiment = self.here.order.experiment
        limits: dict[str, Cell] = {}
        at_rate: list[Cell] = []
        for cell in self.paces:
            if cell.technique == "memory" or self.here.level(cell).keys:
                continue
            if (where := experiment.pgbench) and where.matches(cell):
                limits.setdefault(_limit(cell), cell)
            if (where := experiment.pgbench_at_rate) and where.matches(cell):
                at_rate.append(cell)
        seconds -= sum(OVERHEAD_S + _pgbench_s(cell) for cell in limits.values())
        seconds -= len(at_rate) * (OVERHEAD_AT_RATE_S + AT_RATE_S)
        plan = list(super().rounds(seconds))
        shuffler = self.here.draws("limits")
        for arm, cells, first in (
            (PGBENCH, limits.values(), 0),
            (AT_RATE, at_rate, len(plan) // 2),
        ):
            for cell in cells:
                place = shuffler.randrange(first, len(plan) + 1)
                plan.insert(place, [PlannedTrial(1, cell, arm)])
        self.here.progress.planned = sum(map(len, plan))
        for turn in plan:
            yield [self._with_any(each) if each.arm == PGBENCH else each for each in turn]

    def trial(self, planned: PlannedTrial) -> Trial | None:
        """A trial of a closed load. None for a load by pgbench, whose result is a fact of the
        block; if that load fails, its cells are measured without a limit."""
        if planned.arm not in (PGBENCH, AT_RATE):
            return super().trial(planned)
        self._by_pgbench(planned.cell, at_rate=planned.arm == AT_RATE)
        return None

    def _with_any(self, planned: PlannedTrial) -> PlannedTrial:
        """The load of a limit, with one of the limit's cells that is not lost, if there is one."""
        kind = _limit(planned.cell)
        left = (each for each in self.paces if _limit(each) == kind and each not in self.here.lost)
        return replace(planned, cell=next(left, planned.cell))

    def _by_pgbench(self, cell: Cell, *, at_rate: bool) -> None:
        here = self.here
        store, level = here.stores[cell.postgres], here.level(cell)
        arm, kind = (AT_RATE, cell.id) if at_rate else (PGBENCH, _limit(cell))
        try:
            with answering():
                queues = store.of(cell)
                queues.fill(level, here.order.experiment.seed)
                found = pgbench.load(
                    store.database,
                    queues,
                    level,
                    seed=here.order.experiment.seed,
                    connections=proofs.connections(cell) if at_rate else cell.users,
                    seconds=AT_RATE_S if at_rate else _pgbench_s(cell),
                    per_s=self._per_s(cell) if at_rate else None,
                    cores=here.run.cores().own_load,
                    folder=here.load.folder / f"pgbench-{kind}",
                )
        except EnvironmentProblem as error:
            here.note("no-limit", str(error), cell)
            return
        reported = {
            "per_s": found.per_s,
            "mean_ms": found.latency_ms,
            "cpu_ms": found.generator_ms,
            "database_cpu_ms": found.database_ms,
            "database_wal_kib": found.wal_kib,
        }
        extras = {f"{arm}_{name}": value for name, value in reported.items() if value is not None}
        its = [cell] if at_rate else [each for each in self.paces if _limit(each) == kind]
        here.file.fact(here.block, "extras", {each.id: extras for each in its})
        if found.failed:
            here.note("given-up", f"pgbench gave up {found.failed} transactions", cell)

    def _per_s(self, cell: Cell) -> float:
        """Operations per second of a cell in its trials so far; without a trial in its pilot."""
        _, response_s = self.here.file.tried().get(cell.id, (0, self.paces[cell].response_s))
        return cell.users / response_s


def _pgbench_s(cell: Cell) -> int:
    return math.ceil(cell.users / PGBENCH_CONNECTIONS_A_S)


def _limit(cell: Cell) -> str:
    """The name of a cell's limit. Cells share it if their loads on the database are the same,
    whatever service is in front of it."""
    parts = [cell.technique, cell.complexity, f"{cell.users}u", cell.postgres]
    return "-".join(filter(None, parts))


@contextmanager
def opened(
    kind: Callable[[MessagesRun], under_load.LoadDriver], wanted: BlockOrder
) -> Iterator[Driver]:
    """The driver of a block: databases and services are fresh, techniques proven, services warm."""
    with ExitStack() as stack:
        stores = _stores(stack, wanted)
        found = {name: each.database.environment() for name, each in stores.items()}
        block = partial(MessagesRun, stores=stores)
        yield stack.enter_context(under_load.opened(kind, block, wanted, found))


def _stores(stack: ExitStack, wanted: BlockOrder) -> dict[str, Store]:
    """A fresh database for each of the settings that cells name, the empty ones being the usual;
    all are removed when `stack` is closed, except for their logs."""
    names = dict.fromkeys(cell.postgres for cell in wanted.cells)
    levels = [wanted.order.experiment.size(cell.complexity, Messages) for cell in wanted.cells]
    most = max((level.queues for level in levels if level), default=0)
    cores, found = core_list(wanted.run.cores().service), dict[str, Store]()
    for number, name in enumerate(names, start=1):
        folder = wanted.run.load(wanted.block) / f"database-{number}"
        database = Database(folder, overrides=variables(name), cores=cores)
        stack.enter_context(fresh(database))
        owner = stack.enter_context(database.connect())
        watching = stack.enter_context(database.connect("monitor"))
        found[name] = Store(database, owner, watching, most)
    return found
