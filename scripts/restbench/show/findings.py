"""What everything that is shown of a run is made of: its `run.json`, and which files lie next to
the page; and what a view of it has to say, wherever that is: on the page, on its first screen, in a
terminal, as tables for programs. `views` has them all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

from restbench.analyse.exported import rows_of
from restbench.analyse.measures import Row
from restbench.experiment import experiment
from restbench.experiment.experiment import Experiment
from restbench.machine.placement import place
from restbench.show.charts.theme import Chart
from restbench.show.document import Figure, Link, Section, Table
from restbench.store.exported import RunExport
from restbench.store.store import Run

T = TypeVar("T")
Charts: TypeAlias = Iterable[Chart | None]
Records: TypeAlias = Sequence[Mapping[str, object]] | Mapping[str, object]


@dataclass(frozen=True)
class Findings:
    """A run as it is shown; `views.drawn` makes one with its views and charts."""

    run: RunExport
    folder: Run
    """Where the page lies; nothing but the existence of files is asked of it."""
    rows: Sequence[Row]
    """A row for each cell, in the order of the experiment's file."""
    definition: Experiment
    """The experiment as it was when the run began."""
    views: Sequence[tuple[View[Any], Any]] = ()
    """Those that the experiment wants, each with what it is made of."""
    charts: Mapping[str, Chart] = field(default_factory=dict)
    """Every chart of the run, by name, in the order of the page."""

    @property
    def cores(self) -> int:
        """That an unbound service may use."""
        return len(place("unbound", tuple(self.run.cores_allowed or (0,))).service)

    @property
    def first(self) -> Figure | None:
        """The picture of the first screen: the overview, or what the experiment is about."""
        return next((self._figure(chart) for chart in self.charts.values()), None)

    def figures(self, names: str) -> list[Figure]:
        """The charts whose name begins so, but for the first."""
        following = list(self.charts.values())[1:]
        return [self._figure(each) for each in following if each.name.startswith(names)]

    def _figure(self, chart: Chart) -> Figure:
        file = self.link(self.folder.named_figure(chart.name))
        return Figure(chart, file.href if file else "")

    def link(self, path: Path, text: str = "") -> Link | None:
        """To a file, from where the page lies; None where there is no such file."""
        if not path.exists():
            return None
        place = Path(os.path.relpath(path, self.folder.path)).as_posix()
        return Link(text or place, place)

    def files_of(self, cell: str) -> list[Link]:
        """What lies next to the page about a cell: its dashboard, its long window's raw files."""
        known = {
            "JMeter's dashboard": self.folder.dashboard(cell) / "index.html",
            "raw files of the long window": self.folder.window(cell).path,
        }
        return [link for text, path in known.items() if (link := self.link(path, text))]


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
    """Files for programs: of one table each, or of JSON."""
    more: tuple[Callable[[Findings], Section | None], ...] = ()
    """Sections that follow."""
    note: Callable[[T], str] = lambda _its: ""
    """A line of the terminal, below its tables."""
    asks_which: bool = True
    """Whether it is asked too which technique is best."""


def of(run: RunExport, folder: Run) -> Findings:
    """Of a run's file, without views and charts."""
    definition = experiment.parse(run.experiment.toml, folder.experiment_file, run.cores_allowed)
    return Findings(run, folder, rows_of(run), definition)
