"""Queues of a stub service: the contract's face of `tools.sql_queues`, on the database of its
environment. The fault `loses`: every 50th send is answered and not done."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from pathlib import Path
from typing import Any

import psycopg

from restbench.drive.queue_client import Answer, NotSent
from restbench.failures import EnvironmentProblem
from tools.sql_queues import SqlQueues

LOSES_EVERY = 50
#: Before each request: clients whose requests are judged need not keep a machine busy.
PAUSE_S = 0.03
_PATH = re.compile(r"/messages/[a-z-]+/queues(?:/([a-z0-9_-]+)/(messages|pop))?")
_of_thread = threading.local()
_sends = iter(range(1, 1 << 60))


def connect() -> psycopg.Connection[tuple[Any, ...]]:
    word = Path(os.environ["RESTBENCH_DATABASE_PASSWORD_FILE"]).read_text()
    url = os.environ["RESTBENCH_DATABASE_URL"]
    try:
        return psycopg.connect(url, password=word.strip(), autocommit=True, connect_timeout=1)
    except psycopg.OperationalError as error:
        raise EnvironmentProblem(str(error)) from error


def answer(path: str, request: dict[str, Any], fault: str) -> tuple[int, bytes, dict[str, str]]:
    """Status, body and headers."""
    if not hasattr(_of_thread, "queues"):
        _of_thread.queues = SqlQueues(connect)
    queues: SqlQueues = _of_thread.queues
    time.sleep(PAUSE_S)
    found_path = _PATH.fullmatch(path)
    queue, what = found_path.groups() if found_path else (None, None)
    address, key = (queue or "", request.get("receiver", 0)), request.get("key")
    try:
        if queue is None:
            queues.create(request["queue"])
            return 200, b'{"created":true}', {}
        if what == "pop":
            found = queues.pop(request["client"], address, key)
        elif fault == "loses" and next(_sends) % LOSES_EVERY == 0:
            found = Answer(200, id=next(_sends))
        else:
            found = queues.send(request["sender"], address, request["body"], key)
    except NotSent:
        found = Answer(503, "014", says_when=True)
    if found.status != 200:
        said = json.dumps({"requestId": None, "errorCode": found.code, "errorMessage": "so it is"})
        return found.status or 500, said.encode(), {"Retry-After": "1"} if found.says_when else {}
    members = {"requestId": "1", "id": found.id}
    members |= {"body": found.body} if found.body is not None else {}
    headers = {"Idempotent-Replayed": "true"} if found.replayed else {}
    return 200, json.dumps(members).encode(), headers
