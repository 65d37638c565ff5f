"""The driver of NAS kernels: a trial is a kernel's time in a fresh process without HTTP, in that
process once it is warm, and in a service that has been called as often.

Each trial has a service process of its own, which no other cell has warmed up: the times that are
compared are equally warm. A cell that varies the number of cores has no service.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from statistics import median

import numpy as np

from restbench.deploy.service import Service
from restbench.drive import npb_runs
from restbench.drive.npb_runs import KernelRun, NpbClients, Program, ServiceCall
from restbench.experiment.cell import Cell, variables
from restbench.experiment.npb import ClientName, Npb, Runs, Work, work_of
from restbench.machine import machine_cpu, process
from restbench.machine.placement import core_list
from restbench.schedule import under_load
from restbench.schedule.block_run import BlockOrder, BlockRun, OnceEach, ended_now
from restbench.schedule.pace import PlannedTrial
from restbench.store.trials import Trial


@dataclass(frozen=True)
class ServiceCalls:
    """The calls of a service, and the resources that it used for the calls that are kept."""

    calls: tuple[ServiceCall, ...] = ()
    cpu_ms: float | None = None
    memory_mib: float | None = None
    by_client: Mapping[ClientName, Sequence[ServiceCall]] = field(default_factory=dict)
    """Further calls by client programs, made after `calls`."""


@contextmanager
def opened(wanted: BlockOrder) -> Iterator[NpbDriver]:
    """The driver of a block; services and clients are stopped when the context ends."""
    run, table = wanted.run, wanted.order.experiment.table(Npb)
    with ExitStack() as started:
        deployments = started.enter_context(under_load.services(wanted, cells=()))
        here = BlockRun(**vars(wanted), deployments=deployments)
        clients = None
        if table.clients and any(map(table.clients.where.matches, here.cells)):
            log = run.program_log(wanted.block, "clients")
            cores = core_list(run.cores().load)
            running = npb_runs.clients_running(table.clients.names, log, cores)
            clients = started.enter_context(running)
        yield NpbDriver(here, table, clients)


@dataclass
class NpbDriver(OnceEach):
    """Kernels in one block (Driver)."""

    table: Npb
    clients: NpbClients | None = None

    def trial(self, planned: PlannedTrial) -> Trial:
        """Measure a cell. Whether the service or the process without HTTP comes first alternates
        between blocks and between rounds, so that a drift within a trial favours neither."""
        here, cell, work = self.here, planned.cell, work_of(planned.cell.complexity)
        wanted = self.table.runs[here.order.profile_name][work.npb_class]
        is_service_first = (here.block + planned.round) % 2 == 0
        served = self._served(cell, work, wanted) if is_service_first else ServiceCalls()
        direct = npb_runs.run(
            self._program(cell, work, wanted.runs),
            here.run.program_log(here.block, cell.id),
            self.table.run_max_s,
        )
        if not is_service_first:
            served = self._served(cell, work, wanted)
        found = reduced(planned, here.block, direct, served, wanted.kept)
        here.view.note(f"      {cell.id}  {_in_a_line(found)}")
        return found

    def _served(self, cell: Cell, work: Work, wanted: Runs) -> ServiceCalls:
        if work.cores is not None:
            return ServiceCalls()
        here, deployments, used = self.here, self.here.deployments, machine_cpu.used()
        try:
            deployments.start([cell.service_group])
            if lack := deployments.lacks(cell):
                raise lack
            service = here.running(cell).service
            calls = npb_runs.calls(service, cell, work, wanted.runs, self.table.run_max_s)
            first = tuple(islice(calls, wanted.runs - wanted.kept))
            cold_ms = process.cpu_ms(service.pids())
            kept = tuple(calls)
            pids = service.pids()
            busy = machine_cpu.used(pids).since(used)
            memory_mib = sum(map(process.resident_mib, pids))
            cpu_ms = process.cpu_ms(pids) - cold_ms
            by_client = self._by_client(service, cell, work, wanted.kept)
            # What others and the hypervisor took, as percentages of the machine's CPU time.
            here.file.fact(here.block, "foreign_pct", {cell.id: busy.foreign_pct})
            here.file.fact(here.block, "steal_pct", {cell.id: busy.steal_pct})
            return ServiceCalls((*first, *kept), cpu_ms, memory_mib, by_client)
        finally:
            deployments.stop()

    def _by_client(
        self, service: Service, cell: Cell, work: Work, kept: int
    ) -> dict[ClientName, Sequence[ServiceCall]]:
        if not (self.clients and self.table.clients and self.table.clients.where.matches(cell)):
            return {}
        every = self.table.clients.names
        names = self.here.draws(cell.id).sample(every, len(every))
        return self.clients.calls(names, service, cell, [work] * kept, self.table.run_max_s)

    def _program(self, cell: Cell, work: Work, runs: int) -> Program:
        """The process without HTTP, on the service's cores or, where the number of cores is varied,
        on that many of them."""
        cores = self.here.run.cores(cell.placement).service
        return Program(
            cell.service,
            cell.strategy,
            work,
            runs,
            core_list(cores[: work.cores]),
            settings={
                **self.here.order.experiment.settings.get(cell.service, {}),
                **variables(cell.settings),
            },
        )


def reduced(
    planned: PlannedTrial, block: int, direct: Sequence[KernelRun], served: ServiceCalls, kept: int
) -> Trial:
    """A trial made of the last `kept` calls of the service or, without a service, of the last runs
    of the process, whose times include their inputs. Its extras are the times that are compared."""
    calls = served.calls[-kept:]
    kept_s = [each.client_seconds for each in calls] or _of(direct, kept, "total_seconds")
    return ended_now(
        planned,
        block,
        sum(kept_s),
        1e6 * np.asarray(kept_s),
        service_cpu_ms=served.cpu_ms,
        memory_mib=served.memory_mib,
        extras=extras_of(direct, calls, kept) | extras_of_clients(calls, served.by_client),
    )


def extras_of(
    direct: Sequence[KernelRun], calls: Sequence[ServiceCall], kept: int
) -> dict[str, float]:
    """The values that `analyse.npb.COLUMNS` explains: the first run of the process is the fresh
    one; medians are over its last `kept` runs, never the first, and over the calls."""
    found = {
        "fresh_s": direct[0].kernel_seconds,
        "fresh_mops": direct[0].mops,
        "warm_s": median(_of(direct, kept, "kernel_seconds")),
        "warm_total_s": median(_of(direct, kept, "total_seconds")),
    }
    if calls:
        found |= {
            "service_s": median(each.answer.kernel_seconds for each in calls),
            "service_total_s": median(each.answer.total_seconds for each in calls),
            "client_s": median(each.client_seconds for each in calls),
            "overhead_ms": median(1000 * each.overhead_seconds for each in calls),
            "mops": median(each.answer.mops for each in calls),
        }
    return found


def extras_of_clients(
    calls: Sequence[ServiceCall], by_client: Mapping[ClientName, Sequence[ServiceCall]]
) -> dict[str, float]:
    """The medians over the calls of each client program; and how many of these programs always got
    the value that the harness' own calls got, to the last bit."""
    found: dict[str, float] = {}
    for client, made in by_client.items():
        name = client.replace("-", "_")
        found[f"{name}_s"] = median(each.answer.kernel_seconds for each in made)
        found[f"{name}_call_ms"] = median(1000 * each.overhead_seconds for each in made)
    if by_client:
        values = {each.answer.value for each in calls}
        same = [values == {each.answer.value for each in made} for made in by_client.values()]
        found |= {"clients_asked": len(same), "clients_same": sum(same)}
    return found


def _of(direct: Sequence[KernelRun], kept: int, name: str) -> list[float]:
    return [getattr(each, name) for each in direct[1:][-kept:]]


def _in_a_line(found: Trial) -> str:
    times = f"fresh {found.extras['fresh_s']:.4g} s, warm {found.extras['warm_s']:.4g} s"
    served_s = found.extras.get("service_s")
    return times if served_s is None else f"{times}, in the service {served_s:.4g} s"
