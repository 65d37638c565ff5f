"""One message sent to every service, and everything that is wrong with their answers."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from .comparison import Reply, unlike_verdict
from .message import Message, Route
from .oracle import Limits, Oracle, Verdict
from .wire import Connection, NoAnswer


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

    def __init__(self, targets: list[Target], limits: Limits, timeout_s: float) -> None:
        """`limits` are what the services were started with."""
        self.targets = targets
        self._connections = {it.name: Connection(it.host, it.port, timeout_s) for it in targets}
        self._oracles = {it.name: Oracle(it.strategies, limits) for it in targets}
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
