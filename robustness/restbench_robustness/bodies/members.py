"""Well-formed JSON that is not the request it should be: members missing, wrong or too many."""

from __future__ import annotations

import copy
from collections.abc import Callable

from hypothesis import strategies as st

from restbench_robustness.message import Message

from .document import Members, Raw, Value, encode, quoted, write
from .matrices import any_numbers, documents, fully_escaped, ids, matrix, rows_of, spaces

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
    Members([("value", "1")]), Members([("columnCount", 1)]), [None], ["1"], "\x00",
)  # fmt: skip
NAMES = (
    "requestId", "matrixOne", "matrixTwo", "columnCount", "rows", "value", "requestid", "Rows",
    "values", "", "x", "matrixOne ", "__proto__", "requestId\x00", "ro\u200bws",
)  # fmt: skip

WRONG_ROWS: tuple[Value, ...] = ("1", "1,2", "1,2,3,4", [1], [1, 2], ",", "1,", "1,x")

#: Copies, for what is put into a document may itself be changed there.
junk = st.one_of(
    st.sampled_from(JUNK),
    st.sampled_from(NUMBERS),
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map(",".join),
    st.lists(st.one_of(st.sampled_from(NUMBERS), st.sampled_from(JUNK)), max_size=4),
).map(copy.deepcopy)
Spot = tuple[Members | list[Value], int]


def spots(value: Value) -> list[Spot]:
    """Every member and item of a document: its owner and its index there."""
    found: list[Spot] = []
    if isinstance(value, Members | list):
        items = [it for _, it in value.pairs] if isinstance(value, Members) else value
        for index, item in enumerate(items):
            found += [(value, index), *spots(item)]
    return found


def put(spot: Spot, value: Value) -> None:
    """Replace what stands there, under the same name."""
    owner, index = spot
    if isinstance(owner, Members):
        owner.pairs[index] = (owner.pairs[index][0], value)
    else:
        owner[index] = value


def _replace(draw: st.DrawFn, spot: Spot) -> None:
    put(spot, draw(junk))


def _drop(_draw: st.DrawFn, spot: Spot) -> None:
    owner, index = spot
    if isinstance(owner, Members):
        owner.pairs.pop(index)
    else:
        owner.pop(index)


def _repeat(draw: st.DrawFn, spot: Spot) -> None:
    """A duplicate member, or one item more."""
    owner, index = spot
    if isinstance(owner, Members):
        name, value = owner.pairs[index]
        spelled = draw(st.sampled_from([name, name, Raw(fully_escaped(name))]))
        place = draw(st.integers(0, len(owner.pairs)))
        again = draw(st.one_of(st.just(value), junk))
        owner.pairs.insert(place, (spelled, copy.deepcopy(again)))
    else:
        owner.insert(index, copy.deepcopy(owner[index]))


def _rename(draw: st.DrawFn, spot: Spot) -> None:
    owner, index = spot
    if isinstance(owner, Members):
        owner.pairs[index] = (draw(st.sampled_from(NAMES)), owner.pairs[index][1])


def _add(draw: st.DrawFn, spot: Spot) -> None:
    """A member that nobody knows, or that is known elsewhere."""
    owner, index = spot
    if isinstance(owner, Members):
        owner.pairs.insert(index, (draw(st.sampled_from(NAMES)), draw(junk)))
    else:
        owner.insert(index, draw(junk))


CHANGES: tuple[Callable[[st.DrawFn, Spot], None], ...] = (
    _replace, _replace, _drop, _repeat, _rename, _add,
)  # fmt: skip


@st.composite
def spoilt_documents(draw: st.DrawFn) -> Members:
    """A right request after one to three changes."""
    document = draw(documents())
    for _ in range(draw(st.integers(1, 3))):
        found = spots(document)
        if found:
            draw(st.sampled_from(CHANGES))(draw, draw(st.sampled_from(found)))
    return document


@st.composite
def messages(draw: st.DrawFn) -> Message:
    """A spoilt request, sent rightly."""
    quote = draw(st.sampled_from([quoted, quoted, fully_escaped]))
    return Message(encode(write(draw(spoilt_documents()), draw(spaces), quote)))


@st.composite
def spelling_messages(draw: st.DrawFn) -> Message:
    """A request with one odd spelling of a number or of a row's pieces anywhere in it."""
    document = draw(documents())
    members = [spot for spot in spots(document) if isinstance(spot[0], Members)]
    values = [spot for spot in members if _is_value(spot)]
    odd: st.SearchStrategy[Value] = st.one_of(
        st.sampled_from(NUMBERS + NO_NUMBERS),
        st.lists(st.sampled_from(PIECES), min_size=1, max_size=3).map(",".join),
        st.lists(st.sampled_from(NUMBERS + NO_NUMBERS), min_size=1, max_size=3).map(list),
        st.text(st.sampled_from("0123456789,- +.e"), max_size=12),
    )
    put(draw(st.sampled_from(members + 3 * values)), draw(odd))
    return Message(encode(write(document)))


@st.composite
def size_messages(draw: st.DrawFn) -> Message:
    """Two matrices that need not fit each other, with rows and counts that need not agree."""
    shapes = st.tuples(st.integers(1, 3), st.integers(1, 3))
    parts = [draw(matrix(draw(rows_of(*draw(shapes), any_numbers)))) for _ in range(2)]
    document = Members([("requestId", draw(ids)), ("matrixOne", parts[0]), ("matrixTwo", parts[1])])
    if draw(st.booleans()):
        owner = draw(st.sampled_from(parts))
        wrong = draw(st.sampled_from([1, 2, 3, 4, 2**31, 2**32 + 1, 2**63, 2**64 + 1, 10**400]))
        owner.pairs = [(n, wrong if n == "columnCount" else value) for n, value in owner.pairs]
    if draw(st.booleans()):
        row = draw(st.sampled_from([s for s in spots(document) if _is_value(s)]))
        put(row, draw(st.sampled_from(WRONG_ROWS)))
    return Message(encode(write(document)))


def _is_value(spot: Spot) -> bool:
    owner, index = spot
    return isinstance(owner, Members) and owner.pairs[index][0] == "value"
