"""How rows, cells and values are named and grouped wherever a run is shown."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from restbench.analyse.measures import Row
from restbench.experiment.cell import Cell, users_text
from restbench.experiment.columns import readable
from restbench.judge import study

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """The items by their key, keys and items in the order in which they come."""
    groups: dict[K, list[T]] = {}
    for each in items:
        groups.setdefault(key(each), []).append(each)
    return groups


def with_ends(value: float | None, low: float | None, high: float | None) -> str:
    """`1.92 [1.85, 1.99]`; without ends the value alone, nothing where that is unknown."""
    ends = f" [{readable(low)}, {readable(high)}]" if low is not None and high is not None else ""
    return "" if value is None else f"{readable(value)}{ends}"


def cell_name(cell: Cell) -> str:
    """Such as `PR process-per-request, low, 10 users`."""
    return f"{study.technique(cell)}, {cell.complexity}, {users_text(cell.users)}"


def service_name(row: Row) -> str:
    """Such as `Java`."""
    return row.cell.service.capitalize()


def remarks(row: Row) -> str:
    """Its warnings and notes, separated by commas."""
    return ", ".join(study.marks(row).values())
