"""Wrong requests: with changed members and numbers, with spoilt text, and with large bodies."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence

from hypothesis import strategies as st

from restbench_robustness.wire import Message

from .documents import (
    Members,
    Raw,
    Value,
    any_numbers,
    documents,
    fully_escaped,
    ids,
    matrix,
    quoted,
    rows_of,
    spaces,
    write,
)

NUMBERS = tuple(
    map(
        Raw,
        (
            "0", "-0", "1", "-1", "1.0", "1e0", "1E0", "1e400", "-1e-400", "0.5", "1e+2",
            "9223372036854775807", "9223372036854775808", "-9223372036854775808",
            "-9223372036854775809", "18446744073709551616", "9007199254740993", "9" * 400,
            "0.0", "-0.0", "123456789012345678901234567890e-11", "1" + "0" * 400 + "e-400",
        ),
    )
)  # fmt: skip
_NO_NUMBERS = "+1 01 -01 1. .5 - 1e 1e+ 0x1 NaN -Infinity 1_0 \u0661 \uff11 --1 1_2"
NO_NUMBERS = tuple(Raw(text.replace("1_2", "1 2")) for text in _NO_NUMBERS.split(" "))
PIECES = (
    "1", "0", "-0", "-1", "+1", "01", "-007", " 1", "1 ", "1  2", "", " ", "-", "- 1", "--1", "1.0",
    "1e3", "0x1", "NaN", "null", "1\u00a0", "\t1", "1\n", "\uff11", "\u0661", "\u22121", "1_0",
    "1;2", "[1]", '"1"', "\u200b1", "9223372036854775807", "9223372036854775808",
    "-9223372036854775808", "-9223372036854775809", "0" * 30 + "1", "9" * 400,
    "18446744073709551617", "1\x00", "½", "²", "e", "😀",
)  # fmt: skip
JUNK: tuple[Value, ...] = (
    None, True, False, [], Members(), "", " ", "x", "1", "1,2", [1], [[1]], [Members()],
    Members([("value", "1")]), Members([("columnCount", 1)]), [None], ["1"], "\x00", "x" * 129,
)  # fmt: skip
NAMES = (
    "requestId", "matrixOne", "matrixTwo", "columnCount", "rows", "value", "requestid", "Rows",
    "values", "", "x", "matrixOne ", "__proto__", "requestId\x00", "ro\u200bws",
)  # fmt: skip
WRONG: dict[str, tuple[Value, ...]] = {
    "columnCount": (0, -1, 1, 2, 3, 4, 2**31, 2**32 + 1, 2**63, 2**64 + 1, 10**400),
    "value": (
        "", "1", "1,2", "1,2,3,4", [1], [1, 2], ",", "1,", "1,x", "1.0", "1 1", "+1", "\u0661",
        "9223372036854775808",
    ),
}  # fmt: skip
CODE_UNITS = (
    "\\ud800", "\\uDBFF", "\\udc00", "\\uDFFF", "\\u0000", "\\u0022", "\\u005C", "\\ufeff",
    "\\uFFFF", "\\", "\\\\", '\\"', "\\/", "\\b", "\\u", "\\uD83D\\uDE00", "a", "é", "😀", "\ud800",
    "\udfff", "\x01", "\t",
)  # fmt: skip

joined_pieces = st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map(",".join)
#: Deep copies: a value that is put into a document may be changed there.
junk = st.one_of(
    st.sampled_from(JUNK),
    st.sampled_from(NUMBERS),
    joined_pieces,
    st.lists(st.one_of(st.sampled_from(NUMBERS), st.sampled_from(JUNK)), max_size=4),
).map(copy.deepcopy)
odd_numbers: st.SearchStrategy[Value] = st.one_of(
    st.sampled_from(NUMBERS + NO_NUMBERS),
    joined_pieces,
    st.lists(st.sampled_from(NUMBERS + NO_NUMBERS), min_size=1, max_size=3).map(list),
    st.text(st.sampled_from("0123456789,- +.e"), max_size=12),
)
odd_strings = st.lists(st.sampled_from(CODE_UNITS), max_size=5).map(
    lambda units: Raw(f'"{"".join(units)}"')
)
"""Strings of escapes, surrogates and characters that JSON requires to be escaped."""
Spot = tuple[Members | list[Value], int]


def spots(value: Value) -> list[Spot]:
    """All members and items of a document, each as its container and its index in it."""
    found: list[Spot] = []
    if isinstance(value, list):
        items = [it for _, it in value] if isinstance(value, Members) else value
        for index, item in enumerate(items):
            found += [(value, index), *spots(item)]
    return found


def named(document: Members, name: str) -> list[Spot]:
    """All members of this name."""
    return [
        (owner, index)
        for owner, index in spots(document)
        if isinstance(owner, Members) and owner[index][0] == name
    ]


def put(spot: Spot, value: Value) -> None:
    """Replace the value at a spot; a member keeps its name."""
    owner, index = spot
    if isinstance(owner, Members):
        owner[index] = (owner[index][0], value)
    else:
        owner[index] = value


def change(draw: st.DrawFn, spot: Spot, other: st.SearchStrategy[Value] = junk) -> None:
    """Change a spot in one of these ways: replace its value by an `other` one, remove it, repeat
    it, rename it, or add a member or an item next to it."""
    owner, index = spot
    what = draw(st.sampled_from(["replace", "replace", "drop", "repeat", "rename", "add"]))
    if what == "replace":
        put(spot, draw(other))
    elif what == "drop":
        owner.pop(index)
    elif isinstance(owner, Members):
        name, value = owner[index]
        if what == "repeat":
            spelled = draw(st.sampled_from([name, name, Raw(fully_escaped(name))]))
            place = draw(st.integers(0, len(owner)))
            again = draw(st.one_of(st.just(value), junk))
            owner.insert(place, (spelled, copy.deepcopy(again)))
        elif what == "rename":
            owner[index] = (draw(st.sampled_from(NAMES)), value)
        else:
            owner.insert(index, (draw(st.sampled_from(NAMES)), draw(junk)))
    elif what == "repeat":
        owner.insert(index, copy.deepcopy(owner[index]))
    elif what == "add":
        owner.insert(index, draw(junk))


@st.composite
def spoilt_documents(draw: st.DrawFn) -> Members:
    """A right request after one to three changes."""
    document = draw(documents())
    for _ in range(draw(st.integers(1, 3))):
        found = spots(document)
        if found:
            change(draw, draw(st.sampled_from(found)))
    return document


@st.composite
def member_messages(draw: st.DrawFn) -> Message:
    """A request with one to three wrong members, in a right message."""
    quote = draw(st.sampled_from([quoted, quoted, fully_escaped]))
    return Message(write(draw(spoilt_documents()), draw(spaces), quote))


@st.composite
def spelling_messages(draw: st.DrawFn) -> Message:
    """A request with one odd spelling: of a number or of the elements of a row, or of a string as a
    value, as an id, as a name or in an ignored member."""
    document = draw(documents())
    spot = draw(st.sampled_from(spots(document) + 3 * named(document, "value")))
    match draw(st.sampled_from(["string", "id", "name", "ignored"] + ["number"] * 4)):
        case "number":
            put(spot, draw(odd_numbers))
        case "string":
            put(spot, draw(odd_strings))
        case "id":
            put(named(document, "requestId")[0], draw(odd_strings))
        case "name":
            document.append((draw(odd_strings), 1))
        case _:
            document.insert(0, ("x", [draw(odd_strings), "x"]))
    return Message(write(document))


@st.composite
def size_messages(draw: st.DrawFn) -> Message:
    """A request whose matrices, rows and columnCounts need not fit each other."""
    shapes = st.tuples(st.integers(1, 3), st.integers(1, 3))
    parts = [draw(matrix(draw(rows_of(*draw(shapes), any_numbers)))) for _ in range(2)]
    document = Members([("requestId", draw(ids)), ("matrixOne", parts[0]), ("matrixTwo", parts[1])])
    for name, wrong in WRONG.items():
        if draw(st.booleans()):
            put(draw(st.sampled_from(named(document, name))), draw(st.sampled_from(wrong)))
    return Message(write(document))


FRAGMENTS = (
    b"{", b"}", b"[", b"]", b",", b":", b'"', b'""', b"\\", b"/", b"0", b"-", b".", b"e", b" ",
    b"\n", b"\x00", b"\x0b", b"\x0c", b"\x7f", b"\x80", b"\xff", b"\xc0\x80", b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80", b"\xef\xbb\xbf", b"\xc2\xa0", b"\xe2\x80\xa8", b"\xc2\x85", b"null",
    b"true", b"NaN", b"Infinity", b"None", b"// x", b"/* */", b"#", b"'", b"\\u0000", b"\\ud800",
    b"\\udc00", b"\\ud83d\\ude00", b"\\uDe00\\uD83d", b"\\x41", b"\\u12", b"\\U0001f600", b"{}",
    b"[]", b'"a":1', b",,", b'"requestId":1,', b"1e400",
)  # fmt: skip
ENCODINGS = ("utf-16-le", "utf-16-be", "utf-16", "utf-32", "utf-8-sig", "latin-1", "utf-7")

fragments = st.one_of(st.sampled_from(FRAGMENTS), st.binary(min_size=1, max_size=3))
tokens = st.lists(
    st.sampled_from([*FRAGMENTS, *(number.encode() for number in NO_NUMBERS)]), max_size=12
).map(b"".join)


@st.composite
def spoilt_bytes(
    draw: st.DrawFn, body: bytes, pieces: st.SearchStrategy[bytes] = fragments
) -> bytes:
    """A body after one to three changes: it is cut, a bit is flipped, a span is removed, moved,
    reversed or doubled, or a piece is inserted."""
    for _ in range(draw(st.sampled_from([1, 1, 1, 2, 3]))):
        at, bit = draw(st.integers(0, len(body))), 1 << draw(st.integers(0, 7))
        end = min(len(body), at + draw(st.one_of(st.integers(1, 9), st.sampled_from([30, 200]))))
        piece, before, span, after = draw(pieces), body[:at], body[at:end], body[end:]
        flipped = bytes(byte ^ bit for byte in span[:1]) + span[1:]
        changed = (
            before, before, span + after, before + after, after + before,
            before + span[::-1] + after, before + piece + after,
            before + flipped + after, before + flipped + after, before + span + span + after,
            before + piece + span + after, before + piece + span + after,
        )  # fmt: skip
        body = changed[draw(st.integers(0, len(changed) - 1))]
    return body


@st.composite
def text_messages(draw: st.DrawFn) -> Message:
    """A right or spoilt request as text, after one to three changes to its bytes."""
    document = draw(st.one_of(documents(), spoilt_documents()))
    return Message(draw(spoilt_bytes(write(document, draw(spaces)))))


@st.composite
def soup_messages(draw: st.DrawFn) -> Message:
    """Random tokens alone or in an ignored member; a request between odd fragments; or a request in
    another encoding."""
    body, soup = write(draw(documents(2))), draw(tokens)
    around = st.one_of(st.just(b""), fragments)
    match draw(st.sampled_from(["alone", "around", "around", "ignored", "encoded"])):
        case "alone":
            return Message(soup)
        case "around":
            return Message(draw(around) + body + draw(around))
        case "ignored":
            return Message(b'{"x":' + soup + b"," + body[1:])
    return Message(body.decode().encode(draw(st.sampled_from(ENCODINGS)), "replace"))


MEGABYTE = 10**6
SIZES = (10, 31, 32, 33, 1000, 10_000, 100_000)
HUGE: tuple[Callable[[int], str], ...] = (
    lambda size: "9" * size,
    lambda size: f'"{"0" * size}7"',
    lambda size: f'"{"é" * (size // 2)}"',
    lambda size: "[" * size + "]" * size,
    lambda size: '{"a":' * size,
    lambda size: f"0.{'1' * size}e9",
    lambda size: f"[{','.join(['1'] * size)}]",
    lambda size: "{" + ",".join(f'"n{index}":0' for index in range(size)) + "}",
)
"""Functions that make a value with `size` digits, bytes, levels, items or members."""


@st.composite
def huge_messages(
    draw: st.DrawFn,
    values: Sequence[Callable[[int], str]],
    sizes: Sequence[int],
    chunks: Sequence[int | None],
) -> Message:
    """A request with a huge value in place of another or in an ignored member; some in chunks."""
    document = Members([*draw(documents(1)), ("x", 0)])
    value = draw(st.sampled_from(values))(draw(st.sampled_from(sizes)))
    put(draw(st.sampled_from(spots(document))), Raw(value))
    return Message(write(document), chunk_bytes=draw(st.sampled_from(chunks)))


large_messages = huge_messages(HUGE, SIZES, [None, None, 1000, 65_536])
#: Sizes below the body limit and far beyond it, with the values of HUGE that are made quickly.
giant_messages = huge_messages(
    HUGE[:4], [MEGABYTE, 4 * MEGABYTE, 40 * MEGABYTE], [None, None, 1 << 20]
)


@st.composite
def outer_products(draw: st.DrawFn) -> Message:
    """A column times a row: a short body that asks for a product larger than the limit allows."""
    side = draw(st.sampled_from([2049, 2900, 3500]))
    column = ",".join(['{"value":"2"}'] * side)
    row = ",".join(["9223372036854775807"] * side)
    two = f'{{"columnCount":{side},"rows":[{{"value":"{row}"}}]}}'
    body = f'{{"requestId":1,"matrixOne":{{"columnCount":1,"rows":[{column}]}},"matrixTwo":{two}}}'
    return Message(body.encode())
