"""Batches of calls as levels of complexity, and the table [calls] of an experiment of them.

`java-rest-task-pool-100ms` is a batch by the Java client over REST whose service takes 100 ms to
answer, `…-of-16` one of 16 calls; `…-document-0ms` decodes one large answer at a time. The users of
a cell are the client's threads, its strategy is the service's.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Literal, cast

from pydantic import Field

from restbench.experiment.level import ShapeEntry
from restbench.experiment.selection import Positive, Strict

Client = Literal["java", "python"]
#: By client; `pipeline` needs four threads, `pipeline-async` three.
OFFERED: dict[Client, tuple[str, ...]] = {
    "java": (
        "sequential",
        "task-pool",
        "pipeline",
        "pipeline-async",
        "async",
        "virtual-threads",
        "adaptive",
        "document",
    ),
    "python": ("sequential", "task-pool", "async"),
}
FEWEST_THREADS = {"pipeline": 4, "pipeline-async": 3}
TRANSPORTS: dict[Client, tuple[str, ...]] = {"java": ("rest", "soap"), "python": ("rest", "zeep")}
MOST_THREADS = 1024
_LEVEL = re.compile(r"(java|python)-(rest|soap|zeep)-([a-z-]+?)-(\d+)ms(?:-of-(\d+))?")


@dataclass(frozen=True)
class CallWork:
    """What a batch is: `calls` is given where it is not the profile's number."""

    client: Client
    transport: str
    strategy: str
    delay_ms: int
    calls: int | None = None

    @property
    def program(self) -> tuple[Client, str]:
        """Which needs a client process of its own."""
        return self.client, self.transport


def work_of(level: str) -> CallWork:
    """The batch of a level; ValueError where it is none."""
    found = _LEVEL.fullmatch(level)
    client = cast(Client, found[1]) if found else "java"
    if found is None or found[3] not in OFFERED[client] or found[2] not in TRANSPORTS[client]:
        raise ValueError(f"'{level}' is no batch of calls, such as java-rest-task-pool-100ms")
    return CallWork(client, found[2], found[3], int(found[4]), int(found[5]) if found[5] else None)


class Calls(Strict):
    """The table [calls]."""

    delays_ms: Annotated[tuple[int, ...], Field(min_length=1)]
    """The response times of the service beyond its work."""
    sizes: tuple[Positive, ...] = ()
    """Further numbers of calls in a batch."""
    payload: ShapeEntry
    document: ShapeEntry
    """Of the large answers."""
    number: dict[str, dict[int, Positive]]
    """By profile and delay: calls of a batch; of a delay that is not there NUMBER."""
    scaled_from_ms: Positive
    """From this delay on, calls in turn are 10, and their time is scaled."""
    truly: tuple[str, ...] = ()
    """The profiles that make them all, once, in the first block, over REST."""

    def levels(self) -> tuple[str, ...]:
        """Every level there is."""
        sizes = ("", *(f"-of-{each}" for each in self.sizes))
        return tuple(
            f"{client}-{transport}-{strategy}-{delay}ms{size}"
            for client, strategies in OFFERED.items()
            for transport, strategy, delay, size in itertools.product(
                TRANSPORTS[client], strategies, self.delays_ms, sizes
            )
        )

    def calls(self, profile: str, work: CallWork) -> int:
        """In a batch of a profile."""
        if work.strategy == "document":
            return DOCUMENTS
        return work.calls or self.number.get(profile, {}).get(work.delay_ms, NUMBER)

    def made(self, profile: str, block: int, work: CallWork) -> int:
        """Of them, those that are made: calls in turn take each as long as the other."""
        is_scaled = work.strategy == "sequential" and work.delay_ms >= self.scaled_from_ms
        is_true = profile in self.truly and block == 1 and work.transport == "rest"
        calls = self.calls(profile, work)
        return min(calls, SCALED) if is_scaled and not is_true else calls

    def require_threads(self, cells: Iterable[tuple[str, int]]) -> None:
        """ValueError where a level has too few threads, or too many."""
        for level, threads in cells:
            fewest = FEWEST_THREADS.get(work_of(level).strategy, 1)
            if not fewest <= threads <= MOST_THREADS:
                raise ValueError(
                    f"cells: users: '{level}' needs {fewest} to {MOST_THREADS} threads"
                )


#: Calls of a batch, of one in turn whose time is scaled, and of large documents.
NUMBER, SCALED, DOCUMENTS = 100, 10, 5
