"""Whether a body is JSON as the contract defines it, checked in little memory for any body.

That is RFC 8259 in UTF-8 without a byte order mark, without duplicate members or lone surrogates,
at most MAX_DEPTH levels deep. No Python objects are built: they take up to 50 times a body's size.
"""

import json
import re
from array import array
from collections.abc import Iterator
from itertools import product

import msgspec
import numpy as np

from ..workloads.workload import InvalidRequestError

MAX_DEPTH = 32
"""The contract's limit of nested objects and arrays; the outermost one is level 1."""
MANY_NAMES = 1000
"""From this number on, an object's names are compared by sorting an array, 8 bytes a name."""
_STEPS = bytes.maketrans(b'[{]}"', b"\1\1\xff\xff\0")
"""What a bracket adds to the depth, as a signed byte; 0 for a quote."""
_NO_STEPS = bytes(set(range(256)) - set(b'[{]}"'))
_PIECE = 2**14
"""How many steps are summed at once: few enough for 16 bits and for a core's cache."""
STRING = rb'"(?:[^"\\]++|\\.)*+"'
_UP_TO_ONE_MEMBER = rb'\{\s*+(?>(?:%b\s*+:\s*+(?:%b|\[[^]["{}]*+\]|[^]["{},]++)\s*+)?)\}' % (
    STRING,
    STRING,
)
_NAME = re.compile(
    rb"(?>(?:(?:%b|%b(?!\s*+:))[\s,]*+){1,1000})|(%b)\s*+:|[{}]"
    % (_UP_TO_ONE_MEMBER, STRING, STRING)
)
"""A run of strings that are no names and of objects with one member at most, such as a matrix's
rows, which can be skipped; or a member's name (group 1); or a brace.

A group whose last repetition can fail half-way is atomic, not possessive: before Python 3.11.5 a
possessive group keeps what that repetition has matched. The number of repetitions is bounded,
because an atomic group keeps a stack of them.
"""
_LONE_SURROGATE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F]"
)
_SURROGATE_STARTS = [b"\\u%c%c" % pair for pair in product(b"dD", b"89abcdefABCDEF")]
_ANY = msgspec.json.Decoder(msgspec.Raw)


def check(body: bytes) -> None:
    """Raises InvalidRequestError 002 with the first fault in the contract's order, if any."""
    for is_faulty, message in (
        (_is_not_utf8, "the body is not valid UTF-8"),
        (_is_too_deep, f"the body is nested deeper than {MAX_DEPTH} levels"),
        (_is_malformed, "the body is not well-formed JSON"),
        (_has_member_twice, "the body has a member twice in one object"),
        (_has_lone_surrogate, "the body has a lone surrogate in a string"),
    ):
        if is_faulty(body):
            raise InvalidRequestError("002", message)


def _is_not_utf8(body: bytes) -> bool:
    try:
        body.decode()  # takes up to four times its size
    except UnicodeDecodeError:
        return True
    return False


def items(array: bytes, of: re.Pattern[bytes]) -> Iterator[bytes | None]:
    """The elements of a well-formed array that are what group 1 of a next_element() matches.
    The first other one gives None and ends the iteration, as its end is unknown."""
    position = 1
    while array.startswith(b"[") and (element := of.match(array, position)):
        yield element[1]
        if not element[1]:
            return
        position = element.end()


def next_element(of: bytes) -> re.Pattern[bytes]:
    """Matches an array's next element: of this pattern (group 1), or any other's beginning."""
    return re.compile(rb"[\s,]*+(?:(%b)|[^\s\]])" % of)


def _is_too_deep(body: bytes) -> bool:
    if body.count(b"[") + body.count(b"{") <= MAX_DEPTH:
        return False
    # Without escaped quotes, each quote begins or ends a string.
    body = body.replace(rb"\\", b"").replace(rb"\"", b"")
    steps = np.frombuffer(body.translate(_STEPS, _NO_STEPS), np.int8)
    depth = quotes = 0
    for begin in range(0, len(steps), _PIECE):
        piece = steps[begin : begin + _PIECE]
        quoted = (piece == 0).cumsum(dtype=np.uint8) + quotes & 1
        depths = (piece * (1 - quoted)).cumsum(dtype=np.int16)
        if depth + depths.max() > MAX_DEPTH:
            return True
        depth, quotes = depth + int(depths[-1]), quoted[-1]
    return False


def _is_malformed(body: bytes) -> bool:
    try:
        _ANY.decode(body)
    except (msgspec.DecodeError, RecursionError):
        # msgspec refuses lone surrogates. They are another fault, so they do not count here.
        if b"\\u" not in body:  # saves as many searches as there are starts
            return True
        for start in _SURROGATE_STARTS:
            body = body.replace(start, b"\\u00")
        try:
            _ANY.decode(body)
        except (msgspec.DecodeError, RecursionError):
            return True
    return False


def _has_member_twice(body: bytes) -> bool:
    """Whether an object of a well-formed body has a member twice, compared by 64-bit hashes."""
    objects: list[array[int]] = []
    for token in _NAME.finditer(body):
        if name := token[1]:
            objects[-1].append(hash(json.loads(name) if b"\\" in name else name[1:-1].decode()))
        elif body[token.end() - 1 : token.end()] == b"{":
            objects.append(array("q"))
        elif token.end() - token.start() == 1 and _is_any_twice(objects.pop()):
            return True
    return False


def _is_any_twice(hashes: "array[int]") -> bool:
    if len(hashes) < MANY_NAMES:
        return len(set(hashes)) < len(hashes)
    ordered = np.sort(np.frombuffer(hashes, np.int64))
    return bool((ordered[1:] == ordered[:-1]).any())


def _has_lone_surrogate(body: bytes) -> bool:
    """Whether a well-formed body has a lone surrogate. Escaped backslashes are replaced first,
    because a `u` after one is not an escape."""
    if b"\\u" not in body:
        return False
    return _LONE_SURROGATE.search(body.replace(b"\\\\", b"xx")) is not None
