"""A mix: a level of complexity whose requests are of several kinds, each with its share."""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, Field

#: Shares are counted exactly in every so many requests, at most.
LONGEST_ROUND = 1_000
#: So many rounds, each in an order of its own, before the order begins anew.
ROUNDS = 100
#: A round has so many requests or more. One huge request in exactly every twenty would never come
#: right behind another, as those of independent users do, and small ones would wait less for them.
FEWEST_IN_A_ROUND = 100


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


def order(shares: Mapping[str, float], seed: str) -> list[str]:
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
