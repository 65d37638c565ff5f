"""The seam between what is on the wire and what a workload computes with.

Every codec reads one well-formed JSON object, the request's id in it, and the delay in the query.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from threading import Lock
from typing import Protocol, TypeVar
from urllib.parse import parse_qs

import msgspec

from ..workloads.workload import InvalidRequestError
from .strict_json import MalformedJsonError, check

Input_co = TypeVar("Input_co", covariant=True)
Output_contra = TypeVar("Output_contra", contravariant=True)
MAX_ID_CHARACTERS = 128
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
MISSING = msgspec.Raw(b"")
"""A member that is not there: no JSON value is empty."""
SLOWLY = Lock()
"""For bodies that are read slowly: the interpreter lock lets no more than one pass, and memory is
bounded."""
_INTEGER = re.compile(rb" *(-?)([0-9]+) *")
_MILLIS = re.compile(r"[0-9]{1,6}")


class Answer(bytes):
    """A response body that has headers of its own; it stays what it is on its way through pools."""

    headers: Mapping[str, str] = {}


class Codec(Protocol[Input_co, Output_contra]):
    """One format of one workload's requests and answers. Small, a value, and can be pickled."""

    def decode(self, body: bytes, query: str) -> Input_co:
        """`query` is what follows the `?`, as it was sent. Raises InvalidRequestError."""

    def encode(self, output: Output_contra) -> bytes:
        """The whole response body; an Answer where it has headers."""

    def identify(self, body: bytes) -> str | int | None:
        """The id for the answer and the log when a stage failed by a fault of the service."""
        return readable_id(body)


class Members(msgspec.Struct, gc=False):
    """What the object of every request has, unread; each codec adds its own."""

    requestId: msgspec.Raw = MISSING  # noqa: N815 - the contract's spelling


Named = TypeVar("Named", bound=Members)
_ID_ONLY = msgspec.json.Decoder(Members)


def read_request(
    body: bytes, decoder: "msgspec.json.Decoder[Named]", wrong_query: str | None
) -> tuple[Named, str | int]:
    """The members that the decoder names, and the id. Raises InvalidRequestError in the contract's
    order: 002, then 003 with the message for a wrong query, then 003 of the id.
    """
    members = read_members(body, decoder)
    if wrong_query:
        raise InvalidRequestError("003", wrong_query, id_of(members.requestId))
    return members, required_id(members.requestId)


def read_members(body: bytes, decoder: "msgspec.json.Decoder[Named]") -> Named:
    """The members that the decoder names, unread. Raises InvalidRequestError 002."""
    try:
        check(body)
    except MalformedJsonError as error:
        raise InvalidRequestError("002", str(error)) from error
    if not body.lstrip(b" \t\r\n").startswith(b"{"):
        raise InvalidRequestError("002", "the body is not a JSON object")
    return decoder.decode(body)


def readable_id(body: bytes) -> str | int | None:
    """The request's id if the body is well-formed and the id right, otherwise None."""
    try:
        return id_of(read_members(body, _ID_ONLY).requestId)
    except InvalidRequestError:
        return None


def required_id(value: msgspec.Raw) -> str | int:
    """Raises InvalidRequestError 003."""
    request_id = id_of(value)
    if request_id is None:
        rule = f"a string of 1 to {MAX_ID_CHARACTERS} characters or a 64-bit integer"
        raise InvalidRequestError("003", f"requestId: must be {rule}")
    return request_id


def id_of(value: msgspec.Raw) -> str | int | None:
    """None where it is missing or wrong."""
    text = bytes(value)
    if not text.startswith(b'"'):
        return int64(text)
    name: str = msgspec.json.decode(text)
    return name if is_right_id(name) else None


def is_right_id(request_id: str | int) -> bool:
    """Whether a string or an integer may be one."""
    if isinstance(request_id, str):
        return 1 <= len(request_id) <= MAX_ID_CHARACTERS
    return INT64_MIN <= request_id <= INT64_MAX


def text_of(value: msgspec.Raw) -> str:
    """Empty where it is no string: no text that is asked for may be."""
    text = bytes(value)
    return str(msgspec.json.decode(text)) if text.startswith(b'"') else ""


def int64(text: bytes) -> int | None:
    """-?[0-9]+ with spaces around it, if it fits; digits are counted before they are converted."""
    match = _INTEGER.fullmatch(text)
    if match is None:
        return None
    digits = match[2].lstrip(b"0") or b"0"
    value = int(match[1] + digits) if len(digits) <= len(str(INT64_MAX)) else INT64_MAX + 1
    return value if INT64_MIN <= value <= INT64_MAX else None


@lru_cache(maxsize=64)
def asked_ms(query: str, max_ms: int) -> int | None:
    """How long ?delay=MS of any workload asks to wait before it is worked on, in milliseconds; None
    where nothing is asked for, or something wrong.
    """
    asked = _delays(query)
    if len(asked) != 1 or not _MILLIS.fullmatch(asked[0]):
        return None
    delay_ms = int(asked[0])
    return delay_ms if delay_ms <= max_ms else None


@lru_cache(maxsize=64)
def delay_fault(query: str, max_ms: int) -> str | None:
    """The message of 003 for a delay, right after the kernel's; None where nothing is wrong."""
    if not query or asked_ms(query, max_ms) is not None or not _delays(query):
        return None
    return f"delay: must be a whole number of milliseconds from 0 to {max_ms}"


def _delays(query: str) -> list[str]:
    return parse_qs(query, keep_blank_values=True).get("delay", [])
