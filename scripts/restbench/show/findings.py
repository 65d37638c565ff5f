"""What everything that is shown of a run is made of: its `run.json`, and which files lie next to
the page."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from restbench.analyse import factorial
from restbench.analyse.exported import rows_of
from restbench.analyse.factorial import Factorial
from restbench.analyse.measures import Row
from restbench.experiment import experiment
from restbench.experiment.experiment import Experiment
from restbench.show.charts import of_run
from restbench.show.charts.theme import Chart
from restbench.show.document import Figure, Link
from restbench.store.exported import Exported
from restbench.store.store import Run


@dataclass(frozen=True)
class Findings:
    """A run as it is shown."""

    run: Exported
    folder: Run
    """Where the page lies; nothing but the existence of files is asked of it."""

    @cached_property
    def rows(self) -> list[Row]:
        """A row for each cell, in the order of the experiment's file."""
        return rows_of(self.run)

    @cached_property
    def definition(self) -> Experiment:
        """The experiment as it was when the run began."""
        return experiment.parse(self.run.experiment.toml, self.folder.experiment_file)

    @cached_property
    def charts(self) -> dict[str, Chart]:
        """Every chart of the run, by name."""
        return of_run.charts(self.run)

    @cached_property
    def effects(self) -> Factorial | None:
        """Of a factorial design, with the warnings of its checks. CellsFailed where no block has
        measured every corner."""
        return factorial.of_run(self.definition, self.rows)

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
