"""The JSON of the workload messages, and the values in its paths and queries."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import parse_qs

import msgspec
import orjson

from ..workloads.messages.requests import (
    NOBODY,
    TECHNIQUES,
    Broadcast,
    CountMessages,
    CreateQueue,
    DeleteMessage,
    DeleteQueue,
    ListQueues,
    Message,
    Outcome,
    Peek,
    Pop,
    Request,
    Send,
)
from ..workloads.workload import InvalidRequestError
from .codec import (
    INT64_MAX,
    MISSING,
    Answer,
    Codec,
    Members,
    delay_fault,
    id_of,
    int64,
    read_members,
    readable_id,
    reading,
    required_id,
    text_of,
)
from .strict_json import STRING, items, next_element

OPERATIONS: Mapping[str, tuple[str, str]] = {
    "list": ("GET", "/queues"),
    "create": ("POST", "/queues"),
    "count": ("GET", "/queues/{queue}"),
    "delete-queue": ("DELETE", "/queues/{queue}"),
    "peek": ("GET", "/queues/{queue}/messages"),
    "send": ("POST", "/queues/{queue}/messages"),
    "delete-message": ("DELETE", "/queues/{queue}/messages/{id}"),
    "pop": ("POST", "/queues/{queue}/pop"),
    "broadcast": ("POST", "/broadcast"),
}
"""Each operation's method and path below /messages/{strategy}. The methods of one path are in the
order in which the answer 405 lists them."""
QUEUE_RULE = (
    "must be of a to z, 0 to 9, _ and -, begin with a letter and have at most 63 characters"
)
BODY_RULE = "must be a string of at least one character without U+0000"
KEY_RULE = "must be 1 to 64 characters of U+0021 to U+007E"
MOST_QUEUES, MOST_LISTED, MOST_PEEKED = 100, 1000, 100
REPLAYED = {"Idempotent-Replayed": "true"}
_QUEUE = re.compile(r"[a-z][a-z0-9_-]{0,62}")
_KEY = re.compile(r"[!-~]{1,64}")
_NUMBER = re.compile(r"[1-9][0-9]{0,18}")
_NEXT_NAME = next_element(STRING)


class _Members(Members, gc=False):
    queue: msgspec.Raw = MISSING
    technique: msgspec.Raw = MISSING
    sender: msgspec.Raw = MISSING
    client: msgspec.Raw = MISSING
    receiver: msgspec.Raw = MISSING
    queues: msgspec.Raw = MISSING
    body: msgspec.Raw = MISSING
    key: msgspec.Raw = MISSING


_MEMBERS = msgspec.json.Decoder(_Members)


@dataclass(frozen=True)
class MessagesJson(Codec[Request, Outcome]):
    """One operation under one strategy; `values` are those of the placeholders in its path."""

    operation: str
    max_delay_ms: int
    max_characters: int
    strategy: str = ""
    values: tuple[str, ...] = ()

    def decode(self, body: bytes, query: str) -> Request:
        """Raises InvalidRequestError 002, 003 for path, query and members, 007, in this order."""
        if OPERATIONS[self.operation][0] != "POST":  # GET and DELETE ignore a body
            return self._decoded(_Members(), query)
        with reading(body):
            members = read_members(body, _MEMBERS)
            try:
                return self._decoded(members, query)
            except InvalidRequestError as error:
                request_id = id_of(members.requestId)
                raise InvalidRequestError(error.code, error.message, request_id) from None

    def _decoded(self, members: _Members, query: str) -> Request:
        queue = _queue("queue", self.values[0]) if self.values else ""
        message_id = _number("id", self.values[1], INT64_MAX) if len(self.values) > 1 else 0
        if wrong := delay_fault(query, self.max_delay_ms):
            raise InvalidRequestError("003", wrong)
        asked = parse_qs(query, keep_blank_values=True) if query else {}
        common: dict[str, Any] = {"strategy": self.strategy}
        match self.operation:
            case "list":
                after = _queue("after", _only(asked, "after")) if "after" in asked else ""
                limit = _asked_number(asked, "limit", MOST_LISTED, MOST_LISTED // 10)
                return ListQueues(after, limit, **common)
            case "count":
                return CountMessages(queue, **common)
            case "delete-queue":
                return DeleteQueue(queue, **common)
            case "peek":
                receiver = _asked_number(asked, "receiver", INT64_MAX, NOBODY)
                return Peek(
                    queue, receiver, _asked_number(asked, "limit", MOST_PEEKED, 1), **common
                )
            case "delete-message":
                return DeleteMessage(queue, message_id, **common)
        common["request_id"] = required_id(members.requestId)
        return self._posted(members, queue, common)

    def _posted(self, members: _Members, queue: str, common: dict[str, Any]) -> Request:
        match self.operation:
            case "create":
                name = _queue("queue", text_of(members.queue))
                return CreateQueue(name, _technique(members.technique), **common)
            case "pop":
                client, receiver = _member("client", members.client), _receiver(members)
                return Pop(queue, client, receiver, _key(members.key), **common)
        sender = _member("sender", members.sender)
        to: Any = _receiver(members) if self.operation == "send" else _queues(members.queues)
        body, key = _body(members.body), _key(members.key)
        if len(body) > self.max_characters:
            limit = f"the number of characters is {len(body)}, the limit is {self.max_characters}"
            raise InvalidRequestError("007", f"body: {limit}")
        if self.operation == "send":
            return Send(queue, sender, to, body, key, **common)
        return Broadcast(to, sender, body, key, **common)

    def encode(self, output: Outcome) -> bytes:
        """The answer's members in the contract's order."""
        answer = orjson.dumps(_answer_members(output.request, output.result))
        if output.is_replay:
            answer = Answer(answer)
            answer.headers = REPLAYED
        return answer

    def identify(self, body: bytes) -> str | int | None:
        """See Codec."""
        return readable_id(body) if OPERATIONS[self.operation][0] == "POST" else None


# --- requests -----------------------------------------------------------------------------------


def _invalid(place: str, rule: str) -> InvalidRequestError:
    return InvalidRequestError("003", f"{place}: {rule}")


def _queue(place: str, name: str) -> str:
    if not _QUEUE.fullmatch(name):
        raise _invalid(place, QUEUE_RULE)
    return name


def _number(place: str, text: str, most: int) -> int:
    """A number in a path or a query. Raises InvalidRequestError 003."""
    if not _NUMBER.fullmatch(text) or int(text) > most:
        raise _invalid(place, f"must be an integer from 1 to {most}")
    return int(text)


def _only(asked: Mapping[str, list[str]], name: str) -> str:
    """The query parameter. No rule allows the line feed between the values of one given twice."""
    return "\n".join(asked[name])


def _asked_number(asked: Mapping[str, list[str]], name: str, most: int, default: int) -> int:
    return _number(name, _only(asked, name), most) if name in asked else default


def _member(name: str, value: msgspec.Raw) -> int:
    number = int64(bytes(value))
    if number is None or number < 1:
        raise _invalid(name, f"must be an integer from 1 to {INT64_MAX}")
    return number


def _receiver(members: _Members) -> int:
    value = bytes(members.receiver)
    return _member("receiver", members.receiver) if value not in (b"", b"null") else NOBODY


def _technique(value: msgspec.Raw) -> str:
    name = text_of(value) if bytes(value) else TECHNIQUES[0]
    if name not in TECHNIQUES:
        raise _invalid("technique", f"must be one of {', '.join(TECHNIQUES)}")
    return name


def _body(value: msgspec.Raw) -> str:
    text = text_of(value)
    if not text or "\0" in text:
        raise _invalid("body", BODY_RULE)
    return text


def _key(value: msgspec.Raw) -> str | None:
    if not bytes(value):
        return None
    key = text_of(value)
    if not _KEY.fullmatch(key):
        raise _invalid("key", KEY_RULE)
    return key


def _queues(value: msgspec.Raw) -> tuple[str, ...]:
    # One more than the limit is enough; all of them would take 18 times the body's size in memory.
    elements = islice(items(bytes(value), _NEXT_NAME), MOST_QUEUES + 1)
    names = [str(msgspec.json.decode(each)) if each else "" for each in elements]
    is_right = all(map(_QUEUE.fullmatch, names)) and len(set(names)) == len(names)
    if not is_right or not 1 <= len(names) <= MOST_QUEUES:
        raise _invalid("queues", f"must be an array of 1 to {MOST_QUEUES} distinct queue names")
    return tuple(names)


# --- answers ------------------------------------------------------------------------------------


def _answer_members(request: Request, result: Any) -> dict[str, Any]:
    answer: dict[str, Any] = {}
    if request.request_id is not None:
        answer["requestId"] = str(request.request_id)
    match request:
        case Pop():
            answer |= {"id": None} if result is None else _message(result, request.receiver)
        case Send():
            answer |= {"id": result}
        case Broadcast():
            answer |= {"ids": result}
        case Peek():
            answer["messages"] = [_message(each, request.receiver) for each in result]
        case CreateQueue():
            answer |= {"queue": request.queue, "technique": request.technique, "created": result}
        case ListQueues():
            answer["queues"] = [{"queue": name, "technique": means} for name, means in result]
        case CountMessages():
            answer |= {"queue": request.queue, "technique": result[0], "messages": result[1]}
        case DeleteQueue():
            answer |= {"queue": request.queue, "deleted": result}
        case DeleteMessage():
            answer |= {"id": request.id, "deleted": result}
    return answer


def _message(message: Message, receiver: int) -> dict[str, Any]:
    return {
        "id": message.id,
        "sender": message.sender,
        "receiver": receiver or None,
        "body": message.body,
        "sentAt": message.sent_at,
    }
