"""A history of requests to queues: what was asked and answered, and which requests are one
operation. A retry with the same key is the same operation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal, NamedTuple

Outcome = Literal["ok", "fail", "unknown"]
Address = tuple[str, int]
"""A queue and a receiver, 0 where it is nobody in particular."""

#: A statement of a service is ended after so long (migration V3): then it holds nothing any more.
STATEMENT_NS = 5_000_000_000
#: Refusals of 5xx that say: not done.
NOT_DONE = ("008", "014")


class Request(NamedTuple):
    """One request to a queue and its answer; a retry is another."""

    op: Literal["send", "pop"]
    client: int
    key: str | None
    queue: str
    receiver: int
    token: str | None
    """Of the message that was sent, or that came; None of a pop that brought none."""
    id: int | None
    invoked_ns: int
    returned_ns: int | None
    """None where no answer came: it may still have its effect at any time."""
    status: int | None
    code: str | None = None
    """Of a refusal; where no answer came, why."""
    altered: bool = False
    """Whether the body that came is not as its own checksum or length says."""
    replayed: bool = False
    """Whether the service says that it answered so before."""

    @property
    def outcome(self) -> Outcome:
        """Whether it was done."""
        if self.status is None:
            return "unknown"
        if self.status == 200:
            return "ok"
        return "fail" if 400 <= self.status < 500 or self.code in NOT_DONE else "unknown"

    @property
    def address(self) -> Address:
        """Where to, or where from."""
        return self.queue, self.receiver


class RemainingMessage(NamedTuple):
    """A message that was still there when all was over."""

    queue: str
    receiver: int
    id: int | None
    token: str | None
    altered: bool = False

    @property
    def address(self) -> Address:
        """Where it lay."""
        return self.queue, self.receiver


@dataclass(frozen=True)
class History:
    """Operations, each with its outcome, and what came of them."""

    began_ns: int
    sends: Mapping[str, Request]
    """By token."""
    pops: Sequence[Request]
    left: Sequence[RemainingMessage]
    taken: Mapping[str, Sequence[Request]]
    """The pops that brought a token."""
    lying: Mapping[str, Sequence[RemainingMessage]]
    """What is left of a token."""
    uncertain: Mapping[Address, Sequence[Request]]
    """Pops that may have held a message which they did not bring: those without a certain outcome,
    and all requests of a pop that was retried."""
    contradictions: Sequence[Sequence[Request]]
    """Requests of one key that have different answers."""
    replayed: int

    def gone(self, token: str) -> bool:
        """Whether it neither came nor is left."""
        return token not in self.taken and token not in self.lying


def history(requests: Iterable[Request], left: Iterable[RemainingMessage]) -> History:
    """What requests come to; ValueError where a token is sent twice with no key."""
    alone: list[Request] = []
    keyed: dict[tuple[int, str, str], list[Request]] = defaultdict(list)
    for each in requests:
        if each.key is None:
            alone.append(each)
        else:
            keyed[each.client, each.op, each.key].append(each)
    operations = [*alone, *map(_operation, keyed.values())]
    sends: dict[str, Request] = {}
    for each in operations:
        if each.op == "send":
            if each.token is None or each.token in sends:
                raise ValueError(f"token {each.token} is sent twice: each message has its own")
            sends[each.token] = each
    pops = [each for each in operations if each.op == "pop"]
    kept = list(left)
    retried = (it for of in keyed.values() if len(of) > 1 for it in _holding(of) if it.op == "pop")
    uncertain: dict[Address, list[Request]] = defaultdict(list)
    for each in chain((each for each in pops if each.outcome != "ok"), retried):
        uncertain[each.address].append(each)
    taken: dict[str, list[Request]] = defaultdict(list)
    for each in pops:
        if each.outcome == "ok" and each.token is not None:
            taken[each.token].append(each)
    lying: dict[str, list[RemainingMessage]] = defaultdict(list)
    for message in kept:
        lying[message.token or ""].append(message)
    return History(
        began_ns=min((each.invoked_ns for each in operations), default=0),
        sends=sends,
        pops=pops,
        left=kept,
        taken=dict(taken),
        lying=dict(lying),
        uncertain=uncertain,
        contradictions=[of for of in keyed.values() if len({*_brought(of)}) > 1],
        replayed=sum(it.replayed for of in keyed.values() for it in of),
    )


def _holding(attempts: Sequence[Request]) -> list[Request]:
    """Requests of one key, each for as long as it may have held a message: one without an answer
    until a statement's time after the next answer to its key."""
    done = [it.returned_ns for it in attempts if it.outcome == "ok" and it.returned_ns is not None]

    def end_ns(of: Request) -> int | None:
        return min((ns + STATEMENT_NS for ns in done if ns > of.invoked_ns), default=None)

    return [
        it if it.returned_ns is not None else it._replace(returned_ns=end_ns(it)) for it in attempts
    ]


def _brought(attempts: Iterable[Request]) -> list[tuple[str | None, int | None]]:
    """The answers of one key; that there is nothing is none, for it is not remembered."""
    done = (each for each in attempts if each.outcome == "ok")
    return [(each.token, each.id) for each in done if (each.token, each.id) != (None, None)]


def _operation(attempts: Sequence[Request]) -> Request:
    """The requests of one key as one: done by the first that says so, and begun with the first."""
    if len(attempts) == 1:
        return attempts[0]
    done = [each for each in attempts if each.outcome == "ok"]
    brought = [each for each in done if each.token is not None] or done
    began_ns = min(each.invoked_ns for each in attempts)
    if brought:
        first = min(brought, key=lambda each: each.returned_ns or 0)
        return first._replace(invoked_ns=began_ns)
    unsure = [each for each in attempts if each.outcome == "unknown"]
    ends = [each.returned_ns for each in attempts if each.returned_ns is not None]
    last_ns = max(ends) if len(ends) == len(attempts) else None
    return (unsure or attempts)[0]._replace(invoked_ns=began_ns, returned_ns=last_ns)
