"""A history of requests to queues: what was asked and answered, and which requests are one
operation. A retry with the same key is the same operation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal, NamedTuple

from restbench.grouping import grouped

Outcome = Literal["ok", "fail", "unknown"]
Address = tuple[str, int]
"""A queue and a receiver; 0 stands for no particular receiver."""

#: The database ends a service's statement after so long (migration V3); it then holds no message.
STATEMENT_NS = 5_000_000_000
#: Codes of 5xx answers which say that the operation was not done.
NOT_DONE = ("008", "014")


class Request(NamedTuple):
    """One request to a queue and its answer; a retry is another."""

    op: Literal["send", "pop"]
    client: int
    key: str | None
    queue: str
    receiver: int
    token: str | None
    """The token of the message that was sent or popped; None for a pop without a message."""
    id: int | None
    invoked_ns: int
    returned_ns: int | None
    """None where no answer came: the request may still take effect at any time."""
    status: int | None
    code: str | None = None
    """The code of a refusal; where no answer came, the reason."""
    altered: bool = False
    """Whether the body that was popped does not match its own checksum or length."""
    replayed: bool = False
    """Whether the service says that it repeats an earlier answer."""

    @property
    def outcome(self) -> Outcome:
        """Whether the request was done (`ok`), was not done (`fail`), or may have been done."""
        if self.status is None:
            return "unknown"
        if self.status == 200:
            return "ok"
        return "fail" if 400 <= self.status < 500 or self.code in NOT_DONE else "unknown"

    @property
    def address(self) -> Address:
        """Where the message is sent to or popped from."""
        return self.queue, self.receiver


class RemainingMessage(NamedTuple):
    """A message that was still in the database after the history's end."""

    queue: str
    receiver: int
    id: int | None
    token: str | None
    altered: bool = False

    @property
    def address(self) -> Address:
        """Where the message is."""
        return self.queue, self.receiver


@dataclass(frozen=True)
class History:
    """The operations of a history, each with its outcome, and what became of the messages."""

    began_ns: int
    sends: Mapping[str, Request]
    """The sends by token."""
    pops: Sequence[Request]
    left: Sequence[RemainingMessage]
    taken: Mapping[str, Sequence[Request]]
    """By token: the pops that returned it."""
    left_by_token: Mapping[str, Sequence[RemainingMessage]]
    """By token: the messages left that have it."""
    uncertain: Mapping[Address, Sequence[Request]]
    """Pops that may have held a message which they did not return: those that did not succeed, and
    all requests of a pop that was retried."""
    contradictions: Sequence[Sequence[Request]]
    """Requests of one key that have different answers."""
    replayed: int

    def gone(self, token: str) -> bool:
        """Whether the message was neither popped nor is left."""
        return token not in self.taken and token not in self.left_by_token


def history(requests: Iterable[Request], left: Iterable[RemainingMessage]) -> History:
    """The history of requests. Raises ValueError where a token is sent twice without a key."""
    every, kept = list(requests), list(left)
    keyed = grouped(
        (each for each in every if each.key is not None),
        lambda each: (each.client, each.op, each.key),
    )
    alone = [each for each in every if each.key is None]
    operations = [*alone, *map(_operation, keyed.values())]
    sends: dict[str, Request] = {}
    for each in operations:
        if each.op == "send":
            if each.token is None or each.token in sends:
                raise ValueError(f"token {each.token} is sent twice: each message has its own")
            sends[each.token] = each
    pops = [each for each in operations if each.op == "pop"]
    retried = (it for of in keyed.values() if len(of) > 1 for it in _holding(of) if it.op == "pop")
    return History(
        began_ns=min((each.invoked_ns for each in operations), default=0),
        sends=sends,
        pops=pops,
        left=kept,
        taken=grouped(
            (each for each in pops if each.outcome == "ok" and each.token is not None),
            lambda each: each.token or "",
        ),
        left_by_token=grouped(kept, lambda message: message.token or ""),
        uncertain=grouped(
            chain((each for each in pops if each.outcome != "ok"), retried),
            lambda each: each.address,
        ),
        contradictions=[of for of in keyed.values() if len({*_brought(of)}) > 1],
        replayed=sum(it.replayed for of in keyed.values() for it in of),
    )


def _holding(attempts: Sequence[Request]) -> list[Request]:
    """The requests of one key, each with the end of the time in which it may have held a message: a
    request without an answer, STATEMENT_NS after the next success of its key."""
    done = [it.returned_ns for it in attempts if it.outcome == "ok" and it.returned_ns is not None]

    def end_ns(of: Request) -> int | None:
        return min((ns + STATEMENT_NS for ns in done if ns > of.invoked_ns), default=None)

    return [
        it if it.returned_ns is not None else it._replace(returned_ns=end_ns(it)) for it in attempts
    ]


def _brought(attempts: Iterable[Request]) -> list[tuple[str | None, int | None]]:
    """The messages that the requests of one key returned. The answer that the queue is empty does
    not count, as the service does not store it for the key."""
    done = (each for each in attempts if each.outcome == "ok")
    return [(each.token, each.id) for each in done if (each.token, each.id) != (None, None)]


def _operation(attempts: Sequence[Request]) -> Request:
    """The requests of one key as one operation, from the first request to the first success."""
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
