"""A message sent to every service, and how each answer differs from the right one: an error's
message is right to the letter."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from .oracle import Limits, MessagesOracle, Oracle, Verdict
from .wire import Answer, Connection, Message, NoAnswer, Route

MEMBERS = ["requestId", "errorCode", "errorMessage"]
SERVER_TIMING = re.compile(
    ", ".join(rf"{stage};dur=\d+\.\d{{3}}" for stage in ("queue", "parse", "compute", "serialize"))
)

DATABASE_TIMING = re.compile(
    SERVER_TIMING.pattern + r", connection;dur=\d+\.\d{3}, database;dur=\d+\.\d{3}"
)

Reply = Answer | NoAnswer


def unlike_verdict(message: Message, verdict: Verdict | None, reply: Reply) -> list[str]:
    """Everything in which a reply is not what the contract asks for."""
    if not message.is_http:
        return _unlike_refusal(reply)
    if isinstance(reply, NoAnswer):
        return [f"no answer: {reply.reason}"]
    if verdict is None:
        return [] if reply.status < 400 else [f"status {reply.status}, not 2xx or 3xx"]
    found = _unlike(message, verdict, reply)
    others = (_unlike(message, other, reply) for other in verdict.or_else)
    return [] if not found or any(not it for it in others) else found


def _unlike(message: Message, verdict: Verdict, reply: Answer) -> list[str]:
    """In what an answer is not one of those that are right."""
    found = (
        [] if reply.status == verdict.status else [f"status {reply.status}, not {verdict.status}"]
    )
    if verdict.product is not None:
        return found + _unlike_product(message, verdict.product, reply)
    if verdict.pattern is not None:
        return found + _unlike_pattern(verdict.pattern, reply)
    return found + _unlike_error(verdict, reply)


def _unlike_refusal(reply: Reply) -> list[str]:
    """What is not HTTP is refused or the connection closed: no product, no fault, no hang."""
    if isinstance(reply, NoAnswer):
        return [f"no answer: {reply.reason}"] if reply.hang else []
    refused = 400 <= reply.status < 500 or reply.status in {501, 505}
    return [] if refused else [f"status {reply.status} for what HTTP has refused"]


def _unlike_product(message: Message, product: bytes, answer: Answer) -> list[str]:
    found = _unlike_headers(answer)
    if answer.body != product:
        found.append(f"body {_short(answer.body)}, not {_short(product)}")
    asks_database = message.path.startswith("/messages/")
    return found + _unlike_timing(DATABASE_TIMING if asks_database else SERVER_TIMING, answer)


def _unlike_pattern(pattern: str, answer: Answer) -> list[str]:
    """Of operations on queues, whose answers have ids and times of the database."""
    found = _unlike_headers(answer)
    if not re.fullmatch(pattern.encode(), answer.body):
        found.append(f"body {_short(answer.body)}, not of the form {pattern}")
    return found + _unlike_timing(DATABASE_TIMING, answer)


def _unlike_timing(right: re.Pattern[str], answer: Answer) -> list[str]:
    told = answer.headers.get("server-timing", "")
    return [] if right.fullmatch(told) else [f"Server-Timing {told!r}"]


def _unlike_headers(answer: Answer) -> list[str]:
    expected = {"content-type": "application/json", "content-length": str(len(answer.body))}
    return [
        f"{name} {answer.headers.get(name)!r}, not {value!r}"
        for name, value in expected.items()
        if answer.headers.get(name) != value
    ]


def _unlike_error(verdict: Verdict, answer: Answer) -> list[str]:
    found = _unlike_headers(answer)
    allowed = {name.strip() for name in answer.headers.get("allow", "").split(",")}
    if verdict.allow is not None and not set(verdict.allow.split(", ")) <= allowed:
        found.append(f"Allow {answer.headers.get('allow')!r} without {verdict.allow}")
    try:
        error = json.loads(answer.body.decode("utf-8"))
        assert list(error) == MEMBERS  # noqa: S101 - one failure for every wrong form
    except (ValueError, AssertionError, TypeError):
        return [*found, f"body {_short(answer.body)} is no error of the contract"]
    return found + _unlike_members(verdict, error)


def _unlike_members(verdict: Verdict, error: dict[str, Any]) -> list[str]:
    told, right, text = error["requestId"], verdict.request_id, error["errorMessage"]
    found = []
    if error["errorCode"] != verdict.code:
        found.append(f"errorCode {error['errorCode']!r}, not {verdict.code!r}")
    if told != right or type(told) is not type(right):
        found.append(f"requestId {told!r}, not {right!r}")
    if text not in verdict.messages:
        found.append(f"errorMessage {text!r}, not {min(verdict.messages)!r}")
    return found


def _short(body: bytes) -> str:
    return repr(body if len(body) <= 200 else body[:120] + b" ... " + body[-60:])


@dataclass(frozen=True)
class Target:
    """A service under test."""

    name: str
    host: str
    port: int
    strategies: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """What each service answered, and what of it is wrong."""

    verdict: Verdict | None
    replies: dict[str, Reply]
    differences: tuple[str, ...]

    @property
    def hangs(self) -> bool:
        """Whether a service was silent until the time was up."""
        return any(isinstance(reply, NoAnswer) and reply.hang for reply in self.replies.values())


class Bench:
    """A kept connection to each service, and the oracle that judges what comes back."""

    def __init__(
        self,
        targets: list[Target],
        limits: Limits,
        timeout_s: float,
        oracle: type[Oracle | MessagesOracle] = Oracle,
    ) -> None:
        """`limits` are what the services were started with."""
        self.targets = targets
        self._connections = {it.name: Connection(it.host, it.port, timeout_s) for it in targets}
        self._oracles = {it.name: oracle(it.strategies, limits) for it in targets}
        self._senders = ThreadPoolExecutor(len(targets))

    def judge(self, message: Message, routes: Mapping[str, Route]) -> Outcome:
        """Send a message to every service at once, each on its route."""
        sent = {
            name: self._senders.submit(connection.exchange, message, routes[name])
            for name, connection in self._connections.items()
        }
        verdicts = {
            name: oracle.judge(message.as_received(routes[name]))
            for name, oracle in self._oracles.items()
        }
        replies = {name: future.result() for name, future in sent.items()}
        found = [
            f"{name}: {difference}"
            for name, reply in replies.items()
            for difference in unlike_verdict(message, verdicts[name], reply)
        ]
        return Outcome(next(iter(verdicts.values())), replies, tuple(found))

    def close(self) -> None:
        """End every connection."""
        self._senders.shutdown()
        for connection in self._connections.values():
            connection.close()
