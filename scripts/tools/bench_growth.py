"""`bench-growth`: does anything take more for a larger size than it should? Both services, asked
with sizes that double."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Annotated

import typer
from rich.console import Group

from restbench import cli
from restbench.analyse.warnings import FOREIGN_LIMIT_PCT
from restbench.commands.options import console
from restbench.deploy import service
from restbench.deploy.service import Service
from restbench.drive import wrk
from restbench.drive.wrk import Client
from restbench.failures import CellsFailed, Regression
from restbench.machine import machine, machine_cpu, machine_lock, placement, watch
from restbench.show.document import Column, number, table
from restbench.show.progress import duration
from restbench.show.terminal import drawn
from tools import growth_series
from tools.growth_fit import TOLERANCE, Fit, Series, fit
from tools.growth_plan import Plan, plan_of
from tools.limit_servers import Server
from tools.service_choice import OnlyServiceOption, OnlyStrategiesOption

READING = (
    "Over: the sizes that were fitted, without those too fast for the clock. First, last: the "
    "least value at the ends, in ms. Exponent b of value = a * size^b: "
    "least squares on logarithms in each round, 95 % t interval over rounds. It grows faster where "
    f"the whole interval is above the allowed exponent by more than {TOLERANCE:g}: caches that "
    "end, not algorithms, stay below that."
)
#: `Server-Timing` tells microseconds: below so many of its steps a time is no number to divide by.
SMALLEST_MS = 0.02

Tell = Callable[[str], None]


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
    failures: list[str] = field(default_factory=list)
    foreign_pct: list[float] = field(default_factory=list)

    def look(self, running: Service) -> None:
        """See what others do while nothing of ours should be at work."""
        self.foreign_pct.append(machine_cpu.look(running.pids()))

    @contextmanager
    def part(self) -> Iterator[None]:
        """A part of the measurement: where it cannot be measured, the others have their turn."""
        try:
            yield
        except CellsFailed as failure:
            self.tell(f"FAILED  {failure}")
            self.failures.append(str(failure))


def measure(plan: Plan, tell: Tell) -> Growth:
    """Every series of the plan with its exponent; `tell` gets a line for each step.

    No process is left. WrongAnswers, EnvironmentProblem.
    """
    machine_lock.take()
    wrk.require()
    watch.end_leftovers()
    work = _Work(plan, watch.begin(), tell)
    series = list(_series(work))
    return Growth(
        tuple(fit(each, SMALLEST_MS if each.over != "users" else 0.0) for each in series),
        tuple(work.failures),
        median(work.foreign_pct),
    )


def _series(work: _Work) -> Iterator[Series]:
    plan = work.plan
    for name in plan.choice.services:
        with service.start(name, "none", None, work.folder / name) as running:
            for sweep in plan.sweeps[name]:
                work.tell(f"{name:<8}{sweep.name}: {sweep.over} {_listed(sweep.sizes)}")
                asked = _server(running, "serial", sweep.kernel)
                with work.part():
                    yield from growth_series.of_stages(asked, sweep, plan.rounds)
            for strategy in plan.choice.of(running.strategies()):
                work.look(running)
                yield from _strategy(work, running, strategy)
    if "python" in plan.choice.services:
        yield from _processes(work)


def _strategy(work: _Work, running: Service, strategy: str) -> Iterator[Series]:
    plan = work.plan
    asked = _server(running, strategy, plan.dispatched.kernel)
    tasks, users = _listed(plan.dispatched.sizes), _listed(plan.users)
    work.tell(f"{running.name:<8}{strategy}: {tasks} tasks, {users} users")
    with work.part():
        yield from growth_series.of_stages(asked, plan.dispatched, plan.rounds)
    client = Client(work.folder / "users.json", 1, str(placement.allowed_cores()[-1]))
    with work.part():
        yield from growth_series.of_users(asked, client, plan)


def _processes(work: _Work) -> Iterator[Series]:
    """The pools of the Python service, with more and more processes in them."""
    plan = work.plan
    work.tell(f"python  pools of {_listed(plan.processes)} processes")
    by_strategy: dict[str, list[list[float]]] = {}
    for count in plan.processes:
        place = work.folder / f"processes-{count}"
        settings = {"RESTBENCH_PROCESSES": str(count)}
        with service.start("python", "none", None, place, settings=settings) as running:
            for strategy in plan.choice.of(running.strategies()):
                asked = _server(running, strategy, plan.dispatched.kernel)
                shape = plan.dispatched.shapes[-1]
                with work.part():
                    taken_ms = growth_series.dispatch_ms(asked, shape, plan.rounds)
                    by_strategy.setdefault(strategy, []).append(taken_ms)
    for name, by_count in by_strategy.items():
        if len(by_count) == len(plan.processes):
            yield growth_series.over_processes(f"python {name}", plan.processes, by_count)


def _server(running: Service, strategy: str, kernel: str) -> Server:
    url = f"{running.base_url}/matrix/{strategy}?kernel={kernel}"
    return Server(f"{running.name} {strategy}", url, running.processes[0])


def _listed(sizes: tuple[int, ...]) -> str:
    return ", ".join(map(str, sizes))


def bench_growth(
    profile: Annotated[str, typer.Option(metavar="NAME", help="quick, or smoke.")] = "quick",
    only: OnlyServiceOption = "",
    strategies: OnlyStrategiesOption = "",
) -> None:
    """See how time grows with the sizes."""
    begun = time.monotonic()
    found = measure(
        plan_of(profile, only, strategies), lambda line: console.print(line, soft_wrap=True)
    )
    console.print(_tables(found.fits))
    console.print(READING)
    console.print(f"Others used {found.foreign_pct:.0f} % of the machine (median of looks).")
    console.print(machine.one_line(machine.describe()), soft_wrap=True)
    console.print(f"done in {duration(time.monotonic() - begun)}")
    judge(found)


def judge(found: Growth) -> None:
    """CellsFailed where something was not measured, else Regression where it grows too fast."""
    if found.failures:
        raise CellsFailed(f"not measured: {'; '.join(found.failures)}")
    faster = [each for each in found.fits if each.verdict == "grows faster"]
    if faster:
        series = [each.series for each in faster]
        subjects = "; ".join(f"{each.server}: {each.what} ({each.over})" for each in series)
        raise Regression(
            f"{len(faster)} of {len(found.fits)} grow faster than they should: {subjects}."
            f"{_busy(found)}"
        )


def _busy(found: Growth) -> str:
    """What to know of exponents from a machine that others used as well."""
    if found.foreign_pct <= FOREIGN_LIMIT_PCT:
        return ""
    return (
        f" Not to be believed: others used {found.foreign_pct:.0f} % of the machine, and a long "
        "request is interrupted oftener than a short one; measure again when it is quiet."
    )


def _tables(found: Sequence[Fit]) -> Group:
    """A table of each service and strategy."""
    servers = dict.fromkeys(each.series.server for each in found)
    by_server = {name: [each for each in found if each.series.server == name] for name in servers}
    return Group(*(drawn(table(name, _COLUMNS, fits)) for name, fits in by_server.items()))


def _least_ms(fit: Fit, end: int) -> str:
    """Of all rounds, at one end of the sizes."""
    return f"{min(values[end] for values in fit.series.rounds):.3g}"


def _exponent(fit: Fit) -> str:
    found = fit.exponent
    return "" if found is None else f"{found.mean:.2f} ± {found.half_width:.2f}"


_COLUMNS: Sequence[Column[Fit]] = (
    Column("What", lambda fit: fit.series.what),
    Column("Over", lambda fit: f"{fit.series.over} {fit.series.sizes[0]}-{fit.series.sizes[-1]}"),
    number("First", lambda fit: _least_ms(fit, 0)),
    number("Last", lambda fit: _least_ms(fit, -1)),
    number("Exponent", _exponent),
    number("Allowed", lambda fit: f"{fit.series.expected:g}"),
    Column("", lambda fit: fit.verdict),
)


if __name__ == "__main__":
    cli.main(cli.single_command_app(bench_growth))
