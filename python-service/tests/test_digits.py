"""Both ways to read rows against Python's own integers: right, or not sure."""

import random

import pytest

from restbench_service.codec import digits
from restbench_service.codec.digits import matrix_of


@pytest.fixture(autouse=True, params=["one after the other", "all at once"])
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the size of a test's table, it is read in this way."""
    if request.param == "all at once":
        monkeypatch.setattr(digits, "FEW_ELEMENTS", 0)


def rows_of(table: list[list[int]]) -> list[str]:
    return [",".join(map(str, row)) for row in table]


@pytest.mark.parametrize("most_digits", range(1, 19))
@pytest.mark.parametrize("signs", [(1,), (1, -1)], ids=["no sign", "signs"])
def test_reads_any_table_of_numbers_with_up_to_18_digits(
    most_digits: int, signs: tuple[int, ...]
) -> None:
    draw = random.Random(most_digits)
    columns = draw.randint(1, 9)
    table = [
        [
            draw.choice(signs) * draw.randrange(10 ** draw.randint(1, most_digits))
            for _ in range(columns)
        ]
        for _ in range(draw.randint(1, 9))
    ]
    read = matrix_of(rows_of(table), columns)
    assert read is not None
    assert read[0].tolist() == table
    assert max(abs(value) for row in table for value in row) <= read[1] < 10**most_digits


@pytest.mark.parametrize("piece_bytes", [1, 2, 3, 7, 50, 1000])
def test_a_table_may_be_read_in_pieces_of_any_size(
    monkeypatch: pytest.MonkeyPatch, piece_bytes: int
) -> None:
    monkeypatch.setattr(digits, "PIECE_BYTES", piece_bytes)
    monkeypatch.setattr(digits, "FEW_ELEMENTS", 0)
    draw = random.Random(piece_bytes)
    table = [[draw.randrange(10**4) for _ in range(7)] for _ in range(9)]
    read = matrix_of(rows_of(table), 7)
    assert read is not None
    assert read[0].tolist() == table


@pytest.mark.parametrize(
    "rows",
    [
        ["1,2", "3"],
        ["1", "2,3,4"],
        ["1,2,3", "4"],
        ["1,,2", "3,4"],
        [",1", "2,3"],
        ["1,", "2,3"],
        ["", "1,2,3"],
        ["1;2", "3,4"],
        ["1,2;3", "4"],
        ["1 ,2", "3,4"],
        ["+1,2", "3,4"],
        ["--1,2", "3,4"],
        ["1-,2", "3,4"],
        ["1-2,3", "4,5"],
        ["1,-", "3,4"],
        ["1,2", "-,4"],
        ["1,2", "3,-"],
        ["1,2", "3,"],
        ["-,2", "3,4"],
        ["1.0,2", "3,4"],
        ["1e3,2", "3,4"],
        ["0x1,2", "3,4"],
        ["\u0661,2", "3,4"],
        ["1,2\x00", "3,4"],
        ["1000000000000000000,2", "3,4"],
        ["9223372036854775808,2", "3,4"],
        ["-9223372036854775808,2", "3,4"],
        ["-9223372036854775809,2", "3,4"],
        ["99999999999999999999999,2", "3,4"],
    ],
)
def test_is_not_sure_of_anything_else(rows: list[str]) -> None:
    assert matrix_of(rows, 2) is None


@pytest.mark.parametrize(
    ("rows", "is_at_once"), [(3, False), (4, True)], ids=["few elements", "more"]
)
def test_only_many_elements_are_read_all_at_once(
    monkeypatch: pytest.MonkeyPatch, rows: int, is_at_once: bool
) -> None:
    monkeypatch.setattr(digits, "FEW_ELEMENTS", 6)
    monkeypatch.setattr(digits, "_one_by_one", lambda *_: None)
    assert (matrix_of(["1,2"] * rows, 2) is not None) == is_at_once
