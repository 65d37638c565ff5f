"""What is shown of a kind of experiment, wherever that is: on the page, on its first screen, in a
terminal, as tables for programs. `views` has them all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeAlias, TypeVar

from restbench.show.charts.theme import Chart
from restbench.show.document import Section, Table
from restbench.show.findings import Findings
from restbench.store.store import Run

T = TypeVar("T")
Charts: TypeAlias = Iterable[Chart | None]
Records: TypeAlias = Sequence[Mapping[str, object]]


@dataclass(frozen=True)
class View(Generic[T]):
    """All of it is made of what `of` finds in a run; what a kind of experiment lacks is empty."""

    of: Callable[[Findings], T]
    page: Callable[[Findings, T], Section | None]
    sentence: Callable[[T], str] = lambda _its: ""
    """Of the first screen."""
    sure: Callable[[T], str] = lambda _its: ""
    """How sure the sentence is."""
    charts: Callable[[T], Charts] = lambda _its: ()
    """Of the view whose sentence is the answer the first is the picture next to it."""
    terminal: Callable[[T], Iterable[Table | str]] = lambda _its: ()
    """Tables and lines in the place of a line for each cell."""
    records: Callable[[Run, T], Mapping[Path, Records]] = lambda _run, _its: {}
    """Files of one table each, for programs."""
    more: tuple[Callable[[Findings], Section | None], ...] = ()
    """Sections that follow."""
    asks_which: bool = True
    """Whether it is asked too which technique is best."""
