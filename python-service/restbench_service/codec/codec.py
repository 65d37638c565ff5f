"""The interface between the bytes on the wire and the values that a workload computes with.

It also has what the codecs share: reading a JSON object's members, a request's id and `?delay=`.
"""

import re
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from threading import Lock
from typing import Protocol, TypeVar
from urllib.parse import parse_qs

import msgspec

from ..workloads.workload import InvalidRequestError
from .strict_json import check

Input_co = TypeVar("Input_co", covariant=True)
Output_contra = TypeVar("Output_contra", contravariant=True)
MAX_ID_CHARACTERS = 128
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
MISSING = msgspec.Raw(b"")
"""The value of a missing member. No JSON value is empty, so it is unambiguous."""
SLOW_READ_LOCK = Lock()
"""Held while a body is read by slow Python code, or a long one by any. Only one such read can
progress at a time anyway, because of the global interpreter lock; this also bounds their memory."""
MAX_CONCURRENTLY_READ_BYTES = 1024 * 1024
"""Longer bodies are read one at a time in each process, as reading takes up to twenty times a
body's size."""
_INTEGER = re.compile(rb" *(-?)([0-9]+) *")
_MILLIS = re.compile(r"[0-9]{1,6}")


def reading(body: bytes) -> AbstractContextManager[object]:
    """To be held while this body is read: SLOW_READ_LOCK for a long one."""
    return SLOW_READ_LOCK if len(body) > MAX_CONCURRENTLY_READ_BYTES else nullcontext()


class Answer(bytes):
    """A response body with additional headers. Pickling keeps the headers."""

    headers: Mapping[str, str] = {}


class Codec(Protocol[Input_co, Output_contra]):
    """One format of one workload's requests and answers: a small value that can be pickled."""

    def decode(self, body: bytes, query: str) -> Input_co:
        """The workload's input. `query` is the undecoded part of the URL after the `?`.

        Raises InvalidRequestError.
        """

    def encode(self, output: Output_contra) -> bytes:
        """The whole response body; an Answer if it has additional headers."""

    def query_kind(self, query: str) -> str:  # noqa: ARG002
        """What the query says of the time that a body of a given length takes; no other text."""
        return ""

    def identify(self, body: bytes) -> str | int | None:
        """The request's id for the answer and the log after a fault of the service, or None."""
        return readable_id(body)


class Members(msgspec.Struct, gc=False):
    """The members of every request's object, as undecoded JSON. Each codec adds its own members."""

    requestId: msgspec.Raw = MISSING  # noqa: N815 - the contract's spelling


Named = TypeVar("Named", bound=Members)
_ID_ONLY = msgspec.json.Decoder(Members)


def read_request(
    body: bytes, decoder: "msgspec.json.Decoder[Named]", wrong_query: str | None
) -> tuple[Named, str | int]:
    """The members that the decoder names, as undecoded JSON, and the request's id.

    Raises InvalidRequestError with the first that applies: 002 for the body, 003 with the message
    `wrong_query` unless that is empty or None, 003 for the id.
    """
    members = read_members(body, decoder)
    if wrong_query:
        raise InvalidRequestError("003", wrong_query, id_of(members.requestId))
    return members, required_id(members.requestId)


def read_members(body: bytes, decoder: "msgspec.json.Decoder[Named]") -> Named:
    """The members that the decoder names, as undecoded JSON. Raises InvalidRequestError 002."""
    check(body)
    if not body.lstrip(b" \t\r\n").startswith(b"{"):
        raise InvalidRequestError("002", "the body is not a JSON object")
    return decoder.decode(body)


def readable_id(body: bytes) -> str | int | None:
    """The request's id if the body is well-formed and the id valid, otherwise None."""
    try:
        with reading(body):
            return id_of(read_members(body, _ID_ONLY).requestId)
    except InvalidRequestError:
        return None


def required_id(value: msgspec.Raw) -> str | int:
    """The request's id. Raises InvalidRequestError 003 if it is missing or invalid."""
    request_id = id_of(value)
    if request_id is None:
        rule = f"a string of 1 to {MAX_ID_CHARACTERS} characters or a 64-bit integer"
        raise InvalidRequestError("003", f"requestId: must be {rule}")
    return request_id


def id_of(value: msgspec.Raw) -> str | int | None:
    """The request's id, or None if it is missing or invalid."""
    text = bytes(value)
    if not text.startswith(b'"'):
        return int64(text)
    name: str = msgspec.json.decode(text)
    return name if is_valid_id(name) else None


def is_valid_id(request_id: str | int) -> bool:
    """Whether a string or an integer is a valid request id."""
    if isinstance(request_id, str):
        return 1 <= len(request_id) <= MAX_ID_CHARACTERS
    return INT64_MIN <= request_id <= INT64_MAX


def text_of(value: msgspec.Raw) -> str:
    """The member's string; empty if it is not a string, as no member may be an empty string."""
    text = bytes(value)
    return str(msgspec.json.decode(text)) if text.startswith(b'"') else ""


def int64(text: bytes) -> int | None:
    """The value of `-?[0-9]+` with spaces around it, or None if it is not that or exceeds 64 bits.

    The digits are counted first, so that a very long number is not converted.
    """
    match = _INTEGER.fullmatch(text)
    if match is None:
        return None
    digits = match[2].lstrip(b"0") or b"0"
    value = int(match[1] + digits) if len(digits) <= len(str(INT64_MAX)) else INT64_MAX + 1
    return value if INT64_MIN <= value <= INT64_MAX else None


@lru_cache(maxsize=64)
def requested_delay_ms(query: str, max_ms: int) -> int | None:
    """The milliseconds that `?delay=MS` asks the service to wait before it processes the request;
    None if the parameter is missing or invalid.
    """
    asked = _delays(query)
    if len(asked) != 1 or not _MILLIS.fullmatch(asked[0]):
        return None
    delay_ms = int(asked[0])
    return delay_ms if delay_ms <= max_ms else None


@lru_cache(maxsize=64)
def delay_fault(query: str, max_ms: int) -> str | None:
    """The message of error 003 for an invalid delay; None if the delay is missing or valid."""
    if not query or requested_delay_ms(query, max_ms) is not None or not _delays(query):
        return None
    return f"delay: must be a whole number of milliseconds from 0 to {max_ms}"


def _delays(query: str) -> list[str]:
    return parse_qs(query, keep_blank_values=True).get("delay", [])
