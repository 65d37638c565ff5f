"""The service under test behind nginx, what its kernel sees of it, and waiting for things."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from restbench.deploy import service
from restbench.deploy.service import Service
from restbench.experiment.cell import ServiceName
from restbench.failures import EnvironmentProblem
from restbench.machine import process

from .exchange import Connection, Judged, Verdict
from .load import Outcome
from .mix import LOW, Request, valid

IN_TIME_S = 5.0
"""A normal request is answered within this, even where clients misbehave meanwhile."""
PAUSE_S = 0.05
PERIOD_S = 0.3
_NORMAL = valid("normal", LOW)


@dataclass(frozen=True)
class Subject:
    """A running service and its front; requests go to the front."""

    service: Service
    folder: Path
    """Its logs."""
    health: dict[str, Any]

    @property
    def name(self) -> ServiceName:
        """`java` or `python`."""
        return self.service.name

    @property
    def address(self) -> tuple[str, int]:
        """Where clients connect."""
        return self.service.address

    @property
    def root_pid(self) -> int:
        """The process that was started; the service's others descend from it."""
        return self.service.processes[0].pid

    def limit(self, setting: str) -> int:
        """A setting as /health shows it, in its unit."""
        shown = self.health["settings"]
        if setting not in shown:
            raise EnvironmentProblem(f"the {self.name} service's /health shows no {setting}")
        return int(shown[setting])

    def names(self) -> dict[int, str]:
        """The kernel's name of each living process of the service, by its pid."""
        statuses = {pid: _status(pid) for pid in process.tree(self.root_pid)}
        return {pid: it["Name"] for pid, it in statuses.items() if it.get("State", "Z")[0] != "Z"}

    def zombies(self) -> int:
        """Processes that have ended and that nobody has waited for."""
        return sum(_status(pid).get("State", "")[:1] == "Z" for pid in process.tree(self.root_pid))

    def everyone(self) -> list[psutil.Process]:
        """All processes of the service now."""
        return [psutil.Process(pid) for pid in process.tree(self.root_pid)]

    async def in_flight(self) -> float:
        """Requests in flight, as the service itself counts them; endless where it does not say."""
        try:
            text = (await asyncio.to_thread(self.service.get, "/metrics")).text
        except EnvironmentProblem:
            return float("inf")
        found = re.search(r"^restbench_requests_in_flight (\S+)$", text, re.MULTILINE)
        return float(found[1]) if found else float("inf")

    async def ask(self, strategy: str, request: Request, timeout_s: float) -> Judged:
        """What becomes of a request on a new connection."""
        connection = Connection(self.address)
        try:
            return await connection.verdict(f"/matrix/{strategy}", request, timeout_s)
        finally:
            connection.close()

    async def normal(self, strategy: str, number: int = 1) -> Verdict:
        """What becomes of one normal request: low, right, in time."""
        return (await self.ask(strategy, _NORMAL.request(number), IN_TIME_S)).verdict

    async def probed(
        self, strategy: str, goes_on: Callable[[], bool], timeout_s: float | None = None
    ) -> Outcome:
        """What becomes of normal requests, one every PERIOD_S, answered or not."""
        outcome = Outcome()

        async def one(number: int) -> None:
            request = _NORMAL.request(number)
            outcome.ends.append(await self.ask(strategy, request, timeout_s or IN_TIME_S))

        async with asyncio.TaskGroup() as tasks:
            for number in itertools.count(1):
                if not goes_on():
                    return outcome
                tasks.create_task(one(number))
                await asyncio.sleep(PERIOD_S)
        return outcome


@contextmanager
def started(
    name: ServiceName, folder: Path, settings: Mapping[str, str] | None = None
) -> Iterator[Subject]:
    """A fresh service behind nginx; `settings` are variables of its environment."""
    folder.mkdir(parents=True, exist_ok=True)
    running = service.start(name, "nginx", None, folder, protected=True, settings=settings)
    try:
        yield Subject(running, folder, running.health())
    finally:
        running.stop()


async def seconds_until(condition: Callable[[], Any], timeout_s: float) -> float | None:
    """How long until the condition held, awaited where it is a coroutine; None: it never did."""
    began = time.monotonic()
    while True:
        held = condition()
        if await held if asyncio.iscoroutine(held) else held:
            return time.monotonic() - began
        if time.monotonic() - began >= timeout_s:
            return None
        await asyncio.sleep(PAUSE_S)


def lives(each: psutil.Process) -> bool:
    """False for a zombie as well: it has let go of everything."""
    try:
        return bool(each.is_running() and each.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _status(pid: int) -> dict[str, str]:
    with contextlib.suppress(OSError):
        text = Path(f"/proc/{pid}/status").read_text()
        pairs = (line.partition(":") for line in text.splitlines())
        return {name: value.strip() for name, _, value in pairs}
    return {}
