"""Races: several clients send conflicting requests at once, and the outcome must be consistent."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from cases import JSON_TYPE, OF_ONE_PROCESS, TECHNIQUES, exchange
from service import Outcome, Service

AT_ONCE = 8
ROUNDS = 5


def _post(path: str, **members: Any) -> dict[str, Any]:
    body = {"requestId": 1, **members}
    return {"method": "POST", "path": f"/messages/serial{path}", "headers": JSON_TYPE, "body": body}


def _together(service: Service, *requests: dict[str, Any]) -> list[dict[str, Any]]:
    """Send the requests from AT_ONCE clients at once, the same number of clients for each.

    Returns the members of each answer, with the HTTP status as `status`.
    """
    sent = requests * (AT_ONCE // len(requests))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(pool.map(lambda request: exchange(service, request), sent))
    return [{**json.loads(it.body), "status": it.status} for it in answers]


def creators(service: Service) -> Iterator[str]:
    """Several clients create one queue at once: exactly one answer says `created`."""
    for _ in range(ROUNDS):
        queue = f"x{uuid.uuid4().hex[:12]}"
        answers = _together(service, _post("/queues", queue=queue))
        made = [it for it in answers if it.get("created")]
        if len(made) != 1 or {it["status"] for it in answers} != {200}:
            yield f"{len(made)} of {AT_ONCE} made it: {answers}"
        _delete(service, queue)


def replays(service: Service) -> Iterator[str]:
    """Several clients send the same message with one key at once: the queue gets one message, and
    all clients get the same answer."""
    for _ in range(ROUNDS):
        queue = _queue_with(service, messages=0)
        sent = _post(f"/queues/{queue}/messages", sender=3, body="x", key=queue)
        answers = _together(service, sent)
        if len({(it.get("id"), it["status"]) for it in answers}) != 1:
            yield f"not one answer: {answers}"
        yield from _unless_left(service, queue, 1)


def pops(service: Service) -> Iterator[str]:
    """Several clients send the same pop with one key at once: all get the same message, although
    the queue has two."""
    for _ in range(ROUNDS):
        queue = _queue_with(service, messages=2)
        answers = _together(service, _post(f"/queues/{queue}/pop", client=3, key=f"{queue}p"))
        ids = {(it.get("id"), it["status"]) for it in answers}
        if len(ids) != 1 or None in {id_ for id_, _ in ids}:
            yield f"not one message: {answers}"
        yield from _unless_left(service, queue, 1)


def broadcasts(service: Service) -> Iterator[str]:
    """Several clients send the same broadcast with one key at once: each queue gets one message,
    and all clients get the same answer. Broadcasts without a key all succeed, also where they
    name the queues in different orders."""
    for technique in TECHNIQUES:
        if technique == OF_ONE_PROCESS:  # this technique has no keys
            continue
        queues = [_queue_with(service, 0, technique) for _ in range(2)]
        keyed = _post("/broadcast", sender=3, body="x", queues=queues, key=queues[0])
        answers = _together(service, keyed)
        if len({(str(it.get("ids")), it["status"]) for it in answers}) != 1:
            yield f"{technique}: not one answer: {answers}"
        orders = queues, queues[::-1]
        others = [_post("/broadcast", sender=3, body="x", queues=order) for order in orders]
        if {it["status"] for it in _together(service, *others)} != {200}:
            yield f"{technique}: not all are sent"
        for queue in queues:
            yield from _unless_left(service, queue, 1 + AT_ONCE)


def clients(service: Service) -> Iterator[str]:
    """Several clients pop at once: each gets a message, and no message is delivered twice."""
    for technique in TECHNIQUES:
        queue = _queue_with(service, AT_ONCE, technique)
        answers = _together(service, _post(f"/queues/{queue}/pop", client=3))
        if len({it.get("id") for it in answers} - {None}) != AT_ONCE:
            yield f"{technique}: not a message each: {answers}"
        yield from _unless_left(service, queue, 0)


def _queue_with(service: Service, messages: int, technique: str = TECHNIQUES[0]) -> str:
    queue = f"x{uuid.uuid4().hex[:12]}"
    exchange(service, _post("/queues", queue=queue, technique=technique))
    for _ in range(messages):
        exchange(service, _post(f"/queues/{queue}/messages", sender=3, body="x"))
    return queue


def _unless_left(service: Service, queue: str, count: int) -> list[str]:
    """A fault unless the queue has `count` messages left; the queue is then deleted."""
    path = f"/messages/serial/queues/{queue}"
    counted = exchange(service, {"method": "GET", "path": path, "headers": {}})
    _delete(service, queue)
    right = json.loads(counted.body).get("messages") == count
    return [] if right else [f"not {count} left: {counted.body!r}"]


def _delete(service: Service, queue: str) -> None:
    path = f"/messages/serial/queues/{queue}"
    exchange(service, {"method": "DELETE", "path": path, "headers": {}})


RACES = (creators, replays, pops, broadcasts, clients)


def try_race(service: Service, race: Callable[[Service], Iterator[str]]) -> Outcome:
    """Run a race, which yields every inconsistency."""
    faults = tuple(race(service))
    return Outcome("race", race.__name__, "wrong" if faults else "right", faults)
