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


def nested(depth: int) -> bytes:
    """Brackets in brackets, closed again, in a member that is ignored."""
    return f'{{"x":{"[" * depth}{"]" * depth},'.encode() + _two("1", '"1"')[1:]


def unclosed(depth: int) -> bytes:
    """Objects in objects that nobody closes."""
    return b'{"a":' * depth


def huge_number(digits: int) -> bytes:
    """An array's element that no integer type holds."""
    return _two("1", f"[{'9' * digits}]")


def huge_fraction(digits: int) -> bytes:
    """A long number in a member that is ignored: right."""
    return b'{"x":0.' + b"1" * digits + b"e9," + _two("1", '"1"')[1:]


def huge_piece(digits: int) -> bytes:
    """A string's element with zeros before its one digit: right."""
    return _two("1", f'"{"0" * digits}7"')


def huge_count(digits: int) -> bytes:
    """A column count of so many digits."""
    return _two("1" * digits, '"1"')


def huge_id(digits: int) -> bytes:
    """An id of so many digits."""
    return _two("1", '"1"').replace(b'"requestId":1', b'"requestId":' + b"1" * digits)


def long_string(characters: int) -> bytes:
    """A string in a member that is ignored: right."""
    return b'{"x":"' + b"\xc3\xa9" * (characters // 2) + b'",' + _two("1", '"1"')[1:]


def wide_row(columns: int) -> bytes:
    """One element times a row of a tenth as many: right."""
    count = max(1, columns // 10)
    return _two(str(count), '"' + ",".join(["1"] * count) + '"')


def many_members(count: int) -> bytes:
    """Different names, all ignored: right."""
    names = ",".join(f'"n{index}":0' for index in range(max(1, count // 10)))
    return f"{{{names},".encode() + _two("1", '"1"')[1:]


SHAPES: tuple[Callable[[int], bytes], ...] = (
    nested, unclosed, huge_number, huge_fraction, huge_piece, huge_count, huge_id, long_string,
    wide_row, many_members,
)  # fmt: skip


@st.composite
def messages(draw: st.DrawFn) -> Message:
    """Each shape at sizes up to a few hundred kilobytes, sometimes in chunks."""
    size = draw(st.sampled_from([10, 31, 32, 33, 1000, 10_000, 100_000]))
    body = draw(st.sampled_from(SHAPES))(size)
    return Message(body, chunk_bytes=draw(st.sampled_from([None, None, 1000, 65_536])))


@st.composite
def giant_messages(draw: st.DrawFn) -> Message:
    """Megabytes below the limit, and far beyond it."""
    size = draw(st.sampled_from([MEGABYTE, 4 * MEGABYTE, 100 * MEGABYTE]))
    body = draw(st.sampled_from([huge_number, huge_piece, huge_id, long_string, nested]))(size)
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
