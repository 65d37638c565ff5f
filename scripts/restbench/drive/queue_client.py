"""A client's access to queues: sends, pops and their answers, with a deadline for each request."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import httpx

from restbench.analyse.faults import DEADLINE_S
from restbench.analyse.queue_history import Address
from restbench.deploy.service import Service
from restbench.failures import EnvironmentProblem

_HEADERS = {"Content-Type": "application/json"}


class NotSent(Exception):
    """There was no connection: the request was not sent."""


class Answer(NamedTuple):
    """The answer to one request."""

    status: int | None
    """None where no answer came."""
    code: str | None = None
    """Error code of a refusal; where no answer came, `timeout` or `reset`."""
    id: int | None = None
    body: str | None = None
    replayed: bool = False
    says_when: bool = False
    """Whether the answer has a `Retry-After`."""


class Queues(Protocol):
    """A client's access to the queues, over its own connection. NotSent where it cannot connect."""

    def send(self, sender: int, to: Address, body: str, key: str | None) -> Answer:
        """Send a message."""

    def pop(self, client: int, of: Address, key: str | None) -> Answer:
        """Pop a message."""

    def close(self) -> None:
        """Close the connection."""


@dataclass
class RestQueues:
    """A service's queues, over a connection that is kept."""

    place: Callable[[], tuple[str, int]]
    """Returns host and port of the service now, which a restart may change, or raises NotSent."""
    strategy: str
    connection: http.client.HTTPConnection | None = None

    def send(self, sender: int, to: Address, body: str, key: str | None) -> Answer:
        """(Queues)."""
        return self._asked(to, "messages", {"sender": sender, "body": body, "key": key})

    def pop(self, client: int, of: Address, key: str | None) -> Answer:
        """(Queues)."""
        return self._asked(of, "pop", {"client": client, "key": key})

    def close(self) -> None:
        """(Queues)."""
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def _asked(self, address: Address, what: str, members: Mapping[str, Any]) -> Answer:
        queue, receiver = address
        given = {"requestId": 1, **members, "receiver": receiver or None}
        text = json.dumps({name: value for name, value in given.items() if value is not None})
        path = f"/messages/{self.strategy}/queues/{queue}/{what}"
        connection = self._connected()
        try:
            connection.request("POST", path, text.encode(), _HEADERS)
            answer = connection.getresponse()
            found = _read(answer)
        except TimeoutError:
            self.close()
            return Answer(None, "timeout")
        except (OSError, http.client.HTTPException, ValueError):
            self.close()
            return Answer(None, "reset")
        if answer.will_close:
            self.close()
        return found

    def _connected(self) -> http.client.HTTPConnection:
        if self.connection is None:
            host, port = self.place()
            made = http.client.HTTPConnection(host, port, timeout=DEADLINE_S)
            try:
                made.connect()
            except OSError as error:
                raise NotSent from error
            self.connection = made
        return self.connection


def _read(answer: http.client.HTTPResponse) -> Answer:
    """The parsed answer. ValueError where it is no JSON object."""
    members = json.loads(answer.read())
    if not isinstance(members, dict):
        raise ValueError("no object")
    return Answer(
        answer.status,
        members.get("errorCode"),
        members.get("id"),
        members.get("body"),
        answer.headers.get("Idempotent-Replayed") == "true",
        answer.headers.get("Retry-After") is not None,
    )


@dataclass(frozen=True)
class QueueCalls:
    """The harness's own requests about queues. EnvironmentProblem where one is not answered 200."""

    service: Service
    strategy: str

    def create(self, queue: str, technique: str) -> None:
        """Make a queue, if it is not there."""
        self._asked("POST", "", queue=queue, technique=technique)

    def delete(self, queue: str) -> None:
        """Delete a queue with its messages."""
        self._asked("DELETE", f"/{queue}")

    def count(self, queue: str) -> int:
        """How many messages a queue has."""
        return int(self._asked("GET", f"/{queue}")["messages"])

    def send(self, queue: str, body: str) -> int:
        """Send a message to nobody in particular; returns its id."""
        return int(self._asked("POST", f"/{queue}/messages", sender=1, body=body)["id"])

    def pop(self, queue: str) -> dict[str, Any]:
        """Pop a message; returns the answer's members, whose `id` is None for an empty queue."""
        return self._asked("POST", f"/{queue}/pop", client=1)

    def _asked(self, method: str, path: str, **members: object) -> dict[str, Any]:
        url = f"{self.service.base_url}/messages/{self.strategy}/queues{path}"
        asked = {"requestId": 1, **members} if members else None
        try:
            answer = self.service.client.request(method, url, json=asked)
        except httpx.HTTPError as error:
            raise EnvironmentProblem(f"{method} {url}: {error or type(error).__name__}") from error
        if answer.status_code != httpx.codes.OK:
            said = f"{answer.status_code} {answer.text[:200]}"
            raise EnvironmentProblem(f"{method} {url}: {said}")
        found: dict[str, Any] = answer.json()
        return found
