"""Right requests, as documents that can be changed later: all shapes, numbers near every limit, all
spellings that the contract allows, and products at and beyond the limit of 64 bits."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from hypothesis import strategies as st

from restbench_robustness.wire import Message

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
BOUNDS = (2**31, 2**32, 2**53, 2**62, 2**63, 2**64)
"""Where a kernel may change its arithmetic: binary64 is exact below 2**53, int64 below 2**63."""
WIDE = ((300, 1, 1), (1, 300, 1), (1, 1, 9000), (60, 3, 5), (33, 64, 17), (9, 129, 8))
"""Long and thin shapes (rows, inner, columns), which a pool or a vector unit splits."""


class Raw(str):
    """Text that is written unchanged, whether it is JSON or not."""

    __slots__ = ()


class Members(list[tuple[str, "Value"]]):
    """A JSON object: names and values in order; a name may occur several times."""


Value: TypeAlias = "Members | list[Value] | Raw | str | int | bool | None"
Rows = list[list[int]]
Terms = list[tuple[int, int]]
Quote = Callable[[str], str]
quoted: Quote = partial(json.dumps, ensure_ascii=False)


def fully_escaped(text: str) -> str:
    """A JSON string in which every UTF-16 code unit is escaped."""
    units = text.encode("utf-16-be", "surrogatepass").hex().upper()
    return '"' + "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4)) + '"'


def write(value: Value, space: str = "", quote: Quote = quoted) -> bytes:
    """The document in UTF-8. A lone surrogate becomes the three bytes that UTF-8 forbids.

    `space` is put between all tokens; `quote` writes strings and names.
    """
    return _text(value, space, quote).encode("utf-8", "surrogatepass")


def _text(value: Value, space: str, quote: Quote) -> str:
    if isinstance(value, Raw | str):
        return str(value) if isinstance(value, Raw) else quote(value)
    if not isinstance(value, list):
        return json.dumps(value)
    if isinstance(value, Members):
        pairs = [(_text(name, space, quote), _text(it, space, quote)) for name, it in value]
        items, brackets = [f"{name}{space}:{space}{it}" for name, it in pairs], "{}"
    else:
        items, brackets = [_text(item, space, quote) for item in value], "[]"
    return brackets[0] + space + f"{space},{space}".join(items) + space + brackets[1]


small_numbers = st.integers(-9, 9)
edge_numbers = st.sampled_from(EDGES)
large_numbers = st.one_of(edge_numbers, st.integers(INT64_MIN, INT64_MAX))
any_numbers = st.one_of(small_numbers, large_numbers)
near_zero = st.sampled_from([0, -1, 1, -2, 2])
lengths = st.one_of(st.just(1), st.integers(1, 4), st.integers(1, 12))
odd_letters = st.sampled_from('\x00\x1f\x7f"\\/\b\f\n\r\té\u2028\ufeff\U0001f600')
ids = st.one_of(
    st.integers(0, 9999),
    st.integers(INT64_MIN, INT64_MAX),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=128),
    st.text(odd_letters, min_size=1, max_size=9),
)
#: A random generator, seeded by one drawn number.
picks = st.integers(0, 2**16 - 1).map(random.Random)
spaces = st.sampled_from(["", "", "", " ", "\n", "\t", " \r\n"])


@st.composite
def rows_of(draw: st.DrawFn, rows: int, columns: int, numbers: st.SearchStrategy[int]) -> Rows:
    """A matrix (rows x columns) of at most four distinct numbers: to draw each element would cost
    more time than to send it."""
    handful = draw(st.lists(numbers, min_size=1, max_size=4))
    flat = draw(picks).choices(handful, k=rows * columns)
    return [flat[start : start + columns] for start in range(0, rows * columns, columns)]


@st.composite
def spelled_row(draw: st.DrawFn, row: list[int]) -> Value:
    """A row as a string or an array, in one of the allowed spellings."""
    match draw(st.sampled_from(["string", "string", "array", "spaces", "zeros", "escapes"])):
        case "array":
            return [Raw("-0") if number == 0 and len(row) > 2 else number for number in row]
        case "spaces":
            pads = st.sampled_from(["", " ", "   "])
            return ",".join(f"{draw(pads)}{number}{draw(pads)}" for number in row)
        case "zeros":
            zeros = "0" * draw(st.sampled_from([1, 2, 25, 400]))
            return ",".join(f"{'-' if number < 0 else ''}{zeros}{abs(number)}" for number in row)
        case "escapes":
            return Raw('"' + ",".join(map(str, row)).replace("-", "\\u002d") + '"')
    return ",".join(map(str, row))


@st.composite
def matrix(draw: st.DrawFn, rows: Rows) -> Members:
    """A matrix object with its two members in any order; the rows have one or several spellings."""
    if draw(st.sampled_from([True, True, False])):
        as_array = draw(st.booleans())
        values: list[Value] = [list(row) if as_array else ",".join(map(str, row)) for row in rows]
    else:
        values = [draw(spelled_row(row)) for row in rows]
    written: list[Value] = [Members([("value", value)]) for value in values]
    members = Members([("columnCount", len(rows[0])), ("rows", written)])
    return Members(members[::-1]) if draw(st.booleans()) else members


@st.composite
def request(draw: st.DrawFn, operands: tuple[Rows, Rows]) -> Members:
    """A request with its members in any order."""
    one, two = operands
    members: list[tuple[str, Value]] = [
        ("requestId", draw(ids)),
        ("matrixOne", draw(matrix(one))),
        ("matrixTwo", draw(matrix(two))),
    ]
    return Members(draw(st.permutations(members)))


@st.composite
def operands(draw: st.DrawFn, most: int = 12) -> tuple[Rows, Rows]:
    """Two matrices that can be multiplied: rows x inner and inner x columns."""
    rows, inner, columns = (min(most, draw(lengths)) for _ in range(3))
    numbers = draw(st.sampled_from([small_numbers, edge_numbers, any_numbers]))
    return draw(rows_of(rows, inner, numbers)), draw(rows_of(inner, columns, numbers))


def documents(most: int = 3) -> st.SearchStrategy[Members]:
    """A right request with matrices of at most `most` rows and columns."""
    return operands(most).flatmap(request)


@st.composite
def right_messages(draw: st.DrawFn) -> Message:
    """A right request in a right message."""
    quote = draw(st.sampled_from([quoted, quoted, json.dumps, fully_escaped]))
    return Message(write(draw(documents(12)), draw(spaces), quote))


@st.composite
def wide_messages(draw: st.DrawFn) -> Message:
    """A right request with the shapes of WIDE."""
    rows, inner, columns = draw(st.sampled_from(WIDE))
    numbers = draw(st.sampled_from([small_numbers, any_numbers]))
    both = draw(rows_of(rows, inner, numbers)), draw(rows_of(inner, columns, numbers))
    return Message(write(draw(request(both))))


def _clipped(number: int) -> int:
    return max(INT64_MIN, min(INT64_MAX, number))


@st.composite
def exact_terms(draw: st.DrawFn) -> Terms:
    """Terms (left, right) whose products sum up to a number at, just below or just above a bound,
    with other terms that cancel each other."""
    total = draw(st.sampled_from([1, -1])) * draw(st.sampled_from(BOUNDS)) + draw(near_zero)
    factor = draw(large_numbers.filter(lambda number: abs(number) > 3))
    terms = [(factor, _clipped(total // factor))]
    while rest := total - sum(left * right for left, right in terms):
        terms.append((_clipped(rest), 1))
    for left, right in draw(st.lists(st.tuples(large_numbers, large_numbers), max_size=4)):
        terms += [(left, right), (-max(left, -INT64_MAX), right)]
    return draw(picks).sample(terms, len(terms))


@st.composite
def terms_that_wrap(draw: st.DrawFn) -> Terms:
    """Terms (left, right) whose sum is large, but small modulo 2**64 or 2**128."""
    power, times = draw(st.sampled_from([(32, 1), (48, 1), (62, 4), (63, 4), (63, 2), (62, 16)]))
    large = INT64_MIN if power == 63 else draw(st.sampled_from([1, -1])) * 2**power
    other = 2 ** (64 - power) if power in {32, 48} else large
    terms = [(large, other)] * times + [(draw(st.integers(-3, 3)), 1)]
    return draw(picks).sample(terms, len(terms))


@st.composite
def terms_at_a_bound(draw: st.DrawFn) -> Terms:
    """Terms for which inner * max|left| * max|right| is just below, at or above one of BOUNDS."""
    inner = draw(st.one_of(st.integers(1, 8), st.integers(1, 70)))
    left = _clipped(max(1, 2 ** draw(st.integers(0, 62)) + draw(near_zero)))
    bound = draw(st.sampled_from(BOUNDS))
    right = _clipped(max(1, bound // (inner * left) + draw(near_zero)))
    match draw(st.sampled_from(["same", "opposite", "drawn"])):
        case "same":
            return [(left, right)] * inner
        case "opposite":
            return [(left, -right)] * inner
    pick = draw(picks)
    return [
        (pick.choice([left, -left, left - 1]), pick.choice([right, -right])) for _ in range(inner)
    ]


@st.composite
def overflow_messages(draw: st.DrawFn) -> Message:
    """A request whose product has a critical sum as one element. All other rows of matrixOne and
    columns of matrixTwo are filled with 0, with 1 or with -1."""
    terms = draw(st.one_of(exact_terms(), terms_at_a_bound(), terms_that_wrap()))
    rows, columns = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    row, column = draw(st.integers(0, rows - 1)), draw(st.integers(0, columns - 1))
    rest = draw(st.sampled_from([0, 0, 1, -1]))
    one = [[left if i == row else rest for left, _ in terms] for i in range(rows)]
    two = [[right if j == column else rest for j in range(columns)] for _, right in terms]
    return Message(write(draw(request((one, two)))))
