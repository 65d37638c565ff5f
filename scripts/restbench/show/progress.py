"""What a person sees while a run goes on: a bar and the current cell on a terminal, plain lines
anywhere else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from restbench.experiment.records import CellRun, PlannedCell, Proof
from restbench.machine.live import Live

VERDICTS = {True: "DOES", False: "DOES NOT", None: "NOT PROVEN"}
#: What is shown changes once a second; drawing it oftener would only take CPU time.
DRAWN_PER_S = 2.0
#: Narrow enough for a terminal of 60 columns with counts and time beside it.
BAR_COLUMNS = 24


class ProgressView:
    """Shows cells done, the current one and the time to go (runner.View)."""

    def __init__(self, console: Console, cells: int) -> None:
        """`cells` is the number of cells in the plan."""
        self._console = console
        self._cells = cells
        self._announced = False
        self._bar = _Bar(
            BarColumn(BAR_COLUMNS),
            MofNCompleteColumn(),
            TextColumn("{task.fields[to_go]}"),
            console=console,
            refresh_per_second=DRAWN_PER_S,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("", total=cells, to_go="")

    def __enter__(self) -> Self:
        """Show the bar."""
        self._bar.start()
        return self

    def __exit__(self, *_raised: object) -> None:
        """Take the bar away."""
        self._bar.show()
        self._bar.stop()

    def note(self, text: str) -> None:
        """A line worth reading."""
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def proven(self, proof: Proof) -> None:
        """A strategy was looked at while it served."""
        name = f"{proof.service} {proof.strategy} ({proof.placement})"
        self.note(f"proof  {name} {VERDICTS[proof.does]}: {proof.claim}; {proof.evidence}")

    def extended(self, cells: int, why: str) -> None:
        """Precision lacks, so another block follows; `cells` is the new number of all cells."""
        self._cells = cells
        self._bar.update(self._task, total=cells)
        self.note(f"{why}: {cells} measurements in all")

    def started(self, planned: PlannedCell, to_go_s: float) -> None:
        """A cell begins."""
        self._bar.update(self._task, to_go=f"{duration(to_go_s)} to go")
        self._bar.show(_place(planned), "starting")

    def measuring(self, planned: PlannedCell, now: Live) -> None:
        """The current cell, about once a second; nothing where there is no terminal."""
        self._bar.show(_place(planned), readings(now))

    def taking_turns(self, planned: PlannedCell, measured_s: float, of_s: float) -> None:
        """The current cell and those that take turns with it; nothing without a terminal."""
        self._bar.show(_place(planned), f"turns: {measured_s:.1f} of {of_s:g} s of each measured")

    def done(self, record: CellRun, finished: int, to_go_s: float) -> None:
        """A cell is measured, or has failed."""
        to_go = f"{duration(to_go_s)} to go"
        self._bar.update(self._task, completed=finished, to_go=to_go)
        self._bar.show()
        if record.status == "failed":
            self.note(f"FAILED {record.cell.id}: {record.reason}")
        elif not self._console.is_terminal:
            ended = record.window.ended if record.window else ""
            self.note(f"{finished:4d}/{self._cells}  {record.cell.id}  ({ended})  {to_go}")
        if not self._announced and self._cells >= 10 and finished >= self._cells / 10:
            self._announced = True
            self.note(f"a tenth is measured: {duration(to_go_s)} to go")


class _Bar(Progress):
    """A progress bar with lines of text under it, cut where the terminal ends."""

    lines: tuple[str, ...] = ()

    def show(self, *lines: str) -> None:
        """Put these lines under the bar; none takes them away."""
        self.lines = lines

    def get_renderables(self) -> Iterable[RenderableType]:
        """The bar, then the lines."""
        yield from super().get_renderables()
        for line in self.lines:
            yield Text(line, no_wrap=True, overflow="ellipsis")


def _place(planned: PlannedCell) -> str:
    return f"block {planned.block}  {planned.cell.id}"


def readings(now: Live) -> str:
    """A look at a cell, the most important first: a narrow terminal shows what fits.

    `window 3 s  6675/s  1.09 ms  0 errors  CPU 81 %`
    """
    parts = [
        f"{now.phase} {now.elapsed_s:.0f} s",
        f"{now.throughput_per_s:.0f}/s",
        "no answer yet" if now.mean_ms is None else f"{now.mean_ms:.3g} ms",
        "1 error" if now.errors == 1 else f"{now.errors} errors",
    ]
    if now.service_cpu_pct is not None:
        parts.append(f"CPU {now.service_cpu_pct:.0f} %")
    return "  ".join(parts)


def duration(seconds: float) -> str:
    """Seconds for reading: `12 min 05 s`, `1 h 02 min`, `48 s`."""
    whole = max(0, round(seconds))
    if whole >= 3600:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    if whole >= 60:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole} s"
