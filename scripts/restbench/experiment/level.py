"""Levels of complexity, as tables of an experiment file. The requests of a level have one size (of
a matrix, of lines of a log, or of messages), or are a mix of several kinds with their shares."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, Discriminator, Field, Tag

from restbench.experiment.cell import Shape
from restbench.experiment.selection import Strict

#: What the requests of a load experiment are about; also the first part of a request's path.
Workload: TypeAlias = Literal["matrix", "logs", "messages"]
RuleSet: TypeAlias = Literal["R16", "R64", "R256", "R1024"]
#: The largest number of requests that may be needed to have the shares of a mix exactly.
LONGEST_ROUND = 1_000
#: The number of rounds, each in an order of its own, before the order of a mix repeats.
ROUNDS = 100
#: The least number of requests in a round. With exactly one huge request in every twenty, two huge
#: ones would hardly ever follow each other, as they do with independent users, and small requests
#: would wait less.
FEWEST_IN_A_ROUND = 100


class Logs(Strict):
    """A request of so many lines, each looked at by so many rules."""

    rules: RuleSet
    lines: Annotated[int, Field(ge=1, le=1_000_000)]
    """The harness makes the lines in its own memory."""

    @property
    def work(self) -> int:
        """The number of times that a rule is applied to a line."""
        return self.lines * int(self.rules.removeprefix("R"))

    def __str__(self) -> str:
        """Such as `10 x R64`."""
        return f"{self.lines} x {self.rules}"


class Messages(Strict):
    """Messages of a fixed length, which are sent to queues at random and popped from them."""

    characters: Annotated[int, Field(ge=32, le=65536)]
    """The length of each body: 31 characters identify the message and verify it, the others are
    random."""
    queues: Annotated[int, Field(ge=1, le=1000)] = 100
    filled: Annotated[int, Field(ge=0)] = 1000
    """How many messages lie in the queues before each trial."""
    load: Literal["paired", "study"] = "paired"
    """`paired`: a user sends a message, then pops one from the same queue, so that the number of
    messages stays the same. `study`: a user sends twice and pops once, so that it grows."""
    keys: bool = False
    """Whether each request has a key, with which it can be repeated without a second effect."""

    @property
    def requests(self) -> int:
        """The number of requests in a user's round of sends and a pop."""
        return 2 if self.load == "paired" else 3

    @property
    def work(self) -> int:
        """The value by which levels are sorted: the length of a body."""
        return self.characters


MATRIX, LOGS, MESSAGES = "of a matrix", "of logs", "of messages"
#: By tag of `Size`. In the location of a validation error tags stand among the file's keys.
MODELS: dict[str, type[BaseModel]] = {LOGS: Logs, MESSAGES: Messages, MATRIX: Shape}


def _tag(table: object) -> str:
    """The tag of a table, which is recognised by a key that only this kind of level has."""
    keys = {*table} if isinstance(table, Mapping) else set()
    its = (
        tag
        for tag, kind in MODELS.items()
        if isinstance(table, kind) or keys & {*kind.model_fields}
    )
    return next(its, MATRIX)


Size: TypeAlias = Annotated[
    Annotated[Shape, Tag(MATRIX)] | Annotated[Logs, Tag(LOGS)] | Annotated[Messages, Tag(MESSAGES)],
    Discriminator(_tag),
]


def _adds_up(shares: dict[str, float]) -> dict[str, float]:
    if sum(map(_exactly, shares.values())) != 1:
        raise ValueError(f"shares of {', '.join(shares)}: they must add up to 1")
    _round(shares)
    return shares


Share = Annotated[float, Field(gt=0, lt=1)]
#: By kind, which is a level of one size: its share of the requests of a mix.
Shares: TypeAlias = Annotated[dict[str, Share], AfterValidator(_adds_up)]


def require_known(mixes: Mapping[str, Shares], levels: Mapping[str, Size]) -> None:
    """Raises ValueError where a mix has a level's name, or a kind that is no level of matrices."""
    for name, shares in mixes.items():
        if name in levels:
            raise ValueError(f"mixes.{name}: a complexity has this name already")
        for kind in shares:
            if kind not in levels:
                raise ValueError(
                    f"mixes.{name}: complexity: '{kind}' is not defined; "
                    f"defined are {', '.join(levels)}"
                )
            if (tag := _tag(levels[kind])) != MATRIX:
                raise ValueError(f"mixes.{name}: '{kind}' is {tag}; a mix is of matrices")


def mixed_order(shares: Mapping[str, float], seed: str) -> list[str]:
    """The kinds of a mix's requests in their order; the same seed gives the same order.

    Each round has every kind exactly as often as its share says, so that also a short window has
    close to the shares.
    """
    shuffler = random.Random(seed)  # noqa: S311 - an order, not a secret
    one = _round(shares)
    return [kind for _ in range(ROUNDS) for kind in shuffler.sample(one, len(one))]


def _round(shares: Mapping[str, float]) -> list[str]:
    """The shortest list of kinds, from FEWEST_IN_A_ROUND on, that has the shares exactly."""
    exact = {kind: _exactly(share) for kind, share in shares.items()}
    length = math.lcm(*(share.denominator for share in exact.values()))
    if length > LONGEST_ROUND:
        raise ValueError(f"shares of {', '.join(shares)}: only in {length} requests are they exact")
    length *= -(-FEWEST_IN_A_ROUND // length)
    return [kind for kind, share in exact.items() for _ in range(int(share * length))]


def _exactly(share: float) -> Fraction:
    """The share as exactly the decimal number that is written in the file."""
    return Fraction(repr(share))
