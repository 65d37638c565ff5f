"""Products at the edge of 64 bits: exactly on it, one beyond, and sums that cross it and return."""

from __future__ import annotations

from hypothesis import strategies as st

from restbench_robustness.message import Message

from .document import encode, write
from .matrices import INT64_MAX, INT64_MIN, Rows, edge_numbers, picks, request

Terms = list[tuple[int, int]]
BOUNDS = (2**31, 2**32, 2**53, 2**62, 2**63, 2**64)
"""Where a kernel may change its arithmetic: binary64 is exact below 2**53, int64 below 2**63."""
near_zero = st.sampled_from([0, -1, 1, -2, 2])
large_numbers = st.one_of(edge_numbers, st.integers(INT64_MIN, INT64_MAX))


def clipped(number: int) -> int:
    """The nearest 64-bit integer."""
    return max(INT64_MIN, min(INT64_MAX, number))


def terms_for(total: int, factor: int) -> Terms:
    """Pairs of 64-bit numbers whose products add up to `total`, the first made with `factor`."""
    other = clipped(total // factor)
    terms, rest = [(factor, other)], total - factor * other
    while rest:
        part = clipped(rest)
        terms.append((part, 1))
        rest -= part
    return terms


@st.composite
def exact_terms(draw: st.DrawFn) -> Terms:
    """A sum on, just below or just beyond an edge, among terms that cancel each other."""
    total = draw(st.sampled_from([1, -1])) * draw(st.sampled_from(BOUNDS)) + draw(near_zero)
    factor = draw(large_numbers.filter(lambda number: abs(number) > 3))
    terms = terms_for(total, factor)
    for left, right in draw(st.lists(st.tuples(large_numbers, large_numbers), max_size=4)):
        terms += [(clipped(left), right), (-clipped(max(left, -INT64_MAX)), right)]
    return draw(picks).sample(terms, len(terms))


@st.composite
def terms_that_wrap(draw: st.DrawFn) -> Terms:
    """A sum that is a small number modulo 2**64 or 2**128, and is none."""
    power, times = draw(st.sampled_from([(32, 1), (48, 1), (62, 4), (63, 4), (63, 2), (62, 16)]))
    sign = draw(st.sampled_from([1, -1]))
    large = INT64_MIN if power == 63 else sign * 2**power
    other = 2 ** (64 - power) if power in {32, 48} else large
    small = draw(st.integers(-3, 3))
    terms = [(large, other)] * times + [(small, 1)]
    return draw(picks).sample(terms, len(terms))


@st.composite
def terms_at_a_bound(draw: st.DrawFn) -> Terms:
    """inner * max|left| * max|right| just below, on or above a bound of the arithmetic."""
    inner = draw(st.one_of(st.integers(1, 8), st.integers(1, 70)))
    left = 2 ** draw(st.integers(0, 62)) + draw(near_zero)
    right = draw(st.sampled_from(BOUNDS)) // (inner * max(1, left)) + draw(near_zero)
    left, right = clipped(max(1, left)), clipped(max(1, right))
    signs = draw(st.sampled_from(["same", "opposite", "drawn"]))
    if signs == "drawn":
        pick = draw(picks)
        return [
            (pick.choice([left, -left, left - 1]), pick.choice([right, -right]))
            for _ in range(inner)
        ]
    return [(left, right if signs == "same" else -right)] * inner


@st.composite
def placed(draw: st.DrawFn, terms: Terms) -> tuple[Rows, Rows]:
    """The sum as one element of a product, the others being of small numbers or of the same."""
    rows, columns = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    row, column = draw(st.integers(0, rows - 1)), draw(st.integers(0, columns - 1))
    rest = draw(st.sampled_from([0, 0, 1, -1]))
    one = [[left if i == row else rest for left, _ in terms] for i in range(rows)]
    two = [[right if j == column else rest for j in range(columns)] for _, right in terms]
    return one, two


@st.composite
def messages(draw: st.DrawFn) -> Message:
    """A right request whose product may or may not fit."""
    terms = draw(st.one_of(exact_terms(), terms_at_a_bound(), terms_that_wrap()))
    document = draw(request(*draw(placed(terms))))
    return Message(encode(write(document)))
