"""The contract's answer to an operation on queues, as far as it is known without the database. This
module checks the members, the path and the query; message_answers.py has the answers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from .message_answers import NAME, OF_THE_CAMPAIGN, TECHNIQUES, Answers, Asked
from .strict_json import INT64_MAX, Json, int64, object_of, right_id
from .verdict import (
    RULE_OF_ID,
    Limits,
    Request,
    Verdict,
    Violation,
    no_such_path,
    parameters,
    require_acceptable,
    require_delay,
)

OPERATIONS = {
    "queues": {"GET": "list", "POST": "create"},
    "queues/([^/]+)": {"GET": "count", "DELETE": "delete_queue"},
    "queues/([^/]+)/messages": {"GET": "peek", "POST": "send"},
    "queues/([^/]+)/messages/([^/]+)": {"DELETE": "delete_message"},
    "queues/([^/]+)/pop": {"POST": "pop"},
    "broadcast": {"POST": "broadcast"},
}
"""Operations by path and by method, the methods in the contract's order. Groups in a path are the
queue and the id."""
MOST_QUEUES = 100
MOST_KEY_CHARACTERS = 64
_NAME = re.compile(NAME)
_KEY = re.compile(f"[!-~]{{1,{MOST_KEY_CHARACTERS}}}")
_DECIMAL = re.compile("[1-9][0-9]{0,18}")


class MessagesOracle:
    """The contract for a service with these strategies, a database, and the campaign's queues."""

    def __init__(self, strategies: Iterable[str], limits: Limits) -> None:
        """`strategies`: those of the service that offer the workload `messages`."""
        self._strategies = frozenset(strategies)
        self._limits = limits

    def judge(self, request: Request) -> Verdict | None:
        """The right answer, with alternatives that are right as well."""
        path, _, query = request.target.partition("?")
        request_id = None
        try:
            strategy, operations, names = self._operation(path)
            require_acceptable(request, self._limits, *operations)
            is_post = request.method == "POST"
            members = object_of(request) if is_post else {}
            request_id = right_id(members)
            operation = operations[request.method]
            asked = self._in_path_and_query(operation, names, query)
            if is_post and request_id is None:
                raise Violation("003", RULE_OF_ID)
            asked |= self._members(operation, members) if is_post else {}
        except Violation as it:
            return replace(it.verdict, request_id=request_id)
        return Answers(strategy, request_id).of(operation, asked)

    def _operation(self, path: str) -> tuple[str, dict[str, str], list[str]]:
        """The strategy, the operations by method, and the names in a path. Raises Violation 009."""
        for form, operations in OPERATIONS.items():
            found = re.fullmatch(f"/messages/([^/]+)/{form}", path)
            if found and found[1] in self._strategies:
                strategy, *names = found.groups()
                return strategy, operations, names
        raise no_such_path()

    def _in_path_and_query(self, operation: str, names: list[str], query: str) -> Asked:
        """The parameters in path and query. Raises Violation 003."""
        asked: Asked = {}
        if names:
            asked["queue"] = _name("queue", names[0])
        if names[1:]:
            asked["id"] = _decimal("id", names[1])
        require_delay(query, self._limits)
        if operation == "list":
            if (after := _only(query, "after")) is not None:
                _name("after", after)
            asked["limit"] = _number(query, "limit", 1000) or 100
        if operation == "peek":
            asked["receiver"] = _number(query, "receiver", INT64_MAX)
            asked["limit"] = _number(query, "limit", 100) or 1
        return asked

    def _members(self, operation: str, members: dict[str, Json]) -> Asked:
        """The parameters in the members of the body. Raises Violation 003 or 007."""
        if operation == "create":
            technique = members.get("technique", OF_THE_CAMPAIGN)
            queue = _name("queue", members.get("queue"))
            text = f"technique: must be one of {', '.join(TECHNIQUES)}"
            _require(isinstance(technique, str) and technique in TECHNIQUES, text)
            return {"queue": queue, "technique": technique}
        client = "client" if operation == "pop" else "sender"
        asked: Asked = {client: _identifier(client, members.get(client))}
        if operation == "broadcast":
            asked["queues"] = _queues(members.get("queues"))
        elif (receiver := members.get("receiver")) is not None:
            asked["receiver"] = _identifier("receiver", receiver)
        body = "x" if operation == "pop" else members.get("body")
        text = "body: must be a string of at least one character without U+0000"
        _require(isinstance(body, str) and body and "\0" not in body, text)
        if "key" in members:
            asked["key"] = key = members["key"]
            text = "key: must be 1 to 64 characters of U+0021 to U+007E"
            _require(isinstance(key, str) and _KEY.fullmatch(key), text)
        count, limit = len(str(body)), self._limits.message_characters
        text = f"body: the number of characters is {count}, the limit is {limit}"
        _require(count <= limit, text, "007")
        return asked


def _require(holds: object, text: str, code: str = "003") -> None:
    if not holds:
        raise Violation(code, text)


def _name(place: str, value: Json) -> str:
    """The name of a queue. Raises Violation 003."""
    rule = "must be of a to z, 0 to 9, _ and -, begin with a letter and have at most 63 characters"
    _require(isinstance(value, str) and _NAME.fullmatch(value), f"{place}: {rule}")
    return str(value)


def _identifier(place: str, value: Json) -> int:
    """The id of a client or a receiver, from a member. Raises Violation 003."""
    number = int64(value) or 0
    _require(number >= 1, f"{place}: must be an integer from 1 to {INT64_MAX}")
    return number


def _decimal(place: str, text: str, most: int = INT64_MAX) -> int:
    """A number from 1 to `most` in a path or a query. Raises Violation 003."""
    is_right = _DECIMAL.fullmatch(text) and int(text) <= most
    _require(is_right, f"{place}: must be an integer from 1 to {most}")
    return int(text)


def _only(query: str, name: str) -> str | None:
    """The value of a parameter, or None; "" for one that is given twice, which no rule allows."""
    values = parameters(query, name)
    return (values[0] if len(values) == 1 else "") if values else None


def _number(query: str, name: str, most: int) -> int | None:
    text = _only(query, name)
    return None if text is None else _decimal(name, text, most)


def _queues(value: Json) -> list[str]:
    """Distinct names of queues. Raises Violation 003."""
    given = value if isinstance(value, list) else []
    names = [it for it in given if isinstance(it, str) and _NAME.fullmatch(it)]
    is_right = 1 <= len(given) <= MOST_QUEUES and len(set(names)) == len(given)
    _require(is_right, "queues: must be an array of 1 to 100 distinct queue names")
    return names
