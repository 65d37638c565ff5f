"""Batches of calls as levels of complexity, and the table [calls] of an experiment of them.

`java-rest-task-pool-100ms` is a batch by the Java client over REST whose service takes 100 ms to
answer, `…-of-16` one of 16 calls; `…-document-0ms` decodes one large answer at a time, `…-of-400`
one of 400 rows. The users of a cell are the client's threads, its strategy is the service's.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import Annotated, Literal, cast

from pydantic import Field, field_validator

from restbench.experiment.cell import Shape
from restbench.experiment.drivers import Demand, DriverTable
from restbench.experiment.selection import NotNegative, Positive, is_any

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
TRANSPORTS: dict[Client, tuple[str, ...]] = {"java": ("rest", "soap"), "python": ("rest", "zeep")}
_FEWEST_THREADS = {"pipeline": 4, "pipeline-async": 3}
_MOST_THREADS = 1024
_LEVEL = re.compile(r"(java|python)-(rest|soap|zeep)-([a-z-]+?)-(\d+)ms(?:-of-(\d+))?")


@dataclass(frozen=True)
class CallWork:
    """What a batch is."""

    client: Client
    transport: str
    strategy: str
    delay_ms: int
    size: int | None = None
    """Its calls, where they are not the profile's number; of a document its rows."""

    @property
    def program(self) -> tuple[Client, str]:
        """Which needs a client process of its own."""
        return self.client, self.transport

    @property
    def level(self) -> str:
        """Its name as a level of a cell's complexity."""
        size = "" if self.size is None else f"-of-{self.size}"
        return f"{self.client}-{self.transport}-{self.strategy}-{self.delay_ms}ms{size}"


def work_of(level: str) -> CallWork:
    """The batch of a level; ValueError where it is none."""
    found = _LEVEL.fullmatch(level)
    client = cast(Client, found[1]) if found else "java"
    if found is None or found[3] not in OFFERED[client] or found[2] not in TRANSPORTS[client]:
        raise ValueError(f"'{level}' is no batch of calls, such as java-rest-task-pool-100ms")
    return CallWork(client, found[2], found[3], int(found[4]), int(found[5]) if found[5] else None)


def lacking(strategy: str, threads: int) -> str | None:
    """What a client's strategy needs, where these threads are too few or too many."""
    fewest = _FEWEST_THREADS.get(strategy, 1)
    fits = fewest <= threads <= _MOST_THREADS
    return None if fits else f"needs {fewest} to {_MOST_THREADS} threads"


class Calls(DriverTable):
    """The table [calls]."""

    delays_ms: Annotated[tuple[NotNegative, ...], Field(min_length=1)]
    """The response times of the service beyond its work."""
    sizes: tuple[Positive, ...] = ()
    """Further numbers of calls in a batch; of a document, of its rows."""
    payload: Shape
    document: Shape
    """Of the large answers."""
    number: dict[str, dict[str, Positive]]
    """Calls of a batch by profile and level, in which `*` stands for anything: of the first that
    fits, else NUMBER."""
    scaled_from_ms: Positive
    """From this delay on, calls in turn are 10, and their time is scaled."""
    truly: dict[str, list[str]] = Field(default_factory=dict)
    """By profile the levels that make them all, in the first block. Earlier runs name the profiles
    alone, for all levels over REST."""

    @field_validator("truly", mode="before")
    @classmethod
    def _of_earlier_runs(cls, given: object) -> object:
        return {name: ["*-rest-*"] for name in given} if isinstance(given, list) else given

    def levels(self) -> tuple[str, ...]:
        """Every level there is."""
        return tuple(
            CallWork(client, transport, strategy, delay, size).level
            for client, strategies in OFFERED.items()
            for transport, strategy, delay, size in itertools.product(
                TRANSPORTS[client], strategies, self.delays_ms, (None, *self.sizes)
            )
        )

    def shape(self, work: CallWork) -> Shape:
        """The operands of a batch's requests."""
        if work.strategy != "document":
            return self.payload
        return self.document.model_copy(update={"rows": work.size} if work.size else {})

    def calls(self, profile: str, work: CallWork) -> int:
        """In a batch of a profile."""
        if work.strategy == "document":
            return DOCUMENTS
        numbers = self.number.get(profile, {}).items()
        fitting = (calls for level, calls in numbers if is_any(work.level, [level]))
        return work.size or next(fitting, NUMBER)

    def made(self, profile: str, block: int, work: CallWork) -> int:
        """Of them, those that are made: calls in turn take each as long as the other."""
        is_scaled = work.strategy == "sequential" and work.delay_ms >= self.scaled_from_ms
        is_true = block == 1 and is_any(work.level, self.truly.get(profile, []))
        calls = self.calls(profile, work)
        return min(calls, SCALED) if is_scaled and not is_true else calls

    def require(self, asked: Demand) -> None:
        """ValueError where a level has too few threads, or too many."""
        for cell in asked.cells:
            if lack := lacking(work_of(cell.complexity).strategy, cell.users):
                raise ValueError(f"cells: users: '{cell.complexity}' {lack}")


#: Calls of a batch, of one in turn whose time is scaled, and of large documents.
NUMBER, SCALED, DOCUMENTS = 100, 10, 5
