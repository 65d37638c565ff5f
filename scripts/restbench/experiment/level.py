"""A level of complexity of one size, as a table of an experiment's file: a matrix, lines of a log,
or messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from restbench.experiment.selection import Positive, Strict

#: What a request of a load experiment is of: the first part of its path.
Workload: TypeAlias = Literal["matrix", "logs", "messages"]
RuleSet: TypeAlias = Literal["R16", "R64", "R256", "R1024"]


class ShapeEntry(Strict):
    """rows x inner times inner x columns."""

    rows: Positive
    inner: Positive
    columns: Positive


class Logs(BaseModel):
    """A request of so many lines, each looked at by so many rules."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    rules: RuleSet
    lines: Positive

    @property
    def work(self) -> int:
        """How often a rule looks at a line."""
        return self.lines * int(self.rules.removeprefix("R"))

    def __str__(self) -> str:
        """Such as `10 x R64`."""
        return f"{self.lines} x {self.rules}"


class Messages(BaseModel):
    """Messages of so many characters, sent to queues at random and popped from them."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    characters: Annotated[int, Field(ge=32, le=65536)]
    """Of each body: 31 tell whose it is and whether it is whole, the rest is random."""
    queues: Annotated[int, Field(ge=1, le=1000)] = 100
    filled: Annotated[int, Field(ge=0)] = 1000
    """How many messages lie in the queues before each trial."""
    load: Literal["paired", "study"] = "paired"
    """`paired`: a user sends, then pops from that queue, so that their number stays. `study`: sends
    twice and pops once, which leaves a message more each time."""
    keys: bool = False
    """Whether each request has a key, with which it can be repeated."""

    @property
    def requests(self) -> int:
        """Of a user's round: a transaction of the limit is one."""
        return 2 if self.load == "paired" else 3

    @property
    def work(self) -> int:
        """To sort by."""
        return self.characters


#: In the place of a fault in a file, next to the keys.
TAGS = MATRIX, LOGS, MESSAGES = "of a matrix", "of logs", "of messages"
_OTHERS: dict[str, type[BaseModel]] = {LOGS: Logs, MESSAGES: Messages}


def _tag(table: object) -> str:
    """By a key that the others have not."""
    keys = {*table} if isinstance(table, Mapping) else set()
    return next(
        (
            tag
            for tag, kind in _OTHERS.items()
            if isinstance(table, kind) or keys & {*kind.model_fields}
        ),
        MATRIX,
    )


def model_of(tag: str) -> type[BaseModel] | None:
    """What a table with one of the TAGS is read as; None where it has none of them."""
    return ShapeEntry if tag == MATRIX else _OTHERS.get(tag)


Size: TypeAlias = Annotated[
    Annotated[ShapeEntry, Tag(MATRIX)]
    | Annotated[Logs, Tag(LOGS)]
    | Annotated[Messages, Tag(MESSAGES)],
    Discriminator(_tag),
]
