"""Things in groups, by what they have in common."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """The items by their key, keys and items in the order in which they come."""
    groups: dict[K, list[T]] = {}
    for each in items:
        groups.setdefault(key(each), []).append(each)
    return groups
