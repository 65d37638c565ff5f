"""The driver of batches of calls: a trial is one batch of a client program. The client's report is
checked against the service's own count, and against the least time that the batch can take."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean

import numpy as np

from restbench.analyse.calls import MISMEASURED, WINDOW, OneCall, least_s
from restbench.deploy.service import Service
from restbench.drive import batches, call_client
from restbench.drive.batches import SingleCall
from restbench.drive.call_client import Batch, BatchResult, CallClient, CallLine
from restbench.experiment.calls import OFFERED, Calls, CallWork, Client, work_of
from restbench.experiment.cell import Cell
from restbench.failures import BadConfiguration, EnvironmentProblem, WrongAnswers, counted
from restbench.machine import process
from restbench.machine.placement import allowed_cores, core_list
from restbench.schedule import under_load
from restbench.schedule.block_run import BlockOrder, BlockRun, OnceEach, ended_now
from restbench.schedule.pace import PlannedTrial
from restbench.store.trials import Trial

#: A batch with less CPU time of the service says nothing about it: the kernel counts in steps of
#: 10 ms.
SURE_CPU_MS = 100.0
#: A client's heap is small, as its messages are small except for a few documents of 10 MB.
SETTINGS = {"JAVA_OPTIONS": "-Xms128m -Xmx512m"}


@contextmanager
def opened(wanted: BlockOrder) -> Iterator[CallsDriver]:
    """The driver of a block: a fresh service, and a fresh client for each transport."""
    run, table = wanted.run, wanted.order.experiment.table(Calls)
    works = [work_of(cell.complexity) for cell in wanted.cells]
    cores = run.cores().load
    with ExitStack() as started:
        deployments = started.enter_context(under_load.services(wanted))
        here = BlockRun(**vars(wanted), deployments=deployments)
        _require(here)
        clients = {}
        for client, transport in dict.fromkeys(each.program for each in works):
            log = run.program_log(wanted.block, f"{client}-{transport}")
            making = call_client.running(client, log, core_list(cores), SETTINGS)
            clients[client, transport] = started.enter_context(making)
        folder = run.program_log(wanted.block, "calls").parent
        yield CallsDriver(here, table, clients, folder, len(cores))


def _require(here: BlockRun) -> None:
    """Raises BadConfiguration where a service that is up cannot take the calls of its cells."""
    for key, running in here.deployments.up.items():
        works = [work_of(each.complexity) for each in here.cells if each.service_group == key]
        longest_ms = max(each.delay_ms for each in works)
        is_soap = any(each.transport != "rest" for each in works)
        batches.require(running.service, longest_ms, is_soap=is_soap)


def _require_right(wrong: int) -> None:
    """Raises WrongAnswers where answers of a batch that is not measured were wrong."""
    if wrong:
        answers = counted(wrong, "answer", "was", "were")
        raise WrongAnswers(f"{answers} wrong in a batch that is not measured")


@dataclass
class CallsDriver(OnceEach):
    """Batches in one block (Driver)."""

    table: Calls
    clients: Mapping[tuple[Client, str], CallClient]
    folder: Path
    cores: int
    single_calls: dict[tuple[Client, str], SingleCall] = field(default_factory=dict)
    """By client program, once it is warm: what a call takes that is made alone."""

    def rounds(self, seconds: float) -> Iterator[Sequence[PlannedTrial]]:
        """Warm up all clients; then the rounds (OnceEach)."""
        ends = time.monotonic() + seconds
        for cell in self.here.cells:
            work = work_of(cell.complexity)
            try:
                self._ready(cell, work)
            except (EnvironmentProblem, BadConfiguration, WrongAnswers) as error:
                self.here.fail(cell, error)
        yield from super().rounds(ends - time.monotonic())

    def least_s(self, cell: Cell) -> float:
        """The seconds that the delays of the batch's calls take; 0 for documents (OnceEach)."""
        work = work_of(cell.complexity)
        made = self.table.made(self.here.order.profile_name, self.here.block, work)
        if work.strategy == "document":
            return 0.0
        waits = OneCall(0.0, 0.0, work.delay_ms / 1000, 0.0, 0.0)
        return least_s(work.strategy, cell.users, made, waits, cpu_s=0.0, cores=1)

    def trial(self, planned: PlannedTrial) -> Trial | None:
        """Make one batch and check it. None where the cell is lost."""
        here, cell, work = self.here, planned.cell, work_of(planned.cell.complexity)
        self._ready(cell, work)
        client, service = self.clients[work.program], here.running(cell).service
        number = self.table.made(here.order.profile_name, here.block, work)
        alone = self.single_calls[work.program].one
        batch = batches.with_team_sizes(self._batch(service, cell, work, number), alone)
        offered = client.hello().strategies
        if batch.strategy not in offered:
            here.lose(cell, "not-offered", f"the client offers {', '.join(offered)}")
            return None
        before = self._connected(cell, work, number)
        cpu_ms = process.cpu_ms(service.pids())
        result, lines = batches.made(client, batch)
        cpu_ms = process.cpu_ms(service.pids()) - cpu_ms
        served = batches.counted(service, cell.strategy, before + result.attempts) - before
        if faults := batches.faults(batch, work.delay_ms, result, lines, served):
            said = f"{counted(result.wrong, 'answer', 'was', 'were')} wrong"
            wrong = [said] if result.wrong else []
            here.lose(cell, "wrong" if wrong else "failed", "; ".join([*wrong, *faults]))
            return None
        if work.delay_ms == 0 and cpu_ms >= SURE_CPU_MS:  # the service may still get faster
            took_s = result.cpu_s / batch.calls, cpu_ms / 1000 / batch.calls
            self.single_calls[work.program] = self.single_calls[work.program].at_most(*took_s)
        found = self._reduced(planned, batch, result, lines, cpu_ms)
        elapsed_s = found.extras["elapsed_s"]
        if number < (calls := found.extras["calls"]):
            here.note("scaled", f"{number} of {calls:g} calls were made", cell)
        nearness = found.extras.get("limit_s", 0.0) / elapsed_s
        if nearness > MISMEASURED:
            here.note("limit-mismeasured", f"{nearness:.3f} of the best possible", cell)
        here.view.note(f"      {cell.id}  {elapsed_s:.4g} s{f', {nearness:.3f}' * (nearness > 0)}")
        return found

    def _connected(self, cell: Cell, work: CallWork, calls: int) -> float:
        """Make a short batch in the way of the cell, so that client and service have the
        connections and the threads that the next one needs: both end what has been idle for long.

        Returns the service's count of requests after it. BadConfiguration where it fails,
        WrongAnswers where an answer is wrong.
        """
        client, service = self.clients[work.program], self.here.running(cell).service
        before = batches.counted(service, cell.strategy)
        if work.strategy == "document":  # one connection, and a call takes seconds
            return before
        brief = replace(work, delay_ms=batches.CONNECT_DELAY_MS)
        batch = self._batch(service, cell, brief, min(calls, WINDOW))
        alone = self.single_calls[work.program].one
        batch = batches.with_team_sizes(replace(batch, log=None), alone)
        result = client.batch(batch)
        _require_right(result.wrong)
        return batches.counted(service, cell.strategy, before + result.attempts)

    def _ready(self, cell: Cell, work: CallWork) -> None:
        """Make sure that a cell's client is up and warm; one that has ended is started anew."""
        if self.clients[work.program].renew_if_dead():
            self.single_calls.pop(work.program, None)
        if work.program not in self.single_calls:
            self.here.at(f"warm-up of {work.client} {work.transport}")
            self.single_calls[work.program] = found = self._warmed(cell, work)
            _require_right(found.wrong)

    def _warmed(self, cell: Cell, work: CallWork) -> SingleCall:
        client, service = self.clients[work.program], self.here.running(cell).service
        offered = [each for each in client.hello().strategies if each in OFFERED[work.client]]
        plain = replace(work, strategy="sequential", delay_ms=0)
        batch = self._batch(service, cell, plain, batches.ALONE_CALLS)
        max_s = self.here.order.profile.warm_max_s[cell.service]
        return batches.measure_single_call(client, service, batch, offered, max_s)

    def _batch(self, service: Service, cell: Cell, work: CallWork, calls: int) -> Batch:
        is_document = work.strategy == "document"
        bodies = 1 if is_document else batches.BODIES
        files = batches.files(self.folder, self.table.shape(work), bodies)
        batch = batches.batch_of(service, cell.strategy, work, cell.users, calls, files)
        batch = replace(batch, log=self.folder / f"{cell.id}.jsonl")
        if is_document:  # one call at a time, whose rows several threads decode
            return replace(batch, strategy="sequential", threads=1, loop_threads=cell.users)
        return batch

    def _reduced(
        self,
        planned: PlannedTrial,
        batch: Batch,
        result: BatchResult,
        lines: Sequence[CallLine],
        service_cpu_ms: float,
    ) -> Trial:
        here, work = self.here, work_of(planned.cell.complexity)
        calls = self.table.calls(here.order.profile_name, work)
        alone, elapsed_s = self.single_calls[work.program], result.elapsed_s * calls / batch.calls
        shared = here.run.cores().shared
        in_c = [each.c_ms or 0.0 for each in lines]
        extras = {
            "elapsed_s": elapsed_s,
            "cores_elapsed_s": elapsed_s * len(allowed_cores()),
            "calls": calls,
            "made": batch.calls,
            "in_flight": batches.in_flight(result, lines),
            "client_cpu_ms": 1000 * result.cpu_s / batch.calls,
            "service_cpu_ms": service_cpu_ms / batch.calls,
            "client_threads": sum(result.threads.values()),
            "decode_s": fmean(each.d_ms or 0.0 for each in lines) / 1000,
        }
        if work.strategy != "document":  # for documents neither is known beforehand
            extras["alone_s"] = calls * (alone.one.whole + work.delay_ms / 1000)
            extras["limit_s"] = batches.limit_s(
                batch, calls, work.delay_ms, alone, self.cores, is_shared=shared
            )
        for stage in "SCDP":
            extras[f"{stage.lower()}_ms"] = 1000 * result.stages[stage]["wall_s"] / batch.calls
        return ended_now(
            planned,
            here.block,
            result.elapsed_s,
            1000 * np.asarray(in_c),
            wrong=result.wrong,
            service_cpu_ms=service_cpu_ms,
            extras=extras,
        )
