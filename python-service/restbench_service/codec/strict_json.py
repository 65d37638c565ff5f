"""JSON read strictly and slowly, to say what is wrong with it.

RFC 8259 in UTF-8 without a byte order mark; no duplicate names, no lone surrogates, no more than
MAX_DEPTH levels. Numbers stay text, so that nothing is rounded and none is too long.
"""

import json
from collections.abc import Iterator
from typing import Any

MAX_DEPTH = 32
"""Objects and arrays inside one another, the outermost being 1; from the contract."""


class MalformedJsonError(Exception):
    """Not well-formed; the text says what and where."""


class IntegerText(str):
    """A JSON number without fraction and exponent, as it was written."""

    __slots__ = ()


class RealText(str):
    """Any other JSON number, as it was written."""

    __slots__ = ()


def read(body: bytes) -> Any:
    """Objects as dict, arrays as list, strings as str, numbers as IntegerText or RealText."""
    try:
        text = body.decode("utf-8")
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_int=IntegerText,
            parse_float=RealText,
            parse_constant=_no_constant,
        )
    except UnicodeDecodeError as error:
        raise MalformedJsonError(f"invalid UTF-8 at byte {error.start}") from error
    except json.JSONDecodeError as error:
        raise MalformedJsonError(f"malformed JSON at character {error.pos}: {error.msg}") from error
    except RecursionError as error:
        raise MalformedJsonError(f"nested deeper than {MAX_DEPTH}") from error
    _check(value)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise MalformedJsonError("an object has the same member twice")
    return members


def _no_constant(text: str) -> None:
    raise MalformedJsonError(f"{text} is not JSON")


def _check(value: Any) -> None:
    """Depth and surrogates, level by level: a recursion would need a stack as deep as the body."""
    level, depth = [value], 0
    while level:
        if any(_has_lone_surrogate(item) for item in level):
            raise MalformedJsonError("a string has a lone surrogate")
        containers = [item for item in level if isinstance(item, dict | list)]
        depth += 1
        if containers and depth > MAX_DEPTH:
            raise MalformedJsonError(f"nested deeper than {MAX_DEPTH}")
        level = [item for container in containers for item in _contents(container)]


def _contents(container: dict[str, Any] | list[Any]) -> Iterator[Any]:
    if isinstance(container, dict):
        yield from container.keys()
        yield from container.values()
    else:
        yield from container


def _has_lone_surrogate(item: Any) -> bool:
    if type(item) is not str or item.isascii():
        return False
    try:
        item.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False
