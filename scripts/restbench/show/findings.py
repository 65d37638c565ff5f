"""The data and the interface of everything that is shown of a run. `Findings` are its `run.json`
and the files next to the page. A `View` is what one kind of experiment shows: on the page, on its
first screen, in a terminal, as tables for programs. `views` lists all views."""

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
Records: TypeAlias = Sequence[Mapping[str, object]] | Mapping[str, object]


@dataclass(frozen=True)
class Findings:
    """A run as it is shown; `views.drawn` makes one with its views and charts."""

    run: RunExport
    folder: Run
    """The folder of the page. It is only used to see which files exist."""
    rows: Sequence[Row]
    """A row for each cell, in the order of the experiment's file."""
    definition: Experiment
    """The experiment as it was when the run began."""
    views: Sequence[tuple[View[Any], Any]] = ()
    """The views that the experiment names, each with the data that its `of` returned."""
    charts: Mapping[str, Chart] = field(default_factory=dict)
    """Every chart of the run, by name, in the order of the page."""

    @property
    def cores(self) -> int:
        """The number of cores that an unbound service may use."""
        return len(place("unbound", tuple(self.run.cores_allowed or (0,))).service)

    @property
    def first(self) -> Figure | None:
        """The chart on the first screen: the first of `charts`; None where there is none."""
        return next((self._figure(chart) for chart in self.charts.values()), None)

    def figures(self, names: str) -> list[Figure]:
        """The charts whose names begin with `names`, without the one on the first screen."""
        following = list(self.charts.values())[1:]
        return [self._figure(each) for each in following if each.name.startswith(names)]

    def _figure(self, chart: Chart) -> Figure:
        file = self.link(self.folder.named_figure(chart.name))
        return Figure(chart, file.href if file else "")

    def link(self, path: Path, text: str = "") -> Link | None:
        """A link from the page to a file; None where there is no such file."""
        if not path.exists():
            return None
        place = Path(os.path.relpath(path, self.folder.path)).as_posix()
        return Link(text or place, place)

    def files_of(self, cell: str) -> list[Link]:
        """Links to a cell's files next to the page: its dashboard, its long window's raw files."""
        known = {
            "JMeter's dashboard": self.folder.dashboard(cell) / "index.html",
            "raw files of the long window": self.folder.window(cell).path,
        }
        return [link for text, path in known.items() if (link := self.link(path, text))]


@dataclass(frozen=True)
class View(Generic[T]):
    """How one kind of experiment is shown. `of` takes the data from a run; all other functions get
    these data. What the kind of experiment does not have is empty."""

    of: Callable[[Findings], T]
    page: Callable[[Findings, T], Section | None]
    """The section of the page; not asked for where the data are empty."""
    sentence: Callable[[T], str] = lambda _its: ""
    """The answer on the first screen; empty where the run has none of this kind."""
    sure: Callable[[T], str] = lambda _its: ""
    """How sure the sentence is."""
    charts: Callable[[T], Iterable[Chart | None]] = lambda _its: ()
    """The charts. If the view's sentence is the answer, the first one stands next to it."""
    terminal: Callable[[T], Iterable[Table | str]] = lambda _its: ()
    """Tables and lines that replace the usual table with a line per cell."""
    records: Callable[[Run, T], Mapping[Path, Records]] = lambda _run, _its: {}
    """Files for programs: records of a CSV table, or a JSON object."""
    more: tuple[Callable[[Findings], Section | None], ...] = ()
    """Further sections of the page, after `page`."""
    note: Callable[[T], str] = lambda _its: ""
    """A line of the terminal, below its tables."""
    asks_for_best_technique: bool = True
    """Whether a run with this view also asks which technique is best."""


def of(run: RunExport, folder: Run) -> Findings:
    """The findings of a run, without views and charts."""
    definition = experiment.parse(run.experiment.toml, folder.experiment_file, run.cores_allowed)
    return Findings(run, folder, rows_of(run), definition)
