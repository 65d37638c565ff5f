"""Histories of requests to queues in few letters, and what the rules say of them, looked at message
by message."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from restbench.analyse.queue_history import STATEMENT_NS, RemainingMessage, Request

NEVER = float("inf")


def send(token: str, invoked: int = 0, returned: int | None = 1, **more: Any) -> Request:
    values = {"client": 1, "key": None, "queue": "a", "receiver": 0, "status": 200} | more
    known = {"ok": 200, "fail": 503, "unknown": None}
    if "was" in values:
        values["status"] = known[values.pop("was")]
    values["code"] = "014" if values["status"] == 503 else None
    values.setdefault("id", None)
    return Request("send", token=token, invoked_ns=invoked, returned_ns=returned, **values)


def pop(token: str | None, invoked: int = 2, returned: int | None = 3, **more: Any) -> Request:
    return send(token or "", invoked, returned, **more)._replace(op="pop", token=token)


def left(token: str, queue: str = "a", receiver: int = 0, number: int = 0) -> RemainingMessage:
    return RemainingMessage(queue, receiver, number, token)


def read(path: Path) -> tuple[list[Request], list[RemainingMessage]]:
    """What `Record.write` wrote."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    requests = [Request(**each) for each in lines if each["op"] != "left"]
    rest = [each for each in lines if each.pop("op") == "left"]
    return requests, [RemainingMessage(**each) for each in rest]


def naive(requests: Sequence[Request], rest: Sequence[RemainingMessage]) -> Counter[str]:
    """Violations by rule: each rule as it reads, every pair of operations looked at."""
    groups: dict[Any, list[Request]] = {}
    for number, each in enumerate(requests):
        name = (each.op, each.client, each.key) if each.key else number
        groups.setdefault(name, []).append(each)
    operations = [_one(group) for group in groups.values()]
    found: Counter[str] = Counter()
    for group in groups.values():
        if len({(it.token, it.id) for it in group if it.outcome == "ok" and it.token}) > 1:
            found["R2"] += 1
    sends = [each for each in operations if each.op == "send"]
    pops = [each for each in operations if each.op == "pop"]
    brought = [each for each in pops if each.outcome == "ok" and each.token]
    empty = [each for each in pops if each.outcome == "ok" and not each.token]
    held = [each for each in pops if each.outcome != "ok"]
    held += [it for group in groups.values() for it in _retried(group)]

    for queue, receiver in {each.address for each in sends}:
        gone = [
            each
            for each in sends
            if each.address == (queue, receiver) and each.outcome == "ok"
            if not any(it.token == each.token for it in (*brought, *rest))
        ]
        excuses = [
            it
            for it in pops
            if it.address == (queue, receiver) and it.outcome == "unknown" and it.key is None
        ]
        found["R1"] += max(0, len(gone) - len(excuses))
    came = [*brought, *rest]
    found["R2"] += sum(count > 1 for count in Counter(each.token for each in came).values())
    for (_, number), same in itertools.groupby(
        sorted(came, key=lambda it: (it.queue, it.id or 0)), key=lambda it: (it.queue, it.id)
    ):
        found["R2"] += number is not None and len({it.token for it in same}) > 1
    for each in came:
        of = next((it for it in sends if it.token == each.token), None)
        if each.altered:
            found["R4"] += 1
        elif of is None or of.outcome == "fail":
            found["R3"] += 1
        else:
            is_known = of.outcome == "ok" and None not in (of.id, each.id)
            found["R4"] += is_known and of.id != each.id
            found["R5"] += of.address != each.address

    def popped(of: Request) -> Request | None:
        there = (it for it in brought if it.token == of.token and it.address == of.address)
        return min(there, key=lambda it: (it.returned_ns, it.invoked_ns), default=None)

    certain = [each for each in sends if each.outcome == "ok"]
    for b in (each for each in sends if each.outcome != "fail" and popped(each)):
        found["R6"] += any(
            (a.returned_ns or 0) < b.invoked_ns
            and popped(b).returned_ns < popped(a).invoked_ns  # type: ignore[union-attr,operator]
            and not any(
                it.address == a.address
                and it.invoked_ns < popped(b).returned_ns  # type: ignore[union-attr,operator]
                and _end(it) > (a.returned_ns or 0)
                for it in held
            )
            for a in certain
            if a.address == b.address and popped(a)
        )
    for each in empty:
        ended = each.returned_ns or 0
        there = any(
            of.address == each.address
            and (of.returned_ns or 0) < each.invoked_ns
            and (
                own.invoked_ns > ended
                if (own := popped(of))
                else any((it.token, it.address) == (of.token, of.address) for it in rest)
            )
            for of in certain
        )
        found["R7"] += there and not any(
            it.address == each.address and it.invoked_ns < ended and _end(it) > each.invoked_ns
            for it in held
        )
    kept = len(certain) - len(brought)
    unknown = Counter(each.op for each in operations if each.outcome == "unknown")
    found["R8"] += not kept - unknown["pop"] <= len(rest) <= kept + unknown["send"]
    return +found


def _retried(group: Sequence[Request]) -> list[Request]:
    """Pops of one key, with the latest moment at which each may have held a message."""
    if len(group) == 1 or group[0].op != "pop":
        return []
    found = []
    for each in group:
        later = [_end(it) for it in group if it.outcome == "ok" and _end(it) > each.invoked_ns]
        if each.returned_ns is None and later:
            each = each._replace(returned_ns=int(min(later)) + STATEMENT_NS)  # noqa: PLW2901
        found.append(each)
    return found


def _end(of: Request) -> float:
    return NEVER if of.returned_ns is None else of.returned_ns


def _one(group: Sequence[Request]) -> Request:
    """The operation that requests with one key are."""
    done = [each for each in group if each.outcome == "ok"]
    done = [each for each in done if each.token is not None and each.op == "pop"] or done
    began = min(each.invoked_ns for each in group)
    if done:
        return min(done, key=_end)._replace(invoked_ns=began)
    unsure = [each for each in group if each.outcome == "unknown"]
    last = max(map(_end, group))
    return (unsure or list(group))[0]._replace(
        invoked_ns=began, returned_ns=None if last == NEVER else int(last)
    )
