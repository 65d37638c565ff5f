"""Request bodies of many kinds, drawn from a seed, each with its only right answer."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from restbench.drive.payload import make_payload
from restbench.experiment.cell import Shape

SEED = 2019
LOW = Shape(rows=30, inner=20, columns=20)
HIGH = Shape(rows=2000, inner=50, columns=20)
#: A row times a column: a body of some 3 MB for a product of one element.
LARGE = Shape(rows=1, inner=500_000, columns=1)
#: What most requests of a load ask for, from little work to much. Narrow operands make much work of
#: few bytes to send, so that a client can offer ten times what the service can do.
WORK = (
    LOW,
    Shape(rows=60, inner=20, columns=60),
    Shape(rows=200, inner=10, columns=200),
    Shape(rows=400, inner=10, columns=400),
    Shape(rows=400, inner=60, columns=400),
)


@dataclass(frozen=True)
class Request:
    """A body for a path's query and its only right answer: a product, or an error's code and id."""

    kind: str
    query: str
    body: bytes
    status: int
    number: int
    """Its id."""
    code: str
    rows: bytes

    def right(self, status: int, body: bytes) -> bool:
        """Whether this is the right answer."""
        if status != self.status:
            return False
        if self.rows:
            return body == b"".join((b'{"requestId":"%d","rows":' % self.number, self.rows, b"}"))
        error, echoed = told(body), None if self.code == "002" else self.number
        return (error.get("errorCode"), error.get("requestId", "missing")) == (self.code, echoed)


@dataclass(frozen=True)
class Kind:
    """Requests that differ in their id only. `rest` follows the id in the body."""

    name: str
    rest: bytes
    status: int = 200
    code: str = ""
    rows: bytes = b""
    query: str = ""

    def request(self, number: int) -> Request:
        """The request with this id."""
        body = b"".join((b'{"requestId":%d,' % number, self.rest))
        return Request(self.name, self.query, body, self.status, number, self.code, self.rows)


def told(body: bytes) -> dict[str, Any]:
    """The members of an error; none where it is no JSON object."""
    try:
        members = json.loads(body)
    except ValueError:
        return {}
    return members if isinstance(members, dict) else {}


def valid(name: str, shape: Shape, query: str = "") -> Kind:
    """Two random matrices and their exact product."""
    payload = make_payload(shape, SEED, 0, 50)
    rest, rows = payload.body_rest.encode(), payload.rows.encode()
    return Kind(name, rest, rows=rows, query=query)


def invalid() -> list[Kind]:
    """Bodies that deserve an error, found early, late, and in the middle."""
    rest = valid("low", LOW).rest
    inner = b'"matrixOne":{"columnCount":2,"rows":[{"value":"1,2"}]},'
    one = b'"matrixTwo":{"columnCount":1,"rows":[{"value":"1"}]}}'
    return [
        Kind("unequal", inner + one, 422, "001"),
        Kind("cut off", rest[:-40], 400, "002"),
        Kind("letters", rest[:-5] + b'x"}]}}', 422, "005"),
    ]


def overload_mix(work: Shape) -> list[tuple[Kind, int]]:
    """Kinds and their weights: mostly `work`, some low, a few high, large and invalid."""
    return [
        (valid("work", work), 850),
        (valid("low", LOW), 80),
        (valid("high", HIGH, "?kernel=native"), 8),
        (valid("large", LARGE), 2),
        *((kind, 20) for kind in invalid()),
    ]


def work_mix(work: Shape) -> list[tuple[Kind, int]]:
    """Nothing but valid requests of one shape."""
    return [(valid("work", work), 1)]


def draw(mix: list[tuple[Kind, int]], seed: int) -> Iterator[Request]:
    """Requests without end, each with an id of its own; same mix and seed, same requests."""
    chance = random.Random(seed)  # noqa: S311 - a load, no secret
    kinds, weights = [kind for kind, _ in mix], [weight for _, weight in mix]
    number = 0
    while True:
        for kind in chance.choices(kinds, weights, k=256):
            number += 1
            yield kind.request(number)
