"""Does anything grow faster than it should? Both services, asked with sizes that double."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from restbench import (
    growth_stages,
    growth_users,
    limit_bench,
    machine_lock,
    placement,
    service,
    watch,
)
from restbench.cell import ServiceName
from restbench.failures import CellsFailed
from restbench.growth_fit import Fit, Series, fit
from restbench.growth_plan import Plan
from restbench.limit_bench import Client
from restbench.limit_servers import Server
from restbench.service import Service

#: `Server-Timing` tells microseconds: below so many of its steps a time is no number to divide by.
SMALLEST_MS = 0.02

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Growth:
    """What was found."""

    fits: tuple[Fit, ...]
    failures: tuple[str, ...]
    """What could not be measured, with the reason: the others were."""


def measure(plan: Plan, tell: Tell) -> Growth:
    """Every series of the plan with its exponent; `tell` gets a line for each step.

    No process is left. WrongAnswers, EnvironmentProblem.
    """
    machine_lock.take()
    limit_bench.require_client()
    watch.end_leftovers()
    with tempfile.TemporaryDirectory(prefix="growth-", dir=watch.begin()) as name:
        found = list(_parts(plan, Path(name), tell))
    series = [each for part in found if not isinstance(part, CellsFailed) for each in part]
    return Growth(
        tuple(fit(each, SMALLEST_MS if each.over != "users" else 0.0) for each in series),
        tuple(str(each) for each in found if isinstance(each, CellsFailed)),
    )


def _parts(plan: Plan, folder: Path, tell: Tell) -> Iterator[list[Series] | CellsFailed]:
    for name in plan.choice.services:
        with _started(name, folder / name) as running:
            for sweep in plan.sweeps[name]:
                tell(f"{name:<8}{sweep.name}: {sweep.over} {_listed(sweep.sizes)}")
                asked = _server(running, "serial", sweep.kernel)
                yield growth_stages.measure(asked, sweep, plan.rounds)
            for strategy in plan.choice.of(running.strategies()):
                yield from _strategy(plan, running, strategy, folder, tell)
    if "python" in plan.choice.services:
        yield _processes(plan, folder, tell)


def _strategy(
    plan: Plan, running: Service, strategy: str, folder: Path, tell: Tell
) -> Iterator[list[Series] | CellsFailed]:
    asked = _server(running, strategy, plan.dispatched.kernel)
    tasks, users = _listed(plan.dispatched.sizes), _listed(plan.users)
    tell(f"{running.name:<8}{strategy}: {tasks} tasks, {users} users")
    yield growth_stages.measure(asked, plan.dispatched, plan.rounds)
    client = Client(folder / "users.json", placement.allowed_cores()[-1], folder)
    try:
        yield growth_users.measure(asked, client, plan)
    except CellsFailed as failure:
        tell(f"FAILED  {failure}")
        yield failure


def _processes(plan: Plan, folder: Path, tell: Tell) -> list[Series]:
    """The pools of the Python service, with more and more processes in them."""
    tell(f"python  pools of {_listed(plan.processes)} processes")
    by_strategy: dict[str, list[list[float]]] = {}
    for count in plan.processes:
        place = folder / f"processes-{count}"
        with _started("python", place, {"RESTBENCH_PROCESSES": str(count)}) as running:
            for strategy in plan.choice.of(running.strategies()):
                asked = _server(running, strategy, plan.dispatched.kernel)
                shape = plan.dispatched.shapes[-1]
                taken_ms = growth_stages.dispatch_ms(asked, shape, plan.rounds)
                by_strategy.setdefault(strategy, []).append(taken_ms)
    return [
        growth_stages.over_processes(f"python {name}", plan.processes, by_count)
        for name, by_count in by_strategy.items()
    ]


@contextmanager
def _started(
    name: ServiceName, folder: Path, settings: dict[str, str] | None = None
) -> Iterator[Service]:
    started = service.start(name, "none", None, folder, settings=settings)
    try:
        yield started
    finally:
        started.stop()


def _server(running: Service, strategy: str, kernel: str) -> Server:
    url = f"{running.base_url}/matrix/{strategy}?kernel={kernel}"
    return Server(f"{running.name} {strategy}", url, running.processes[0])


def _listed(sizes: tuple[int, ...]) -> str:
    return ", ".join(map(str, sizes))
