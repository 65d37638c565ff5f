"""The JSON of the workload logs: lines in, the rules that fire on them out.

A usual body is read by one typed decode. Any other body, such as one with an unknown member or an
escape, is read slowly, so that the first fault in the contract's order is reported.
"""

from dataclasses import dataclass

import msgspec
import orjson

from ..workloads.logs.rules import RULE_SETS
from ..workloads.logs.workload import LogsRequest, LogsResult
from ..workloads.workload import InvalidRequestError
from .codec import (
    MISSING,
    SLOW_READ_LOCK,
    Codec,
    Members,
    delay_fault,
    is_valid_id,
    read_request,
    reading,
    text_of,
)
from .strict_json import STRING, items, next_element

MOST_CHARACTERS = 4096
"""The length limit of a line, in code points."""
_MEMBER_STRINGS = 4
"""JSON strings besides the lines and a string id: three members' names and the rule set."""
_NEXT_LINE = next_element(STRING)


class _Request(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    requestId: str | int  # noqa: N815 - the contract's spelling
    ruleSet: str  # noqa: N815
    lines: list[str]


class _Members(Members, gc=False):
    ruleSet: msgspec.Raw = MISSING  # noqa: N815
    lines: msgspec.Raw = MISSING


_REQUEST = msgspec.json.Decoder(_Request)
_MEMBERS = msgspec.json.Decoder(_Members)


@dataclass(frozen=True)
class LogsJson(Codec[LogsRequest, LogsResult]):
    """POST /logs/{strategy}?delay=..."""

    max_delay_ms: int = 0

    def decode(self, body: bytes, query: str) -> LogsRequest:
        """Raises InvalidRequestError 002, 003, 005, 004: the first that applies."""
        wrong_delay = delay_fault(query, self.max_delay_ms)
        with reading(body):
            request = None if wrong_delay else _read_usual(body)
        if request is None:
            with SLOW_READ_LOCK:
                request = _read_slowly(body, wrong_delay)
        return request

    def encode(self, output: LogsResult) -> bytes:
        """The answer's members in the contract's order, without white space."""
        members = {
            "requestId": str(output.request.request_id),
            "ruleSet": output.request.rule_set,
            "alerts": output.alerts,
            "counts": output.counts,
        }
        fired = b",".join(orjson.dumps(lines)[1:-1] for lines in output.fired_rules())
        return b'%b,"fired":[%b]}' % (orjson.dumps(members)[:-1], fired)


def _read_usual(body: bytes) -> LogsRequest | None:
    """The request, or None if the body is not surely valid and has to be read slowly."""
    if b"\\" in body:  # escapes could hide names, surrogates and line feeds
        return None
    try:
        request = _REQUEST.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    request_id, lines = request.requestId, request.lines
    strings = _MEMBER_STRINGS + isinstance(request_id, str) + len(lines)
    if body.count(b'"') != 2 * strings:  # a duplicate member: msgspec silently keeps the last
        return None
    if not is_valid_id(request_id) or request.ruleSet not in RULE_SETS or not lines:
        return None
    if max(map(len, lines)) > MOST_CHARACTERS:
        return None
    return _request_of(request_id, request.ruleSet, lines)


def _read_slowly(body: bytes, wrong_delay: str | None = None) -> LogsRequest:
    members, request_id = read_request(body, _MEMBERS, wrong_delay)
    try:
        return _request_of(request_id, _rule_set(members.ruleSet), _lines(bytes(members.lines)))
    except InvalidRequestError as error:
        raise InvalidRequestError(error.code, error.message, request_id) from None


def _rule_set(member: msgspec.Raw) -> str:
    name = text_of(member)
    if name not in RULE_SETS:
        raise InvalidRequestError("003", f"ruleSet: must be one of {', '.join(RULE_SETS)}")
    return name


def _lines(member: bytes) -> list[str]:
    lines = list[str]()
    for element in items(member, _NEXT_LINE):
        line = str(msgspec.json.decode(element)) if element else "\n"
        if "\n" in line:
            place = f"lines[{len(lines)}]"
            raise InvalidRequestError("005", f"{place}: must be a string without a line feed")
        lines.append(line)
    if not lines:
        raise InvalidRequestError("003", "lines: must be an array of at least one line")
    for index, line in enumerate(lines):
        if len(line) > MOST_CHARACTERS:
            limit = f"the number of characters is {len(line)}, the limit is {MOST_CHARACTERS}"
            raise InvalidRequestError("004", f"lines[{index}]: {limit}")
    return lines


def _request_of(request_id: str | int, rule_set: str, lines: list[str]) -> LogsRequest:
    text = "\n".join(lines)
    return LogsRequest(request_id, rule_set, text.encode(), len(lines), len(text) + 1)
