"""What a person sees while a run goes on: a bar on a terminal, plain lines anywhere else."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from restbench.records import CellRun, PlannedCell, Proof

VERDICTS = {True: "DOES", False: "DOES NOT", None: "NOT PROVEN"}


class ProgressView:
    """Shows cells done, the current one and the time to go (runner.View)."""

    def __init__(self, console: Console, cells: int) -> None:
        """`cells` is the number of cells in the plan."""
        self._console = console
        self._cells = cells
        self._announced = False
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[to_go]}"),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task("starting", total=cells, to_go="")

    def __enter__(self) -> Self:
        """Show the bar."""
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take the bar away."""
        self._progress.stop()

    def note(self, text: str) -> None:
        """A line worth reading."""
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def proven(self, proof: Proof) -> None:
        """A strategy was looked at while it served."""
        name = f"{proof.service} {proof.strategy} ({proof.placement})"
        self.note(f"proof  {name} {VERDICTS[proof.does]}: {proof.claim}; {proof.evidence}")

    def started(self, planned: PlannedCell, to_go_s: float) -> None:
        """A cell begins."""
        self._progress.update(
            self._task, description=planned.cell.id, to_go=f"{duration(to_go_s)} to go"
        )

    def done(self, record: CellRun, finished: int, to_go_s: float) -> None:
        """A cell is measured, or has failed."""
        to_go = f"{duration(to_go_s)} to go"
        self._progress.update(self._task, completed=finished, to_go=to_go)
        if record.status == "failed":
            self.note(f"FAILED {record.cell.id}: {record.reason}")
        elif not self._console.is_terminal:
            ended = record.window.ended if record.window else ""
            self.note(f"{finished:4d}/{self._cells}  {record.cell.id}  ({ended})  {to_go}")
        if not self._announced and self._cells >= 10 and finished >= self._cells / 10:
            self._announced = True
            self.note(f"a tenth is measured: {duration(to_go_s)} to go")


def duration(seconds: float) -> str:
    """Seconds for reading: `12 min 05 s`, `1 h 02 min`, `48 s`."""
    whole = max(0, round(seconds))
    if whole >= 3600:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    if whole >= 60:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole} s"
