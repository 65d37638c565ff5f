"""The driver of batches of calls: a trial is one batch of a client program, and what it says of it
is held against what the service counted, and against the least time that it can take."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean, median

import httpx
import numpy as np

from restbench.analyse.call_limits import MISMEASURED, WINDOW, OneCall, least_s, teams_of
from restbench.deploy.service import Service
from restbench.drive import call_client, monitor, payload
from restbench.drive.call_client import Batch, BatchResult, CallClient, CallLine
from restbench.experiment.calls import OFFERED, Calls, CallWork, Client, work_of
from restbench.experiment.cell import Cell, Shape
from restbench.experiment.order import Order
from restbench.experiment.plan import service_group
from restbench.failures import BadConfiguration, EnvironmentProblem, in_short
from restbench.machine import clock, process
from restbench.machine.placement import allowed_cores, core_list, place
from restbench.schedule import once_each
from restbench.schedule.block_run import BlockRun, Progress, View, Wanted
from restbench.schedule.deployments import Deployments
from restbench.schedule.pace import Planned
from restbench.store.store import Run
from restbench.store.trials import Trial

GROUP = "batches"
#: Different requests of a batch, which take turns.
BODIES = 4
#: Calls of a batch that warms up, and of the one that says what a call takes alone.
WARM_CALLS, ALONE_CALLS = 200, 30
WARM_THREADS = 8
#: A client is warm when its compilers take no more of its CPU time.
COMPILING = 0.02
#: What a clock of milliseconds may be off.
CLOCK_MS = 1.0
COUNTED_WITHIN_S = 1.0


@dataclass(frozen=True)
class Alone:
    """A call alone, in the same block: its seconds, and CPU seconds of client and service."""

    one: OneCall
    client_s: float
    service_s: float


@contextmanager
def opened(order: Order, run: Run, wanted: Wanted, view: View) -> Iterator[CallsDriver]:
    """The driver of a block: a fresh service, and a fresh client for each transport."""
    table = order.experiment.calls
    if table is None:
        raise TypeError("batches without their table")  # the experiment's file has one
    deployments = Deployments(run, wanted.block, order.experiment.settings, order.attached)
    here = BlockRun(order, run, wanted, deployments, view, Progress(wanted.block))
    works = [work_of(cell.complexity) for cell in here.cells]
    cores = place("unbound", allowed_cores(), run.load_cores()).load
    with ExitStack() as started:
        started.callback(deployments.stop)
        deployments.start(dict.fromkeys(map(service_group, here.cells)))
        clients = {}
        for client, transport in dict.fromkeys(each.program for each in works):
            log = run.program_log(wanted.block, f"{client}-{transport}")
            making = call_client.running(client, log, core_list(cores))
            clients[client, transport] = started.enter_context(making)
        folder = run.program_log(wanted.block, "calls").parent
        yield CallsDriver(here, table, clients, folder, len(cores))


@dataclass
class CallsDriver:
    """Batches in one block (driver.Driver)."""

    here: BlockRun
    table: Calls
    clients: Mapping[tuple[Client, str], CallClient]
    folder: Path
    cores: int
    """The client's."""
    alone: dict[tuple[Client, str], Alone] = field(default_factory=dict)
    retried: set[Cell] = field(default_factory=set)

    def rounds(self, seconds: float) -> Iterator[Sequence[Planned]]:
        """As `once_each.rounds`, once all clients are warm."""
        ends = time.monotonic() + seconds
        for cell in self.here.cells:
            work = work_of(cell.complexity)
            try:
                if work.program not in self.alone:
                    self.here.at(f"warm-up of {work.client} {work.transport}")
                    self.alone[work.program] = self._warmed(cell, work)
            except (EnvironmentProblem, BadConfiguration, httpx.HTTPError) as error:
                self.here.lose(cell, "failed", str(error))
        yield from once_each.rounds(self.here, ends - time.monotonic(), GROUP)

    def trial(self, planned: Planned) -> Trial | None:
        """One batch, with its audit."""
        here, cell, work = self.here, planned.cell, work_of(planned.cell.complexity)
        client, service = self.clients[work.program], here.running(cell).service
        profile = here.order.profile_name
        calls = self.table.calls(profile, work)
        batch = self._batch(
            service, cell, work, self.table.made(profile, here.block, work), work.delay_ms
        )
        if (offered := client.hello().strategies) and batch.strategy not in offered:
            here.lose(cell, "not-offered", f"the client has {', '.join(offered)}")
            return None
        counted, cpu_ms = _counted(service, cell), process.cpu_ms(service.pids())
        try:
            result, lines = _made(client, batch)
        except BadConfiguration as error:
            here.lose(cell, "failed", str(error))
            return None
        cpu_ms = process.cpu_ms(service.pids()) - cpu_ms
        counted = _counted(service, cell, counted + result.attempts) - counted
        if faults := audit(work, batch, result, lines, counted):
            here.lose(cell, "failed", "; ".join(faults))
            return None
        found = self._reduced(planned, calls, batch, result, lines, cpu_ms)
        nearness = found.extras["limit_s"] / found.extras["elapsed_s"]
        if nearness > MISMEASURED:
            here.note("limit-mismeasured", f"{nearness:.3f} of the best possible", cell)
        here.view.note(f"      {cell.id}  {found.extras['elapsed_s']:.4g} s, {nearness:.3f}")
        return found

    def again(self, cell: Cell, why: str) -> str | None:
        """Once, on a fresh service if that has ended (driver.Driver)."""
        if cell in self.retried:
            return why
        self.retried.add(cell)
        self.here.note("retried", why, cell)
        self.here.view.note(f"{cell.id}: once more: {in_short(why)}")
        return None

    def _warmed(self, cell: Cell, work: CallWork) -> Alone:
        client, service = self.clients[work.program], self.here.running(cell).service
        max_s = self.here.order.profile.warm_max_s["java"]
        cheapest: list[tuple[float, float]] = []
        for strategy in OFFERED[work.client]:
            if strategy not in client.hello().strategies:
                continue
            warm = replace(work, strategy=strategy)
            batch = self._batch(service, cell, warm, WARM_CALLS, 0, WARM_THREADS)
            ends = time.monotonic() + max_s
            while True:
                before_ms = process.cpu_ms(service.pids())
                result = client.batch(batch)
                service_s = (process.cpu_ms(service.pids()) - before_ms) / 1000
                if time.monotonic() > ends or result.compile_s <= COMPILING * result.cpu_s:
                    break
            cheapest.append((result.cpu_s / WARM_CALLS, service_s / WARM_CALLS))
        one = self._batch(service, cell, replace(work, strategy="sequential"), ALONE_CALLS, 0)
        _, lines = _made(client, one)
        s, c, d, p = (
            median(getattr(each, name) or 0.0 for each in lines) / 1000
            for name in ("s_ms", "c_ms", "d_ms", "p_ms")
        )
        client_s, service_s = min(cheapest, key=sum)
        return Alone(OneCall(s, c, 0.0, d, p), client_s, service_s)

    def _batch(  # noqa: PLR0913, PLR0917 - what a batch is made of
        self,
        service: Service,
        cell: Cell,
        work: CallWork,
        calls: int,
        delay_ms: int,
        threads: int | None = None,
    ) -> Batch:
        is_document = work.strategy == "document"
        strategy = "pipeline-async" if is_document else work.strategy
        threads = threads or cell.users
        teams: tuple[int, ...] | None = None
        if strategy.startswith("pipeline"):
            teams = teams_of(strategy, 3 if is_document else threads)
            teams = teams if strategy == "pipeline" else (teams[0], *teams[2:])
        size = self.table.document if is_document else self.table.payload
        name = "document" if is_document else "payload"
        inputs, expected = files(self.folder / name, Shape(**size.model_dump()))
        path = f"/{'matrix' if work.transport == 'rest' else 'soap/matrix'}/{cell.strategy}"
        log = self.folder / f"{cell.id}.jsonl"
        log.unlink(missing_ok=True)
        return Batch(
            f"{service.base_url}{path}?delay={delay_ms}",
            calls,
            inputs,
            transport=work.transport,
            strategy=strategy,
            threads=threads,
            teams=teams,
            in_flight=1 if is_document else min(WINDOW, max(1, calls)),
            per_call_s=30.0 + delay_ms / 1000,
            expected=expected,
            log=log,
            loop_threads=threads if is_document else None,
        )

    def _reduced(  # noqa: PLR0913, PLR0917 - all that is known of it
        self,
        planned: Planned,
        calls: int,
        batch: Batch,
        result: BatchResult,
        lines: Sequence[CallLine],
        service_cpu_ms: float,
    ) -> Trial:
        work, scale = work_of(planned.cell.complexity), calls / batch.calls
        alone = self.alone[work.program]
        one = replace(alone.one, delay=work.delay_ms / 1000)
        elapsed_s = result.elapsed_s * scale
        if work.strategy == "document":
            limit_s = elapsed_s  # of its decoding nothing is known beforehand
        else:
            is_python = work.client == "python"
            limit_s = self._least_s(batch, calls, one, alone, is_python=is_python)
        in_c = [each.c_ms or 0.0 for each in lines]
        extras = {
            "elapsed_s": elapsed_s,
            "cores_elapsed_s": elapsed_s * len(allowed_cores()),
            "limit_s": limit_s,
            "alone_s": calls * one.whole,
            "calls": calls,
            "made": batch.calls,
            "in_flight": sum(in_c) / 1000 / result.elapsed_s,
            "peak_in_flight": result.peak_in_flight,
            "client_cpu_ms": 1000 * result.cpu_s / batch.calls,
            "service_cpu_ms": service_cpu_ms / batch.calls,
            "client_threads": sum(result.threads.values()),
            "decode_s": fmean(each.d_ms or 0.0 for each in lines) / 1000,
        }
        for stage, name in zip("SCDP", ("s_ms", "c_ms", "d_ms", "p_ms"), strict=True):
            extras[name] = 1000 * result.stages[stage].wall_s / batch.calls
        return Trial(
            block=self.here.block,
            round=planned.round,
            cell=planned.cell.id,
            users=planned.cell.users,
            began_ms=round(1000 * (clock.now().timestamp() - result.elapsed_s)),
            seconds=result.elapsed_s,
            elapsed_us=np.sort(np.rint(1000 * np.asarray(in_c)).astype(np.int64)),
            wrong=result.wrong,
            service_cpu_ms=service_cpu_ms,
            generator_cpu_ms=1000 * result.cpu_s,
            extras=extras,
        )

    def _least_s(
        self, batch: Batch, calls: int, one: OneCall, alone: Alone, *, is_python: bool
    ) -> float:
        """On cores that client and service share; of a Python client one core runs its code."""
        service = place("unbound", allowed_cores(), self.here.run.load_cores())
        cpu_s = alone.client_s + alone.service_s * service.shared
        own = [(cpu_s, self.cores)]
        if is_python:
            own.append((alone.client_s, 1))
        return max(
            least_s(batch.strategy, batch.threads, calls, one, cpu_s=each, cores=cores)
            for each, cores in own
        )


def audit(
    work: CallWork, batch: Batch, result: BatchResult, lines: Sequence[CallLine], counted: float
) -> list[str]:
    """What is not as it has to be of a batch."""
    found = []
    if failed := {**result.failed, **({"cancelled": result.cancelled} if result.cancelled else {})}:
        found.append(f"calls failed: {json.dumps(failed)}")
    indices = sorted(each.index for each in lines)
    if result.outcomes != batch.calls or indices != list(range(batch.calls)):
        found.append(f"outcomes: {result.outcomes} of {batch.calls} calls")
    if counted != result.attempts:
        found.append(f"the service counted {counted:g} requests, {result.attempts} were sent")
    if early := [e for e in lines if e.c_ms is not None and e.c_ms < work.delay_ms - CLOCK_MS]:
        found.append(f"delay-not-honoured: {early[0].c_ms:.1f} ms of {work.delay_ms}")
    window = {"sequential": 1, "task-pool": batch.threads}.get(batch.strategy, batch.in_flight)
    if batch.teams and batch.strategy == "pipeline":
        window = batch.teams[1]
    if result.peak_in_flight > window:
        found.append(f"{result.peak_in_flight} calls in flight, at most {window} were asked for")
    threads = sum(n for name, n in result.threads.items() if name.startswith("call-"))
    if work.strategy in {"task-pool", "pipeline"} and threads != batch.threads:
        found.append(f"{threads} threads, {batch.threads} were asked for: {result.threads}")
    return found


def files(folder: Path, shape: Shape) -> tuple[Path, Path]:
    """Requests of matrices of these sizes and their products, made once."""
    inputs, expected = (folder.with_name(f"{folder.name}-{each}.json") for each in ("in", "out"))
    if not expected.exists():
        made = [payload.make_payload(shape, seed, 0, 50) for seed in range(BODIES)]
        call_client.write_inputs(inputs, [json.loads(each.body("")) for each in made])
        call_client.write_inputs(expected, [json.loads(each.answer(""))["rows"] for each in made])
    return inputs, expected


def _made(client: CallClient, batch: Batch) -> tuple[BatchResult, Sequence[CallLine]]:
    if batch.log:
        batch.log.unlink(missing_ok=True)
    result = client.batch(batch)
    return result, call_client.read_log(batch.log) if batch.log and batch.log.exists() else ()


def _counted(service: Service, cell: Cell, expected: float | None = None) -> float:
    """Requests that the service has answered under the cell's strategy; one is counted behind its
    answer, so what is `expected` has a moment to come."""
    ends = time.monotonic() + COUNTED_WITHIN_S
    while True:
        counted = sum(monitor.answered_requests(service, cell.strategy) or [0.0])
        if expected is None or counted == expected or time.monotonic() > ends:
            return counted
        time.sleep(0.01)
