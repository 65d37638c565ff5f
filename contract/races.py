"""What one request at a time cannot show: several at once that want the same."""

from __future__ import annotations

import json
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from cases import JSON_TYPE, exchange
from service import Outcome, Service

AT_ONCE = 8
ROUNDS = 5


def _post(path: str, **members: Any) -> dict[str, Any]:
    body = {"requestId": 1, **members}
    return {"method": "POST", "path": f"/messages/serial{path}", "headers": JSON_TYPE, "body": body}


def _together(service: Service, request: dict[str, Any]) -> list[dict[str, Any]]:
    """The answers to the same request from several clients at once; an error has a `status`."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(pool.map(lambda _: exchange(service, request), range(AT_ONCE)))
    return [{**json.loads(it.body), "status": it.status} for it in answers]


def _outcome(name: str, faults: list[str]) -> Outcome:
    return Outcome("race", name, "wrong" if faults else "right", tuple(faults))


def creators(service: Service) -> Outcome:
    """Of several that make a queue at once, one has made it."""
    faults = []
    for _ in range(ROUNDS):
        queue = f"x{uuid.uuid4().hex[:12]}"
        answers = _together(service, _post("/queues", queue=queue))
        made = [it for it in answers if it.get("created")]
        if len(made) != 1 or {it["status"] for it in answers} != {200}:
            faults.append(f"{len(made)} of {AT_ONCE} made it: {answers}")
        _delete(service, queue)
    return _outcome("creators", faults)


def replays(service: Service) -> Outcome:
    """The same send with one key from several at once is one message, and one answer."""
    faults = []
    for _ in range(ROUNDS):
        queue = f"x{uuid.uuid4().hex[:12]}"
        exchange(service, _post("/queues", queue=queue))
        sent = _post(f"/queues/{queue}/messages", sender=3, body="x", key=queue)
        answers = _together(service, sent)
        if len({(it.get("id"), it["status"]) for it in answers}) != 1:
            faults.append(f"not one answer: {answers}")
        counted = exchange(
            service, {"method": "GET", "path": f"/messages/serial/queues/{queue}", "headers": {}}
        )
        if json.loads(counted.body).get("messages") != 1:
            faults.append(f"not one message: {counted.body!r}")
        _delete(service, queue)
    return _outcome("replays", faults)


def _delete(service: Service, queue: str) -> None:
    exchange(
        service, {"method": "DELETE", "path": f"/messages/serial/queues/{queue}", "headers": {}}
    )


RACES = (creators, replays)
