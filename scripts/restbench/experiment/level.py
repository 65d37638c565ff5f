"""A level of complexity as a table of an experiment's file: of one size, which is a matrix, lines
of a log, or messages; or a mix, whose requests are of several kinds, each with its share."""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, Discriminator, Field, Tag

from restbench.experiment.cell import Shape
from restbench.experiment.selection import Positive, Strict

#: What a request of a load experiment is of: the first part of its path.
Workload: TypeAlias = Literal["matrix", "logs", "messages"]
RuleSet: TypeAlias = Literal["R16", "R64", "R256", "R1024"]
#: Shares of a mix are counted exactly in every so many requests, at most.
LONGEST_ROUND = 1_000
#: So many rounds, each in an order of its own, before the order begins anew.
ROUNDS = 100
#: A round has so many requests or more. One huge request in exactly every twenty would never come
#: right behind another, as those of independent users do, and small ones would wait less for them.
FEWEST_IN_A_ROUND = 100


class Logs(Strict):
    """A request of so many lines, each looked at by so many rules."""

    rules: RuleSet
    lines: Positive

    @property
    def work(self) -> int:
        """How often a rule looks at a line."""
        return self.lines * int(self.rules.removeprefix("R"))

    def __str__(self) -> str:
        """Such as `10 x R64`."""
        return f"{self.lines} x {self.rules}"


class Messages(Strict):
    """Messages of so many characters, sent to queues at random and popped from them."""

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
    return Shape if tag == MATRIX else _OTHERS.get(tag)


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
#: The kinds, which are levels of one size, each with its share of the requests.
Shares: TypeAlias = Annotated[dict[str, Share], AfterValidator(_adds_up)]


def require_known(mixes: Mapping[str, Mapping[str, float]], levels: Collection[str]) -> None:
    """ValueError where a mix is of levels that are not defined, or has the name of one."""
    for name, shares in mixes.items():
        if name in levels:
            raise ValueError(f"mixes.{name}: a complexity has this name already")
        for kind in shares:
            if kind not in levels:
                raise ValueError(
                    f"mixes.{name}: complexity: '{kind}' is not defined; "
                    f"defined are {', '.join(levels)}"
                )


def mixed_order(shares: Mapping[str, float], seed: str) -> list[str]:
    """The kinds of the requests, one after the other; the same for the same seed.

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
    """The decimal number that stands in the file."""
    return Fraction(repr(share))
