"""Batches of calls as levels of complexity, and the table [calls] of an experiment of them.

`java-rest-task-pool-100ms` is a batch by the Java client over REST whose service takes 100 ms to
answer, `…-of-16` such a batch of 16 calls. `…-document-0ms` decodes one large answer at a time,
`…-of-400` answers of 400 rows. The users of a cell are the client's threads; the strategy of a cell
is the service's.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import Annotated, Literal, cast

from pydantic import Field

from restbench.experiment.cell import Shape
from restbench.experiment.drivers import Demand, DriverTable
from restbench.experiment.selection import NotNegative, Positive, is_any

Client = Literal["java", "python"]
#: The strategies that each client offers; `pipeline` needs four threads, `pipeline-async` three.
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
    """The kind of a batch of calls."""

    client: Client
    transport: str
    strategy: str
    delay_ms: int
    size: int | None = None
    """The number of calls; None: the profile's number. For `document` the number of rows."""

    @property
    def program(self) -> tuple[Client, str]:
        """The client and the transport, which together need a client process of their own."""
        return self.client, self.transport

    @property
    def level(self) -> str:
        """The name of the batch as a level of a cell's complexity."""
        size = "" if self.size is None else f"-of-{self.size}"
        return f"{self.client}-{self.transport}-{self.strategy}-{self.delay_ms}ms{size}"


def work_of(level: str) -> CallWork:
    """The batch of a level. Raises ValueError where the level is not a batch of calls."""
    found = _LEVEL.fullmatch(level)
    client = cast(Client, found[1]) if found else "java"
    if found is None or found[3] not in OFFERED[client] or found[2] not in TRANSPORTS[client]:
        raise ValueError(f"'{level}' is no batch of calls, such as java-rest-task-pool-100ms")
    return CallWork(client, found[2], found[3], int(found[4]), int(found[5]) if found[5] else None)


def threads_needed(strategy: str, threads: int) -> str | None:
    """The numbers of threads that a client's strategy needs, in words; None where `threads` fit."""
    fewest = _FEWEST_THREADS.get(strategy, 1)
    fits = fewest <= threads <= _MOST_THREADS
    return None if fits else f"needs {fewest} to {_MOST_THREADS} threads"


class Calls(DriverTable):
    """The table [calls]."""

    delays_ms: Annotated[tuple[NotNegative, ...], Field(min_length=1)]
    """The delays of the service's answers, in addition to its work."""
    sizes: tuple[Positive, ...] = ()
    """Further numbers of calls in a batch; for `document`, of rows."""
    payload: Shape
    document: Shape
    """The sizes of the matrices whose products are the large answers."""
    number: dict[str, dict[str, Positive]]
    """The number of calls in a batch, by profile and by level, in which `*` stands for anything.
    The first level that fits applies; without one the number is NUMBER."""
    scaled_from_ms: Positive
    """From this delay on only SCALED calls of a sequential batch are made; its time is scaled."""
    truly: dict[str, list[str]] = Field(default_factory=dict)
    """By profile: the levels whose sequential batches make all their calls in the first block."""

    def levels(self) -> tuple[str, ...]:
        """Every level: each client's strategies over each transport, by delay and size."""
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
        """The number of calls in a batch, in a profile."""
        if work.strategy == "document":
            return DOCUMENTS
        numbers = self.number.get(profile, {}).items()
        fitting = (calls for level, calls in numbers if is_any(work.level, [level]))
        return work.size or next(fitting, NUMBER)

    def made(self, profile: str, block: int, work: CallWork) -> int:
        """How many of these calls are made. Fewer for a sequential batch with a long delay, as each
        of its calls takes equally long."""
        is_scaled = work.strategy == "sequential" and work.delay_ms >= self.scaled_from_ms
        is_true = block == 1 and is_any(work.level, self.truly.get(profile, []))
        calls = self.calls(profile, work)
        return min(calls, SCALED) if is_scaled and not is_true else calls

    def require(self, asked: Demand) -> None:
        """Raises ValueError where a cell has too few users, which are threads, or too many."""
        for cell in asked.cells:
            if lack := threads_needed(work_of(cell.complexity).strategy, cell.users):
                raise ValueError(f"cells: users: '{cell.complexity}' {lack}")


#: The numbers of calls: of a batch where no level fits, of a sequential batch whose time is scaled,
#: and of a batch of large documents.
NUMBER, SCALED, DOCUMENTS = 100, 10, 5
