"""Sends a message to every service and compares each answer with the right one. The text of an
error message must match exactly."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from .oracle import Limits, MessagesOracle, Oracle, Verdict
from .wire import Answer, Connection, Message, NoAnswer, Route

MEMBERS = ["requestId", "errorCode", "errorMessage"]
STAGES = ("queue", "parse", "compute", "serialize")
Reply = Answer | NoAnswer
Unlike = Callable[[Message, Verdict | None, Reply], list[str]]
"""A function that returns all differences of the reply to a message from its verdict."""


def unlike_verdict(message: Message, verdict: Verdict | None, reply: Reply) -> list[str]:
    """All differences of a reply from the contract (`Unlike`)."""
    if isinstance(reply, NoAnswer):
        return [f"no answer: {reply.reason}"] if message.is_http or reply.hang else []
    if not message.is_http:  # right: a refusal or a closed connection, no product, no fault
        refused = 400 <= reply.status < 500 or reply.status in {501, 505}
        return [] if refused else [f"status {reply.status} for what HTTP has refused"]
    if verdict is None:
        return [] if reply.status < 400 else [f"status {reply.status}, not 2xx or 3xx"]
    found = [_unlike(message, each, reply) for each in (verdict, *verdict.or_else)]
    return found[0] if all(found) else []


def _unlike(message: Message, verdict: Verdict, reply: Answer) -> list[str]:
    """All differences of an answer from one verdict, without its alternatives."""
    found = []
    if reply.status != verdict.status:
        found.append(f"status {reply.status}, not {verdict.status}")
    right = {"content-type": "application/json", "content-length": str(len(reply.body))}
    found += [
        f"{name} {reply.headers.get(name)!r}, not {value!r}"
        for name, value in right.items()
        if reply.headers.get(name) != value
    ]
    if verdict.status != 200:
        return found + _unlike_error(verdict, reply)
    if verdict.product is not None and reply.body != verdict.product:
        found.append(f"body {_short(reply.body)}, not {_short(verdict.product)}")
    if verdict.pattern is not None and not re.fullmatch(verdict.pattern.encode(), reply.body):
        found.append(f"body {_short(reply.body)}, not of the form {verdict.pattern}")
    asks_database = message.path.startswith("/messages/")
    stages = (*STAGES, "connection", "database") if asks_database else STAGES
    # A delay of 0 is no delay, and is not reported.
    waited = r"(delay;dur=\d+\.\d{3}, )?" if "delay=" in (message.query or "") else ""
    timing = waited + ", ".join(rf"{stage};dur=\d+\.\d{{3}}" for stage in stages)
    reported = reply.headers.get("server-timing", "")
    return found if re.fullmatch(timing, reported) else [*found, f"Server-Timing {reported!r}"]


def _unlike_error(verdict: Verdict, answer: Answer) -> list[str]:
    found = []
    allowed = {name.strip() for name in answer.headers.get("allow", "").split(",")}
    if verdict.allow is not None and not set(verdict.allow.split(", ")) <= allowed:
        found.append(f"Allow {answer.headers.get('allow')!r} without {verdict.allow}")
    try:
        error = json.loads(answer.body.decode("utf-8"))
    except ValueError:
        error = None
    if not isinstance(error, dict) or list(error) != MEMBERS:
        return [*found, f"body {_short(answer.body)} is no error of the contract"]
    reported, code, text = error.values()
    right = verdict.request_id
    if code != verdict.code:
        found.append(f"errorCode {code!r}, not {verdict.code!r}")
    if reported != right or type(reported) is not type(right):
        found.append(f"requestId {reported!r}, not {right!r}")
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
    """The reply of each service to a message, and all differences from the right answers."""

    verdict: Verdict | None
    replies: dict[str, Reply]
    differences: tuple[str, ...]

    @property
    def hangs(self) -> bool:
        """Whether a service did not answer within the timeout."""
        return any(isinstance(reply, NoAnswer) and reply.hang for reply in self.replies.values())


class Bench:
    """A kept connection to each service, and the oracle that judges its answers."""

    def __init__(
        self,
        targets: list[Target],
        limits: Limits,
        timeout_s: float,
        oracle: type[Oracle | MessagesOracle] = Oracle,
        unlike: Unlike = unlike_verdict,
    ) -> None:
        """`limits` are what the services were started with."""
        self.targets = targets
        self._connections = {it.name: Connection(it.host, it.port, timeout_s) for it in targets}
        self._oracles = {it.name: oracle(it.strategies, limits) for it in targets}
        self._unlike = unlike
        self._senders = ThreadPoolExecutor(len(targets))

    def judge(self, message: Message, routes: Mapping[str, Route]) -> Outcome:
        """Send a message to all services at once, each on its own route, and judge the replies."""
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
            for difference in self._unlike(message, verdicts[name], reply)
        ]
        return Outcome(next(iter(verdicts.values())), replies, tuple(found))

    def close(self) -> None:
        """Close all connections."""
        self._senders.shutdown()
        for connection in self._connections.values():
            connection.close()
