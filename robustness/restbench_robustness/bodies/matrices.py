"""Right requests: all shapes, numbers near every edge, every spelling the contract allows."""

from __future__ import annotations

import itertools
import json
import random

from hypothesis import strategies as st

from restbench_robustness.message import Message

from .document import Members, Raw, Value, encode, quoted, write

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
EDGES = sorted(
    {
        sign * (2**power + offset)
        for power in (0, 8, 15, 16, 26, 31, 32, 52, 53, 62, 63)
        for offset in (-1, 0, 1)
        for sign in (1, -1)
        if INT64_MIN <= sign * (2**power + offset) <= INT64_MAX
    }
)
Rows = list[list[int]]

small_numbers = st.integers(-9, 9)
edge_numbers = st.sampled_from(EDGES)
any_numbers = st.one_of(small_numbers, edge_numbers, st.integers(INT64_MIN, INT64_MAX))
lengths = st.one_of(st.just(1), st.integers(1, 4), st.integers(1, 12))
ids = st.one_of(
    st.integers(0, 9999),
    st.integers(INT64_MIN, INT64_MAX),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=128),
    st.text(
        st.sampled_from('\x00\x1f\x7f"\\/\b\f\n\r\té\u2028\ufeff\U0001f600'), min_size=1, max_size=9
    ),
)
#: Chance of its own, from one drawn number.
picks = st.integers(0, 2**16 - 1).map(random.Random)
spaces = st.sampled_from(["", "", "", " ", "\n", "\t", " \r\n"])


@st.composite
def rows_of(draw: st.DrawFn, rows: int, columns: int, numbers: st.SearchStrategy[int]) -> Rows:
    """rows x columns numbers out of a handful: to draw each one costs more than to send it."""
    handful = draw(st.lists(numbers, min_size=1, max_size=4))
    flat = draw(picks).choices(handful, k=rows * columns)
    return [flat[start : start + columns] for start in range(0, rows * columns, columns)]


def _padded(number: int, zeros: int, before: str, after: str) -> str:
    sign = "-" if number < 0 else ""
    return f"{before}{sign}{'0' * zeros}{abs(number)}{after}"


@st.composite
def spelled_row(draw: st.DrawFn, row: list[int]) -> Value:
    """A row as a string or an array, in one of the ways that are right."""
    match draw(st.sampled_from(["string", "string", "array", "spaces", "zeros", "escapes"])):
        case "array":
            return [Raw("-0") if number == 0 and len(row) > 2 else number for number in row]
        case "spaces":
            pads = st.sampled_from(["", " ", "   "])
            return ",".join(_padded(n, 0, draw(pads), draw(pads)) for n in row)
        case "zeros":
            zeros = draw(st.sampled_from([1, 2, 25, 400]))
            return ",".join(_padded(n, zeros, "", "") for n in row)
        case "escapes":
            return Raw('"' + ",".join(map(str, row)).replace("-", "\\u002d") + '"')
    return ",".join(map(str, row))


@st.composite
def matrix(draw: st.DrawFn, rows: Rows) -> Members:
    """A matrix object with its two members in either order."""
    spell = draw(st.sampled_from(["alike", "alike", "each"]))
    if spell == "alike":
        as_array = draw(st.booleans())
        values: list[Value] = [list(row) if as_array else ",".join(map(str, row)) for row in rows]
    else:
        values = [draw(spelled_row(row)) for row in rows]
    members: list[tuple[str, Value]] = [
        ("columnCount", len(rows[0])),
        ("rows", [Members([("value", value)]) for value in values]),
    ]
    return Members(members[::-1] if draw(st.booleans()) else members)


@st.composite
def request(draw: st.DrawFn, one: Rows, two: Rows) -> Members:
    """A request with its members in any order."""
    members: list[tuple[str, Value]] = [
        ("requestId", draw(ids)),
        ("matrixOne", draw(matrix(one))),
        ("matrixTwo", draw(matrix(two))),
    ]
    return Members(list(draw(st.sampled_from([*itertools.permutations(members)]))))


@st.composite
def operands(draw: st.DrawFn, most: int = 12) -> tuple[Rows, Rows]:
    """rows x inner and inner x columns."""
    rows, inner, columns = (min(most, draw(lengths)) for _ in range(3))
    numbers = draw(st.sampled_from([small_numbers, edge_numbers, any_numbers]))
    return draw(rows_of(rows, inner, numbers)), draw(rows_of(inner, columns, numbers))


@st.composite
def documents(draw: st.DrawFn, most: int = 3) -> Members:
    """A right request of at most `most` rows and columns, to be spoilt."""
    return draw(request(*draw(operands(most))))


def ascii_quoted(text: str) -> str:
    """A JSON string with escapes for everything beyond ASCII."""
    return json.dumps(text)


def fully_escaped(text: str) -> str:
    """A JSON string of nothing but escapes, beyond the BMP as pairs."""
    units = text.encode("utf-16-be", "surrogatepass")
    escapes = [f"\\u{units[i]:02X}{units[i + 1]:02x}" for i in range(0, len(units), 2)]
    return '"' + "".join(escapes) + '"'


@st.composite
def messages(draw: st.DrawFn) -> Message:
    """A right request, sent rightly."""
    document = draw(request(*draw(operands())))
    quote = draw(st.sampled_from([quoted, quoted, ascii_quoted, fully_escaped]))
    return Message(encode(write(document, draw(spaces), quote)))


WIDE = ((300, 1, 1), (1, 300, 1), (1, 1, 300), (60, 3, 5), (33, 64, 17), (9, 129, 8))


@st.composite
def wide_messages(draw: st.DrawFn) -> Message:
    """Larger shapes, long and thin ones too: what a pool or vector unit cuts into pieces."""
    rows, inner, columns = draw(st.sampled_from(WIDE))
    numbers = draw(st.sampled_from([small_numbers, any_numbers]))
    one, two = draw(rows_of(rows, inner, numbers)), draw(rows_of(inner, columns, numbers))
    return Message(encode(write(draw(request(one, two)))))
