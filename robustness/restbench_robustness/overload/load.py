"""A load in a process of its own: `python -m restbench_robustness.overload.load PLAN OUTCOME`.

Open: requests are due at an even rate, whatever the service does; one that finds no connection free
is held back and counted. Closed: each connection sends its next request when it has its answer.
Every answer is judged. SIGTERM ends the sending; answers still due are waited for, in bounded time.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import resource
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from restbench_robustness.overload.answers import Verdict
from restbench_robustness.overload.connection import Connection, LostError, NotHttpError
from restbench_robustness.overload.mix import WORK, Request, draw, overload_mix, work_mix
from restbench_robustness.overload.outcome import Outcome

#: In a closed load, after a refusal or a lost connection: to ask again at once would be an attack.
PAUSE_S = 0.05
#: So many connect at a time: a burst of all would measure the kernel's queue of new connections.
CONNECT_AT_ONCE = 50
#: Where it is allowed: beside hundreds of a service's threads one that only sends hardly ever runs.
PRIORITY = -15
MIXES = {"overload": overload_mix, "work": work_mix}


@dataclass(frozen=True)
class Plan:
    """A load. `per_s` is None for a closed one."""

    host: str
    port: int
    path: str
    connections: int
    seconds: float
    timeout_s: float
    """For one request, from its first byte sent to the last received."""
    mix: str
    work: int
    """Which of the shapes in mix.WORK."""
    seed: int
    per_s: float | None = None

    def write(self, path: Path) -> None:
        """For the process that carries it out."""
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")


def read_plan(path: Path) -> Plan:
    """What `Plan.write` wrote."""
    return Plan(**json.loads(path.read_text(encoding="utf-8")))


class Load:
    """Carries a plan out, once."""

    def __init__(self, plan: Plan) -> None:
        """Makes the bodies: seconds for the larger shapes."""
        self._plan = plan
        self._requests: Iterator[Request] = draw(MIXES[plan.mix](WORK[plan.work]), plan.seed)
        self._outcome = Outcome()
        self._stop = asyncio.Event()
        address = (plan.host, plan.port)
        self._idle = deque(Connection(address) for _ in range(plan.connections))
        self._under_way: set[asyncio.Task[None]] = set()

    async def run(self, begun: Callable[[], object]) -> Outcome:
        """Send, wait for what is due, tell; `begun` is called when all are connected."""
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self._stop.set)
        await self._connect()
        begun()
        self._outcome.began_s = time.monotonic()
        await (self._send_closed() if self._plan.per_s is None else self._send_open())
        await asyncio.gather(*self._under_way)
        for connection in self._idle:
            connection.close()
        return self._outcome

    async def _connect(self) -> None:
        """A service that takes no connection is found by the first request, which is then lost."""
        everyone = list(self._idle)
        for start in range(0, len(everyone), CONNECT_AT_ONCE):
            opening = (each.open() for each in everyone[start : start + CONNECT_AT_ONCE])
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._plan.timeout_s):
                    await asyncio.gather(*opening, return_exceptions=True)

    async def _send_open(self) -> None:
        assert self._plan.per_s is not None  # noqa: S101 - for the type checker
        due = 0
        while self._goes_on():
            elapsed_s = time.monotonic() - self._outcome.began_s
            late_s = elapsed_s - due / self._plan.per_s
            self._outcome.late_s = max(self._outcome.late_s, late_s)
            while due <= elapsed_s * self._plan.per_s:
                due += 1
                self._arrive()
            await asyncio.sleep(0.001)

    def _arrive(self) -> None:
        if not self._idle:
            self._outcome.held_back += 1
            return
        task = asyncio.create_task(self._turn(self._idle.popleft()))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def _turn(self, connection: Connection) -> None:
        await self._one(connection)
        self._idle.append(connection)

    async def _send_closed(self) -> None:
        await asyncio.gather(*(self._user(each) for each in self._idle))

    async def _user(self, connection: Connection) -> None:
        while self._goes_on():
            if await self._one(connection) in (Verdict.REFUSED, Verdict.LOST):
                await asyncio.sleep(PAUSE_S)

    def _goes_on(self) -> bool:
        elapsed_s = time.monotonic() - self._outcome.began_s
        return elapsed_s < self._plan.seconds and not self._stop.is_set()

    async def _one(self, connection: Connection) -> Verdict:
        request = next(self._requests)
        head = (
            f"POST {self._plan.path}{request.query} HTTP/1.1\r\nHost: {self._plan.host}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(request.body)}\r\n\r\n"
        )
        began = self._outcome.last_sent_s = time.monotonic()
        verdict, said = await self._judged(connection, head.encode() + request.body, request)
        self._outcome.last_answer_s = time.monotonic()
        self._outcome.note(request, verdict, self._outcome.last_answer_s - began, said)
        return verdict

    async def _judged(
        self, connection: Connection, message: bytes, request: Request
    ) -> tuple[Verdict, str]:
        try:
            async with asyncio.timeout(self._plan.timeout_s):
                answer = await connection.exchange(message)
        except TimeoutError:
            return Verdict.HUNG, "no whole answer"
        except LostError as error:
            return Verdict.LOST, str(error)
        except NotHttpError as error:
            return Verdict.WRONG, str(error)
        return request.right(answer), f"{answer.status} {answer.body[:100]!r}"


def main(plan: Path, outcome: Path) -> None:
    """Carry a plan out and write what came of it."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, PRIORITY)
    load = Load(read_plan(plan))
    asyncio.run(load.run(begun_file(outcome).touch)).write(outcome)


def begun_file(outcome: Path) -> Path:
    """Is there from when the load has begun to send."""
    return outcome.with_suffix(".begun")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
