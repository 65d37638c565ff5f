"""What every workload reads of a body: one well-formed JSON object and the request's id in it."""

import json
from typing import Any

from ..workloads.workload import InvalidRequestError
from .integers import int64
from .strict_json import IntegerText, MalformedJsonError, RealText, read

MAX_ID_CHARACTERS = 128
_ECHO_CHARACTERS = 24  # the contract allows 40


def read_object(body: bytes) -> dict[str, Any]:
    """The body's members. Raises InvalidRequestError 002."""
    try:
        request = read(body)
    except MalformedJsonError as error:
        raise InvalidRequestError("002", str(error)) from error
    if not isinstance(request, dict):
        raise InvalidRequestError("002", f"the body is {kind(request)}, not an object")
    return request


def readable_id(body: bytes) -> str | int | None:
    """The request's id if the body is well-formed and the id right, otherwise None."""
    try:
        return id_of(read_object(body))
    except InvalidRequestError:
        return None


def required_id(request: dict[str, Any]) -> str | int:
    """Raises InvalidRequestError 003."""
    request_id = id_of(request)
    if request_id is None:
        rule = f"a string of 1 to {MAX_ID_CHARACTERS} characters or a 64-bit integer"
        raise InvalidRequestError("003", f"requestId: must be {rule}")
    return request_id


def id_of(request: dict[str, Any]) -> str | int | None:
    """None where it is missing or wrong."""
    value = request.get("requestId")
    if isinstance(value, IntegerText):
        return int64(value)
    is_text = type(value) is str and 1 <= len(value) <= MAX_ID_CHARACTERS
    return value if is_text else None


def member(owner: dict[str, Any], name: str, type_: type, kind_name: str, place: str) -> Any:
    """The member if it is there and of the type. Raises InvalidRequestError 003."""
    if name not in owner:
        raise InvalidRequestError("003", f"{place}: is missing")
    if type(owner[name]) is not type_:  # a number as it was written is a str, too
        raise InvalidRequestError("003", f"{place}: is {kind(owner[name])}, not {kind_name}")
    return owner[name]


def kind(value: Any) -> str:
    """What a value read by strict_json is, in words."""
    if isinstance(value, IntegerText | RealText):
        return "a number"
    names = {dict: "an object", list: "an array", str: "a string", bool: "a boolean"}
    return names.get(type(value), "null")


def echo(item: Any) -> str:
    """What was sent, made safe to print and short; a container only by its kind."""
    if isinstance(item, IntegerText | RealText):
        return short(item)
    return json.dumps(short(item), ensure_ascii=False) if isinstance(item, str) else kind(item)


def short(text: str) -> str:
    """Not longer than what a message may echo."""
    return text if len(text) <= _ECHO_CHARACTERS else text[:_ECHO_CHARACTERS] + "..."
