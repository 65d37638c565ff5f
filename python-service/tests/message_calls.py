"""Requests of the workload messages to a core in this process."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from live_database import LiveDatabase, fresh_name

from restbench_service.coded_workloads import coded_workloads
from restbench_service.core.reply import Reply
from restbench_service.core.service import Core, Exchange, Head, Server
from restbench_service.execution.techniques import Serial
from restbench_service.workloads.messages.database import Database
from restbench_service.workloads.messages.requests import TECHNIQUES
from restbench_service.workloads.messages.workload import MessagesWorkload

ON_DATABASE = [name for name in TECHNIQUES if name != "memory"]


class Told(NamedTuple):
    status: int
    members: dict[str, Any]
    headers: dict[str, str]

    @property
    def code(self) -> str:
        return str(self.members.get("errorCode", ""))


class Caller:
    """Calls the operations under `serial`."""

    def __init__(self, core: Core, database: Database) -> None:
        self.core, self.database = core, database

    def ask(self, method: str, path: str, **members: Any) -> Told:
        return self.raw(method, path, json.dumps(members).encode() if method == "POST" else b"")

    def raw(self, method: str, path: str, body: bytes) -> Told:
        raw_path, _, query = f"/messages/serial{path}".partition("?")
        content_type = "application/json" if method == "POST" else None
        opened = self.core.open(Head(method, raw_path, query, content_type, len(body)))
        if isinstance(opened, Exchange):
            reply = opened.take(body) if body else None
            reply = reply or opened.answer()
        else:
            reply = opened
        reply.sent()
        return Told(reply.status, json.loads(reply.body), dict(reply.headers))

    def page(self, path: str) -> dict[str, Any]:
        reply = self.core.open(Head("GET", path))
        assert isinstance(reply, Reply)
        members: dict[str, Any] = json.loads(reply.body)
        return members

    def queue(self, technique: str = "skip-locked") -> str:
        name = fresh_name()
        made = self.ask("POST", "/queues", requestId=0, queue=name, technique=technique)
        assert (made.status, made.members["created"]) == (200, True), made
        return name

    def renew(self, queue: str, technique: str) -> None:
        """Delete it, and make another of its name."""
        self.ask("DELETE", f"/queues/{queue}")
        self.ask("POST", "/queues", requestId=0, queue=queue, technique=technique)

    def send(self, queue: str, body: str = "x", **members: Any) -> Told:
        members = {"requestId": 7, "sender": 3, "body": body, **members}
        return self.ask("POST", f"/queues/{queue}/messages", **members)

    def pop(self, queue: str, **members: Any) -> Told:
        return self.ask("POST", f"/queues/{queue}/pop", **{"requestId": 8, "client": 5, **members})

    def broadcast(self, *queues: str, **members: Any) -> Told:
        members = {"requestId": 9, "sender": 3, "queues": queues, "body": "x", **members}
        return self.ask("POST", "/broadcast", **members)

    def count(self, queue: str) -> int:
        number: int = self.ask("GET", f"/queues/{queue}").members["messages"]
        return number


@contextmanager
def calling_at(database: LiveDatabase, **others: Any) -> Iterator[Caller]:
    """A core whose workload is open."""
    settings = database.settings(**others)
    offered = coded_workloads(settings)
    workload = offered["messages"].workload
    assert isinstance(workload, MessagesWorkload)
    workload.open()
    try:
        core = Core(settings, offered, {"serial": Serial(None)}, Server("test", "none 1.0"))
        yield Caller(core, workload._database)
    finally:
        workload.close()
