"""A request for a kernel, read in the contract's order: 002, then 003 member by member."""

from collections.abc import Iterable
from dataclasses import dataclass

from ..request_object import echo, member, read_object, required_id
from ..workload import InvalidRequestError


@dataclass(frozen=True)
class NpbRequest:
    """A right request: `class_name` is one of the kernel's."""

    request_id: str | int
    class_name: str
    generate: bool


def read_request(body: bytes, class_names: Iterable[str]) -> NpbRequest:
    """Raises InvalidRequestError 002 or 003."""
    members = read_object(body)
    request_id = required_id(members)
    try:
        name: str = member(members, "class", str, "a string", "class")
        if name not in class_names:
            raise InvalidRequestError(
                "003", f"class: {echo(name)} is not one of {', '.join(class_names)}"
            )
        generate = "generate" not in members or member(
            members, "generate", bool, "a boolean", "generate"
        )
    except InvalidRequestError as error:
        raise InvalidRequestError(error.code, error.message, request_id) from None
    return NpbRequest(request_id, name, generate)
