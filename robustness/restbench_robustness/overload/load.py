"""Loads: requests at an even rate whatever the service does, or each when the last is answered."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from .exchange import Connection, Judged, Verdict
from .mix import Request

PAUSE_S = 0.05
"""In a closed load, after anything but a right answer: to ask again at once would be an attack."""
EXAMPLES = 5
"""Enough to see what went wrong without drowning in it."""
NEVER = (Verdict.WRONG, Verdict.HUNG)


@dataclass
class Outcome:
    """What became of all requests of a load; moments of the monotonic clock."""

    ends: list[Judged] = field(default_factory=list)
    held_back: int = 0
    """Arrivals of an open load that found no connection free."""
    late_s: float = 0.0
    """The longest that an arrival was noticed after it was due: the client's own fault."""
    began_s: float = field(default_factory=time.monotonic)
    last_sent_s: float = 0.0

    @property
    def counts(self) -> Counter[Verdict]:
        """Requests by verdict."""
        return Counter(end.verdict for end in self.ends)

    @property
    def sent_per_s(self) -> float:
        """Requests sent a second, over the time in which any were sent."""
        return len(self.ends) / max(self.last_sent_s - self.began_s, 1e-3)

    @property
    def offered_per_s(self) -> float:
        """Requests a second that were due, those that found every connection waiting included."""
        due = len(self.ends) + self.held_back
        return due / max(self.last_sent_s - self.began_s, 1e-3)

    def number_of(self, *verdicts: Verdict) -> int:
        """How many requests ended in one of these ways."""
        return sum(self.counts[verdict] for verdict in verdicts)

    def slowest_s(self) -> float:
        """The longest that one took."""
        return max((end.ended_s - end.began_s for end in self.ends), default=0.0)

    def back_after(self, moment_s: float) -> float | None:
        """Seconds from the moment to the first right answer since when all were right, or None."""
        back: float | None = None
        for end in sorted(self.ends, key=lambda end: end.began_s):
            if end.ended_s >= moment_s:
                is_right = end.verdict is Verdict.RIGHT
                back = (back or end.ended_s - moment_s) if is_right else None
        return back

    def sentence(self) -> str:
        """All counts, the slowest, and the first of those that are neither right nor refused."""
        counted = ", ".join(f"{number} {verdict}" for verdict, number in self.counts.most_common())
        bad = [end for end in self.ends if end.verdict not in (Verdict.RIGHT, Verdict.REFUSED)]
        shown = [f"{end.verdict}: {end.shown}" for end in bad[:EXAMPLES]]
        return "; ".join([f"{counted or 'none'}, the slowest in {self.slowest_s():.1f} s", *shown])


@dataclass(frozen=True)
class Load:
    """Who asks for what; `timeout_s` bounds each request."""

    address: tuple[str, int]
    path: str
    requests: Iterator[Request]
    connections: int
    timeout_s: float

    async def closed(self, goes_on: Callable[[], bool]) -> Outcome:
        """Each connection sends its next request when it has its answer."""
        outcome = Outcome()

        async def user() -> None:
            connection = Connection(self.address)
            while goes_on():
                if await self._one(connection, outcome) is not Verdict.RIGHT:
                    await asyncio.sleep(PAUSE_S)
            connection.close()

        await asyncio.gather(*(user() for _ in range(self.connections)))
        return outcome

    async def open(self, per_s: float, seconds: float) -> Outcome:
        """So many a second; one that finds no connection free is held back and counted."""
        outcome, under_way = Outcome(), set[asyncio.Task[None]]()
        idle = deque(Connection(self.address) for _ in range(self.connections))

        async def one(connection: Connection) -> None:
            await self._one(connection, outcome)
            idle.append(connection)

        due = 0
        while (elapsed_s := time.monotonic() - outcome.began_s) < seconds:
            outcome.late_s = max(outcome.late_s, elapsed_s - due / per_s)
            while due <= elapsed_s * per_s:
                due += 1
                if idle:
                    under_way.add(task := asyncio.create_task(one(idle.popleft())))
                    task.add_done_callback(under_way.discard)
                else:
                    outcome.held_back += 1
            await asyncio.sleep(0.001)
        await asyncio.gather(*under_way)
        for connection in idle:
            connection.close()
        return outcome

    async def _one(self, connection: Connection, outcome: Outcome) -> Verdict:
        request = next(self.requests)
        outcome.last_sent_s = time.monotonic()
        end = await connection.verdict(self.path, request, self.timeout_s)
        outcome.ends.append(end)
        return end.verdict
