"""The sparse random vectors whose weighted outer products add up to the matrix of CG."""

from bisect import bisect_left
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import random_numbers
from .classes import GradientClass

DIAGONAL = 0.5
"""The value of vector i at place i."""


class SparseVectors(NamedTuple):
    """One vector a row: places and values are both rows x entries; a place may come twice."""

    places: NDArray[np.int64]
    values: NDArray[np.float64]


def draw_vectors(size: GradientClass) -> SparseVectors:
    """Vector i has `nonzeros` different random places and place i."""
    places, values = _draw_entries(size)
    shape = (size.rows, size.nonzeros)
    places, values = places.reshape(shape), values.reshape(shape)
    own = np.arange(size.rows)[:, None]
    is_own = places == own
    values[is_own] = DIAGONAL
    last_value = np.where(is_own.any(axis=1, keepdims=True), 0.0, DIAGONAL)
    return SparseVectors(np.hstack((places, own)), np.hstack((values, last_value)))


def _draw_entries(size: GradientClass) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Places and values of all vectors in one row, in the order they are drawn.

    The stream is value, place, value, place, … after one number that is thrown away. A place
    beyond the matrix is skipped with its value, and so is one that its vector has already.
    """
    wanted = size.rows * size.nonzeros
    place_bits = (size.rows - 1).bit_length()
    draws = wanted * 2**place_bits // size.rows
    draws += draws // 16 + 1024  # chance and repetitions; how many are short is known below
    numbers = random_numbers.states(size.seed, 1, 2 * draws).reshape(-1, 2)
    places = (numbers[:, 1] >> np.uint64(random_numbers.BITS - place_bits)).astype(np.int64)
    inside = np.flatnonzero(places < size.rows)
    kept = np.delete(inside, _repeated(places[inside], size.nonzeros))[:wanted]
    return places[kept], numbers[kept, 0] * random_numbers.UNIT


def _repeated(places: NDArray[np.int64], nonzeros: int) -> list[int]:
    """Indices of places that their vector has already, ascending.

    Whether a place is repeated depends on where its vector begins, and so on all that is skipped
    before it. Only the few places that come twice within a short distance need to be looked at.
    """
    skipped: list[int] = []
    for later, earlier in _close_pairs(places, 4 * nonzeros):
        vector = (later - len(skipped)) // nonzeros
        if (earlier - bisect_left(skipped, earlier)) // nonzeros == vector:
            skipped.append(later)
    return skipped


def _close_pairs(places: NDArray[np.int64], distance: int) -> list[Any]:
    """[index, index of the same place before it] up to a distance apart, by ascending index."""
    order = np.argsort(places, kind="stable")
    earlier, later = order[:-1], order[1:]
    is_pair = (places[earlier] == places[later]) & (later - earlier <= distance)
    pairs = np.stack((later[is_pair], earlier[is_pair]), axis=1)
    found: list[Any] = pairs[np.argsort(pairs[:, 0])].tolist()
    return found
