"""The service under test behind its front: requests, its processes, and waiting for conditions."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil

from restbench.deploy import service
from restbench.deploy.service import Service
from restbench.experiment.cell import Front, ServiceName
from restbench.failures import EnvironmentProblem
from restbench.machine.process import family, is_alive

from ..services import in_flight
from .load import LOW, Kind, Outcome, Verdict, valid

IN_TIME_S = 5.0
"""Seconds within which a normal request must be answered, even while clients misbehave."""
PAUSE_S = 0.05
"""Seconds between two checks of a condition."""
PERIOD_S = 0.3
"""Seconds between two probes with normal requests."""
NORMAL = valid(LOW)
HEADERS = {"Content-Type": "application/json"}


@dataclass(frozen=True)
class End:
    """The result of one request. Moments are seconds of the monotonic clock."""

    verdict: Verdict
    began_s: float
    ended_s: float
    shown: str


@dataclass(frozen=True)
class Subject:
    """A running service and its front; requests go to the front."""

    service: Service
    health: dict[str, Any]

    @property
    def name(self) -> ServiceName:
        """`java` or `python`."""
        return self.service.name

    def limit(self, setting: str) -> int:
        """The value of a setting as /health reports it, in the unit that its name states."""
        return int(self.health["settings"][setting])

    def everyone(self) -> list[psutil.Process]:
        """All current processes of the service, including zombies."""
        return family(self.service.processes[0].pid)

    def names(self) -> dict[int, str]:
        """Kernel names of the service's running processes, by pid; without zombies."""
        found = {}
        for each in filter(is_alive, self.everyone()):
            with contextlib.suppress(psutil.NoSuchProcess):
                found[each.pid] = str(each.name())
        return found

    def zombies(self) -> int:
        """Number of zombies: processes that have ended and have not been waited for."""
        return sum(each.is_running() and not is_alive(each) for each in self.everyone())

    async def in_flight(self) -> float:
        """Requests in flight (`services.in_flight`); infinite where the service does not answer."""
        try:
            return await asyncio.to_thread(in_flight, self.service)
        except EnvironmentProblem:
            return float("inf")

    async def hears_of_at_most(self, number: int) -> bool:
        """Whether the service counts at most `number` requests in flight."""
        return await self.in_flight() <= number

    async def ask(
        self,
        strategy: str,
        kind: Kind,
        number: int,
        timeout_s: float,
        kept: httpx.AsyncClient | None = None,
    ) -> End:
        """Send a request on a new connection, or by the client `kept`, and judge the result."""
        began = time.monotonic()
        url = f"{self.service.base_url}/matrix/{strategy}{kind.query}"
        async with contextlib.nullcontext(kept) if kept else new_client(timeout_s) as client:
            try:
                async with asyncio.timeout(timeout_s):
                    answer = await client.post(url, content=kind.body(number), headers=HEADERS)
                verdict = kind.judge(number, answer)
                shown = f"{answer.status_code} {answer.content[:100]!r}"
            except (TimeoutError, httpx.TimeoutException):
                verdict, shown = Verdict.HUNG, "no whole answer"
            except httpx.RemoteProtocolError as error:
                closed = "disconnected" in str(error) or "closed" in str(error)
                verdict, shown = Verdict.LOST if closed else Verdict.WRONG, repr(error)
            except httpx.HTTPError as error:
                verdict, shown = Verdict.LOST, repr(error)
        return End(verdict, began, time.monotonic(), shown)

    async def normal(self, strategy: str, number: int = 1) -> End:
        """Send one normal request (complexity low, time limit IN_TIME_S) and judge the result."""
        return await self.ask(strategy, NORMAL, number, IN_TIME_S)

    async def probed(
        self, strategy: str, goes_on: Callable[[], bool], timeout_s: float | None = None
    ) -> list[End]:
        """Send a normal request every PERIOD_S while `goes_on`, without waiting for the answers."""
        asked: list[asyncio.Task[End]] = []
        async with asyncio.TaskGroup() as tasks:
            for number in itertools.count(1):
                if not goes_on():
                    break
                request = self.ask(strategy, NORMAL, number, timeout_s or IN_TIME_S)
                asked.append(tasks.create_task(request))
                await asyncio.sleep(PERIOD_S)
        return [each.result() for each in asked]


def new_client(timeout_s: float) -> httpx.AsyncClient:
    """A client with connections of its own; it loads no certificates, which would take time."""
    return httpx.AsyncClient(timeout=timeout_s, trust_env=False, verify=False)  # noqa: S501


def summed(ends: list[End]) -> Outcome:
    """The summary of single requests."""
    took = [end.ended_s - end.began_s for end in ends] or [0.0]
    bad = [end for end in ends if end.verdict not in (Verdict.RIGHT, Verdict.REFUSED)]
    shown = [f"{end.verdict}: {end.shown}" for end in bad[:5]]
    return Outcome(Counter(end.verdict for end in ends), max(sum(took), 1e-9), max(took), shown)


def back_after(moment_s: float, ends: list[End]) -> float | None:
    """Seconds from a moment to the first right answer after which all are right, or None."""
    back: float | None = None
    for end in sorted(ends, key=lambda end: end.began_s):
        if end.ended_s >= moment_s:
            is_right = end.verdict is Verdict.RIGHT
            back = (back or end.ended_s - moment_s) if is_right else None
    return back


def until(seconds: float) -> Callable[[], bool]:
    """A function that is true until so many seconds from now have passed."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() < end


@contextmanager
def started(
    name: ServiceName, front: Front, folder: Path, settings: Mapping[str, str] | None = None
) -> Iterator[Subject]:
    """A fresh service behind a front; `settings` are variables of its environment."""
    # The default of the service: the harness would set a shorter stop timeout.
    own = {"RESTBENCH_STOP_TIMEOUT_SECONDS": "30", **(settings or {})}
    with service.start(name, front, None, folder, protected=True, settings=own) as running:
        yield Subject(running, running.health())


async def seconds_until(condition: Callable[[], Any], timeout_s: float) -> float | None:
    """Wait until a condition, perhaps a coroutine, holds. Returns the seconds, None at timeout."""
    began = time.monotonic()
    while True:
        held = condition()
        if await held if asyncio.iscoroutine(held) else held:
            return time.monotonic() - began
        if time.monotonic() - began >= timeout_s:
            return None
        await asyncio.sleep(PAUSE_S)
