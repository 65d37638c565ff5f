"""The four operators of MG, as the loops run them: on blocks of planes of equal i3.

A grid is (n + 2)**3, indexed [i3][i2][i1]: n**3 points in a layer of ghosts. The problem is
periodic, so ghosts are copies of the points on the opposite side. Each operator fills the ghosts of
the grid that it writes; the first and last plane are filled by the task that computes the original.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .kernel import lines_of

Plane = NDArray[Any]
Weights = tuple[float, float, float]
A0, A2, A3 = -8 / 3, 1 / 6, 1 / 12
"""Weights of a point, its edge and its corner neighbours; face neighbours have weight 0."""
POINTS_AT_ONCE = 2**14
"""128 KiB of each operand, so that about eight operands stay in a core's cache."""


def residual(start: int, stop: int, blocks: int, *grids: Any) -> None:
    """r = right - A u. `grids` is right, u and r; r may be the same grid as right."""
    right, u, r = grids
    room = _Buffers(u)
    for i3 in _planes(start, stop, blocks, u):
        for rows in room.parts:
            faces, edges = room.neighbours(u, i3, rows)
            centre = slice(rows.start + 1, rows.stop - 1)
            ends, result = room.ends[: len(faces)], room.result[: len(faces)]
            faces *= A2
            np.multiply(edges, A3, out=ends)
            ends += faces
            edges *= A2
            np.multiply(u[i3, centre, 1:-1], A0, out=result)
            result += edges[:, 1:-1]
            result += ends[:, :-2]
            result += ends[:, 2:]
            np.subtract(right[i3, centre, 1:-1], result, out=r[i3, centre, 1:-1])
        _fill_ghosts(r, i3)


def smooth(start: int, stop: int, blocks: int, weights: Weights, *grids: Any) -> None:
    """u += S r. `grids` is r and u; `weights` is for a point, its face and its edge neighbours."""
    (c0, c1, c2), (r, u) = weights, grids
    room = _Buffers(u)
    for i3 in _planes(start, stop, blocks, u):
        for rows in room.parts:
            faces, edges = room.neighbours(r, i3, rows)
            centre = slice(rows.start + 1, rows.stop - 1)
            ends, result = room.ends[: len(faces)], room.result[: len(faces)]
            np.multiply(faces, c2, out=ends)
            faces *= c1
            edges *= c2
            faces += edges
            np.multiply(r[i3, centre], c1, out=edges)
            ends += edges
            np.multiply(r[i3, centre, 1:-1], c0, out=result)
            result += faces[:, 1:-1]
            result += ends[:, :-2]
            result += ends[:, 2:]
            u[i3, centre, 1:-1] += result
        _fill_ghosts(u, i3)


def restrict(start: int, stop: int, blocks: int, fine: Any, coarse: Any) -> None:
    """A coarse point is half the fine point plus 1/4, 1/8, 1/16 of face, edge, corner neighbours.

    These weights are the product of (1/2, 1, 1/2) along each axis, times 1/2.
    """
    for j in _planes(start, stop, blocks, coarse):
        plane = _weighted(fine[2 * j - 1], fine[2 * j], fine[2 * j + 1])
        lines = _weighted(plane[1:-1:2], plane[2::2], plane[3::2])
        points = _weighted(lines[:, 1:-1:2], lines[:, 2::2], lines[:, 3::2])
        np.multiply(points, 0.5, out=coarse[j, 1:-1, 1:-1])
        _fill_ghosts(coarse, j)


def prolong(start: int, stop: int, blocks: int, coarse: Any, fine: Any) -> None:
    """Add the coarse grid to the fine grid, interpolated linearly, including the ghosts."""
    low, high = lines_of(start, stop, blocks, coarse.shape[0] - 1)
    for c in range(low, high):
        here, above = _spread(coarse[c]), coarse[c + 1]
        fine[2 * c] += here
        here += _spread(above)
        here *= 0.5
        fine[2 * c + 1] += here


def sum_squares(start: int, stop: int, blocks: int, r: Any, sums: Any) -> None:
    """Write the sum of the squared points of each block of planes to `sums`."""
    for block in range(start, stop):
        planes = _planes(block, block + 1, blocks, r)
        inner = (r[i3, 1:-1, 1:-1] for i3 in planes)
        sums[block] = sum(float(np.einsum("ij,ij->", plane, plane)) for plane in inner)


def fill_all_ghosts(grid: Any) -> None:
    """Fill the ghosts of a grid whose points were set directly."""
    for i3 in range(1, grid.shape[0] - 1):
        _fill_ghosts(grid, i3)


def _planes(start: int, stop: int, blocks: int, grid: Any) -> range:
    low, high = lines_of(start, stop, blocks, grid.shape[0] - 2)
    return range(low + 1, high + 1)


class _Buffers:
    """A task's temporary arrays, made once, for as many rows as stay in a core's cache."""

    def __init__(self, grid: Any) -> None:
        side = grid.shape[0]
        rows = min(max(1, POINTS_AT_ONCE // side), side - 2)
        firsts = range(0, side - 2, rows)
        self.parts = [slice(first, min(first + rows + 2, side)) for first in firsts]
        self._both = np.empty((rows + 2, side), grid.dtype)
        self._edges = np.empty((rows, side), grid.dtype)
        self.ends = np.empty((rows, side), grid.dtype)
        self.result = np.empty((rows, side - 2), grid.dtype)

    def neighbours(self, grid: Any, i3: int, rows: slice) -> tuple[Plane, Plane]:
        """For each point between the first and the last of the rows: the sum of its four direct
        neighbours, and the sum of its four diagonal neighbours, at the same i1.
        """
        below, here, above = grid[i3 - 1, rows], grid[i3, rows], grid[i3 + 1, rows]
        both, edges = self._both[: len(here)], self._edges[: len(here) - 2]
        np.add(below, above, out=both)
        np.add(both[:-2], both[2:], out=edges)
        faces = both[1:-1]
        faces += here[:-2]
        faces += here[2:]
        return faces, edges


def _fill_ghosts(grid: Any, i3: int) -> None:
    plane, last = grid[i3], grid.shape[0] - 2
    plane[1:-1, 0], plane[1:-1, -1] = plane[1:-1, -2], plane[1:-1, 1]
    plane[0], plane[-1] = plane[-2], plane[1]
    if i3 == last:
        grid[0] = plane
    if i3 == 1:
        grid[-1] = plane


def _weighted(before: Plane, here: Plane, after: Plane) -> Plane:
    result = before + after
    result *= 0.5
    result += here
    return result


def _spread(plane: Plane) -> Plane:
    """The plane interpolated linearly to the points of the next finer grid."""
    half = len(plane) - 1
    wide = np.empty((half + 1, 2 * half), plane.dtype)
    wide[:, 0::2] = plane[:, :-1]
    np.add(plane[:, :-1], plane[:, 1:], out=wide[:, 1::2])
    wide[:, 1::2] *= 0.5
    spread = np.empty((2 * half, 2 * half), plane.dtype)
    spread[0::2] = wide[:-1]
    np.add(wide[:-1], wide[1:], out=spread[1::2])
    spread[1::2] *= 0.5
    return spread
