"""Does anything grow faster than it should? Both services, asked with sizes that double."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from typing import TypeVar

from restbench.deploy import service
from restbench.deploy.service import Service
from restbench.drive import wrk
from restbench.failures import CellsFailed
from restbench.machine import machine_cpu, machine_lock, placement, watch
from tools import growth_series
from tools.bench_limit import Client
from tools.growth_fit import Fit, Series, fit
from tools.growth_plan import Plan
from tools.limit_servers import Server

#: `Server-Timing` tells microseconds: below so many of its steps a time is no number to divide by.
SMALLEST_MS = 0.02

Tell = Callable[[str], None]
Measured = TypeVar("Measured")


@dataclass(frozen=True)
class Growth:
    """What was found."""

    fits: tuple[Fit, ...]
    failures: tuple[str, ...] = ()
    """What could not be measured, with the reason: the others were."""
    foreign_pct: float = 0.0
    """What others used of the machine, percent: the median of a look before each strategy."""


@dataclass(frozen=True)
class _Work:
    """A measurement on its way."""

    plan: Plan
    folder: Path
    tell: Tell
    foreign_pct: list[float] = field(default_factory=list)

    def look(self, running: Service) -> None:
        """See what others do while nothing of ours should be at work."""
        self.foreign_pct.append(machine_cpu.look(running.pids()))

    def tried(self, measured: Callable[[], Measured]) -> Measured | CellsFailed:
        """What was measured, or why it could not be: the other parts have their turn."""
        try:
            return measured()
        except CellsFailed as failure:
            self.tell(f"FAILED  {failure}")
            return failure


def measure(plan: Plan, tell: Tell) -> Growth:
    """Every series of the plan with its exponent; `tell` gets a line for each step.

    No process is left. WrongAnswers, EnvironmentProblem.
    """
    machine_lock.take()
    wrk.require()
    watch.end_leftovers()
    with tempfile.TemporaryDirectory(prefix="growth-", dir=watch.begin()) as name:
        work = _Work(plan, Path(name), tell)
        found = list(_parts(work))
    series = [each for part in found if not isinstance(part, CellsFailed) for each in part]
    return Growth(
        tuple(fit(each, SMALLEST_MS if each.over != "users" else 0.0) for each in series),
        tuple(str(each) for each in found if isinstance(each, CellsFailed)),
        median(work.foreign_pct),
    )


def _parts(work: _Work) -> Iterator[list[Series] | CellsFailed]:
    plan = work.plan
    for name in plan.choice.services:
        with service.start(name, "none", None, work.folder / name) as running:
            for sweep in plan.sweeps[name]:
                work.tell(f"{name:<8}{sweep.name}: {sweep.over} {_listed(sweep.sizes)}")
                asked = _server(running, "serial", sweep.kernel)
                yield work.tried(partial(growth_series.of_stages, asked, sweep, plan.rounds))
            for strategy in plan.choice.of(running.strategies()):
                work.look(running)
                yield from _strategy(work, running, strategy)
    if "python" in plan.choice.services:
        yield from _processes(work)


def _strategy(work: _Work, running: Service, strategy: str) -> Iterator[list[Series] | CellsFailed]:
    plan = work.plan
    asked = _server(running, strategy, plan.dispatched.kernel)
    tasks, users = _listed(plan.dispatched.sizes), _listed(plan.users)
    work.tell(f"{running.name:<8}{strategy}: {tasks} tasks, {users} users")
    yield work.tried(partial(growth_series.of_stages, asked, plan.dispatched, plan.rounds))
    client = Client(work.folder / "users.json", placement.allowed_cores()[-1])
    yield work.tried(partial(growth_series.of_users, asked, client, plan))


def _processes(work: _Work) -> Iterator[list[Series] | CellsFailed]:
    """The pools of the Python service, with more and more processes in them."""
    plan = work.plan
    work.tell(f"python  pools of {_listed(plan.processes)} processes")
    by_strategy: dict[str, list[list[float] | CellsFailed]] = {}
    for count in plan.processes:
        place = work.folder / f"processes-{count}"
        settings = {"RESTBENCH_PROCESSES": str(count)}
        with service.start("python", "none", None, place, settings=settings) as running:
            for strategy in plan.choice.of(running.strategies()):
                asked = _server(running, strategy, plan.dispatched.kernel)
                shape = plan.dispatched.shapes[-1]
                dispatch_ms = partial(growth_series.dispatch_ms, asked, shape, plan.rounds)
                by_strategy.setdefault(strategy, []).append(work.tried(dispatch_ms))
    for name, by_count in by_strategy.items():
        failures = [each for each in by_count if isinstance(each, CellsFailed)]
        taken_ms = [each for each in by_count if not isinstance(each, CellsFailed)]
        yield from failures
        if not failures:
            yield [growth_series.over_processes(f"python {name}", plan.processes, taken_ms)]


def _server(running: Service, strategy: str, kernel: str) -> Server:
    url = f"{running.base_url}/matrix/{strategy}?kernel={kernel}"
    return Server(f"{running.name} {strategy}", url, running.processes[0])


def _listed(sizes: tuple[int, ...]) -> str:
    return ", ".join(map(str, sizes))
