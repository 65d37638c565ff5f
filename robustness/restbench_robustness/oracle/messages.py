"""The contract's answer to an operation on queues, as far as it is known without the database."""

from __future__ import annotations

from collections.abc import Iterable

from . import message_rules as rules
from .http import (
    RULE_OF_ID,
    no_such_path,
    not_json,
    object_of,
    require_body_size,
    require_delay,
    wrong_method,
)
from .message_answers import OF_THE_CAMPAIGN, Answers, Asked
from .strict_json import Json, right_id
from .verdict import STATUSES, Limits, Request, Verdict, Violation

OPERATIONS = {
    "queues": {"POST": "create", "GET": "list"},
    "queues/Q": {"GET": "count", "DELETE": "delete_queue"},
    "queues/Q/messages": {"GET": "peek", "POST": "send"},
    "queues/Q/messages/I": {"DELETE": "delete_message"},
    "queues/Q/pop": {"POST": "pop"},
    "broadcast": {"POST": "broadcast"},
}
ORDER = ("GET", "POST", "DELETE")


class MessagesOracle:
    """The contract for a service with these strategies, a database, and the campaign's queues."""

    def __init__(self, strategies: Iterable[str], limits: Limits) -> None:
        """`strategies` are those that take messages."""
        self._strategies = frozenset(strategies)
        self._limits = limits

    def judge(self, request: Request) -> Verdict | None:
        """The right answer, with others that are right too."""
        path, _, query = request.target.partition("?")
        found = self._operation(path)
        if found is None:
            return no_such_path()
        strategy, operations, names = found
        if request.method not in operations:
            return wrong_method(*(it for it in ORDER if it in operations))
        if request.method == "POST" and (refusal := not_json(request)) is not None:
            return refusal
        request_id = None
        try:
            require_body_size(request, self._limits)
            members = object_of(request) if request.method == "POST" else {}
            request_id = right_id(members)
            asked = self._checked(operations[request.method], names, query, members)
        except Violation as it:
            return Verdict(it.code, STATUSES[it.code], request_id, messages=it.messages)
        return Answers(strategy, request_id).of(operations[request.method], asked)

    def _operation(self, path: str) -> tuple[str, dict[str, str], list[str]] | None:
        """The strategy, the operations by method, and the names in a path."""
        root, *parts = path.split("/")
        if root or len(parts) < 3 or not all(parts) or parts[0] != "messages":
            return None
        strategy, parts = parts[1], parts[2:]
        placeholders = {1: "Q", 3: "I"}
        shape = "/".join(placeholders.get(place, it) for place, it in enumerate(parts))
        if strategy not in self._strategies or shape not in OPERATIONS:
            return None
        return strategy, OPERATIONS[shape], parts[1::2]

    def _checked(
        self, operation: str, names: list[str], query: str, members: dict[str, Json]
    ) -> Asked:
        """What is asked for; Violation 003 or 007."""
        asked: Asked = {}
        if names:
            asked["queue"] = rules.name("queue", names[0])
        if names[1:]:
            asked["id"] = rules.decimal("id", names[1])
        require_delay(query, self._limits)
        if operation == "list":
            rules.at_most_once(query, "after", lambda text: rules.name("after", text))
            asked["limit"] = (
                rules.at_most_once(query, "limit", lambda it: rules.limit(it, 1000)) or 100
            )
        if operation == "peek":
            receiver = rules.at_most_once(
                query, "receiver", lambda it: rules.decimal("receiver", it)
            )
            limit = rules.at_most_once(query, "limit", lambda it: rules.limit(it, 100)) or 1
            asked |= {"receiver": receiver, "limit": limit}
        if operation in {"create", "send", "broadcast", "pop"}:
            if right_id(members) is None:
                raise Violation("003", RULE_OF_ID)
            asked |= self._members(operation, members)
        return asked

    def _members(self, operation: str, members: dict[str, Json]) -> Asked:
        if operation == "create":
            return {
                "queue": rules.name("queue", members.get("queue")),
                "technique": rules.technique(members.get("technique", OF_THE_CAMPAIGN)),
            }
        client = "client" if operation == "pop" else "sender"
        asked: Asked = {client: rules.identifier(client, members.get(client))}
        if operation == "broadcast":
            asked["queues"] = rules.queues(members.get("queues"))
        elif (receiver := members.get("receiver")) is not None:
            asked["receiver"] = rules.identifier("receiver", receiver)
        body = "x" if operation == "pop" else rules.body(members.get("body"))
        if "key" in members:
            asked["key"] = rules.key(members["key"])
        count, limit = len(body), self._limits.message_characters
        if count > limit:
            text = f"body: the number of characters is {count}, the limit is {limit}"
            raise Violation("007", text)
        return asked
