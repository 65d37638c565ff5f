"""Few, but large: deep nesting, numbers of megabytes, products and bodies beyond the limit."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from restbench_robustness.message import Message

RIGHT = '{"requestId":1,"matrixOne":{"columnCount":1,"rows":[{"value":"1"}]},"matrixTwo":%s}'
MEGABYTE = 10**6


def _two(column_count: str, value: str) -> bytes:
    matrix = f'{{"columnCount":{column_count},"rows":[{{"value":{value}}}]}}'
    return (RIGHT % matrix).encode()


def _ignored(value: bytes) -> bytes:
    """Before a right request's own members."""
    return b'{"x":' + value + b"," + _two("1", '"1"')[1:]


def wide_row(columns: int) -> bytes:
    """One element times a row of a tenth as many: right."""
    count = max(1, columns // 10)
    return _two(str(count), '"' + ",".join(["1"] * count) + '"')


def many_members(count: int) -> bytes:
    """Different names, all ignored: right."""
    names = ",".join(f'"n{index}":0' for index in range(max(1, count // 10)))
    return f"{{{names},".encode() + _two("1", '"1"')[1:]


SHAPES: dict[str, Callable[[int], bytes]] = {
    "nested": lambda size: _ignored(b"[" * size + b"]" * size),
    "unclosed": lambda size: b'{"a":' * size,
    "number": lambda size: _two("1", f"[{'9' * size}]"),
    "fraction": lambda size: _ignored(b"0." + b"1" * size + b"e9"),
    "zeros": lambda size: _two("1", f'"{"0" * size}7"'),
    "count": lambda size: _two("1" * size, '"1"'),
    "id": lambda size: _two("1", '"1"').replace(b":1", b":" + b"1" * size, 1),
    "string": lambda size: _ignored(b'"' + b"\xc3\xa9" * (size // 2) + b'"'),
    "row": wide_row,
    "members": many_members,
}
"""Bodies of about so many bytes or levels."""
GIANTS = ("number", "zeros", "id", "string", "nested")


@st.composite
def messages(draw: st.DrawFn) -> Message:
    """Each shape at sizes up to a few hundred kilobytes, sometimes in chunks."""
    size = draw(st.sampled_from([10, 31, 32, 33, 1000, 10_000, 100_000]))
    body = SHAPES[draw(st.sampled_from(sorted(SHAPES)))](size)
    return Message(body, chunk_bytes=draw(st.sampled_from([None, None, 1000, 65_536])))


@st.composite
def giant_messages(draw: st.DrawFn) -> Message:
    """Megabytes below the limit, and far beyond it."""
    size = draw(st.sampled_from([MEGABYTE, 4 * MEGABYTE, 100 * MEGABYTE]))
    body = SHAPES[draw(st.sampled_from(GIANTS))](size)
    return Message(body, chunk_bytes=draw(st.sampled_from([None, 1 << 20])))


@st.composite
def outer_products(draw: st.DrawFn) -> Message:
    """A column times a row: a short body that asks for a product larger than the limit allows."""
    side = draw(st.sampled_from([2049, 2900, 3500]))
    column = ",".join(['{"value":"2"}'] * side)
    row = ",".join(["9223372036854775807"] * side)
    two = f'{{"columnCount":{side},"rows":[{{"value":"{row}"}}]}}'
    body = f'{{"requestId":1,"matrixOne":{{"columnCount":1,"rows":[{column}]}},"matrixTwo":{two}}}'
    return Message(body.encode())
