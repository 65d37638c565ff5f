"""What the kernels start from, against values of the specification that a second program found."""

import numpy as np
import pytest
from npb_run import size_of

from restbench_service.workloads.npb import random_numbers
from restbench_service.workloads.npb.conjugate_gradient import build_matrix
from restbench_service.workloads.npb.integer_sort import IntegerSort
from restbench_service.workloads.npb.multigrid import find_charges

FIRST_STATES = (
    55909509111989, 61155031930969, 45573031421645, 55279057169489, 1250169187877, 27551538756233,
)  # fmt: skip
POSITIVE = {
    (2, 17, 22), (3, 1, 4), (5, 23, 4), (8, 2, 21), (13, 16, 13),
    (18, 27, 18), (20, 30, 32), (22, 32, 7), (29, 1, 29), (31, 5, 26),
}  # fmt: skip
NEGATIVE = {
    (1, 12, 3), (5, 29, 16), (6, 15, 1), (6, 18, 9), (8, 15, 27),
    (9, 26, 23), (13, 3, 2), (14, 9, 18), (21, 20, 12), (27, 16, 32),
}  # fmt: skip


def test_the_generator_s_first_states_are_npb_s() -> None:
    found = random_numbers.states(0, 6)
    assert tuple(int(state) for state in found) == FIRST_STATES
    numbers = np.empty(3)
    random_numbers.fill(numbers, 0)
    assert numbers.tolist() == [0.7945219111887383, 0.8690652738745399, 0.6476317284643329]


def test_the_generator_jumps_to_where_steps_would_lead() -> None:
    assert random_numbers.after(random_numbers.SEED, 1000) == 39923673819009
    many = random_numbers.states(0, 3 * random_numbers.CHUNK)
    for first in (0, 999, random_numbers.CHUNK - 1, 2 * random_numbers.CHUNK):
        piece = random_numbers.states(first, 5)
        assert piece.tolist() == many[first : first + 5].tolist()
    assert random_numbers.after(random_numbers.after(42, 7), -7) == 42


@pytest.mark.parametrize(
    ("class_name", "first", "total"),
    [
        ("S", [1585, 825, 1060, 1343, 956, 437], 67027849),
        ("W", [50737, 26409, 33921, 42989, 30600, 13998], 34365783705),
        ("A", [405901, 211274, 271374, 343919, 244803, 111984], 2199179599308),
    ],
)
def test_the_keys_of_is_are_npb_s(class_name: str, first: list[int], total: int) -> None:
    keys = IntegerSort().generate(size_of("IS", class_name))
    assert keys[:6].tolist() == first
    assert int(keys.sum()) == total


@pytest.mark.parametrize(
    ("class_name", "entries", "trace", "total"),
    [
        ("S", 78148, -12446.071917984, -4796.559321013),
        ("W", 508402, -75335.176817168, -26325.256014459),
        ("A", 1853104, -257193.645984511, -77001.568415833),
    ],
)
def test_the_matrix_of_cg_is_npb_s(
    class_name: str, entries: int, trace: float, total: float
) -> None:
    matrix = build_matrix(size_of("CG", class_name))
    rows = np.repeat(np.arange(matrix.row_starts.size - 1), np.diff(matrix.row_starts))
    assert matrix.values.size == entries
    assert matrix.values[rows == matrix.columns].sum() == pytest.approx(trace, abs=1e-7)
    assert matrix.values.sum() == pytest.approx(total, abs=1e-7)
    ascending = (np.diff(rows) > 0) | (np.diff(matrix.columns) > 0)
    assert ascending.all()


def test_the_charges_of_mg_are_npb_s() -> None:
    charges = find_charges(size_of("MG", "S"))
    for positions, expected in ((charges.positive, POSITIVE), (charges.negative, NEGATIVE)):
        i3, i2, i1 = np.unravel_index(positions, (32, 32, 32))
        places = zip((i1 + 1).tolist(), (i2 + 1).tolist(), (i3 + 1).tolist(), strict=True)
        assert set(places) == expected


def test_mg_finds_the_charges_of_a_grid_that_it_looks_at_in_parts() -> None:
    size = size_of("MG", "W")
    states = random_numbers.states(0, size.points**3)
    order = np.argsort(states)
    charges = find_charges(size)
    assert charges.negative.tolist() == sorted(order[:10].tolist())
    assert charges.positive.tolist() == sorted(order[-10:].tolist())
