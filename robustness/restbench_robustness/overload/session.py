"""Which scenarios a service goes through, each on a fresh one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from restbench.cell import ServiceName
from restbench.failures import BadConfiguration
from restbench_robustness.overload.flood import Force, overloaded
from restbench_robustness.overload.kills import Killing, pool_killed, worker_killed
from restbench_robustness.overload.promises import Findings
from restbench_robustness.overload.restarts import restarted
from restbench_robustness.overload.slow_clients import HARDSHIPS, beyond_limit, endured
from restbench_robustness.overload.stops import STOPS, stopped
from restbench_robustness.overload.under_test import started

#: So that a person need not wait for the defaults, which are made for slow but honest clients.
SHORT_TIMEOUTS = {
    "RESTBENCH_RECEIVE_TIMEOUT_SECONDS": "3",
    "RESTBENCH_SEND_TIMEOUT_SECONDS": "3",
    "RESTBENCH_KEEP_ALIVE_SECONDS": "5",
}
#: Where the stages of a request run differently enough to free things differently.
SLOW = {"java": ("serial", "pinned", "pipeline"), "python": ("serial", "process-per-request")}
POOLS = {"process-per-request": "restbench-PR", "process-per-element": "restbench-PE"}
STOPPED = {"java": ("thread-pool", "pinned"), "python": ("serial", "process-per-request")}
RESTARTED: dict[ServiceName, str] = {"java": "pinned", "python": "process-per-request"}
LIVES = 3


@dataclass(frozen=True)
class Wanted:
    """What to look at. `strategy` is a name or `all`."""

    service: ServiceName
    strategy: str
    force: Force
    killing: Killing
    folder: Path


Scenario = Callable[[Wanted], Iterator[Findings]]


def flood(wanted: Wanted) -> Iterator[Findings]:
    """Ten times the capacity under each strategy."""
    for number, strategy in enumerate(_strategies(wanted)):
        with started(wanted.service, wanted.folder / f"flood-{number}") as under:
            yield overloaded(under, strategy, wanted.force)


def slow(wanted: Wanted) -> Iterator[Findings]:
    """Slow, silent and vanished clients."""
    with started(wanted.service, wanted.folder / "slow", SHORT_TIMEOUTS) as under:
        for strategy in SLOW[wanted.service]:
            if wanted.strategy in ("all", strategy):
                yield endured(under, strategy, (*HARDSHIPS, beyond_limit(under)))


def kill(wanted: Wanted) -> Iterator[Findings]:
    """kill -9 of pool processes, of gunicorn's worker, of the whole service."""
    folder, killing = wanted.folder / "kill", wanted.killing
    if wanted.service == "python":
        with started("python", folder) as under:
            for strategy, prefix in POOLS.items():
                yield pool_killed(under, strategy, prefix, killing)
            yield worker_killed(under, "serial", killing)
    few = replace(killing, kills=min(LIVES, killing.kills))
    yield restarted(wanted.service, RESTARTED[wanted.service], few, folder)


def stop(wanted: Wanted) -> Iterator[Findings]:
    """Signals that end a service in order."""
    for strategy in STOPPED[wanted.service]:
        for number, each in enumerate(STOPS):
            folder = wanted.folder / f"stop-{strategy}-{number}"
            with started(wanted.service, folder) as under:
                yield stopped(under, strategy, each)


SCENARIOS: dict[str, Scenario] = {"flood": flood, "slow": slow, "kill": kill, "stop": stop}


def _strategies(wanted: Wanted) -> list[str]:
    with started(wanted.service, wanted.folder / "asked") as under:
        offered = under.service.strategies()
    if wanted.strategy == "all":
        return offered
    if wanted.strategy not in offered:
        raise BadConfiguration(
            f"{wanted.service} has no strategy {wanted.strategy}: {', '.join(offered)}, all"
        )
    return [wanted.strategy]
