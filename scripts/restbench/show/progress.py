"""The progress of a run: a bar and the current cell on a terminal, plain lines anywhere else."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text


@dataclass
class BlockProgress:
    """The progress of the block that is being measured."""

    block: int
    done: int = 0
    planned: int = 0
    """The number of planned trials; 0 where trials depend on earlier ones, so it is not known."""
    cell: str = "starting services"
    per_s: float = 0.0
    until: float = 0.0
    """When the block is to end, by the monotonic clock."""


#: The shown values change once a second; drawing much more often would only take CPU time.
DRAWN_PER_S = 2.0
#: Narrow enough for a terminal of 60 columns with counts and time next to it.
BAR_COLUMNS = 24


class ProgressView:
    """Shows the progress of a block."""

    def __init__(self, console: Console) -> None:
        """Nothing is shown before the first block."""
        self._console = console
        self._bar = _Bar(
            BarColumn(BAR_COLUMNS),
            MofNCompleteColumn(),
            TextColumn("{task.fields[to_go]}"),
            console=console,
            refresh_per_second=DRAWN_PER_S,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("", total=None, to_go="")

    def __enter__(self) -> Self:
        """Show the bar."""
        self._bar.start()
        return self

    def __exit__(self, *_raised: object) -> None:
        """Take the bar away."""
        self._bar.line = ""
        self._bar.stop()

    def note(self, text: str) -> None:
        """Print a line."""
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def show(self, progress: BlockProgress) -> None:
        """Show the progress of the block; without a terminal nothing is shown."""
        if not self._console.is_terminal:
            return
        left_s = max(0.0, progress.until - time.monotonic())
        to_go = f"{duration(left_s)} to go" if progress.until else ""
        total = progress.planned or None
        self._bar.update(self._task, total=total, completed=progress.done, to_go=to_go)
        self._bar.line = f"block {progress.block}  {progress.cell}  {progress.per_s:.0f}/s"


class _Bar(Progress):
    """A progress bar with a line of text under it, cut where the terminal ends."""

    line = ""

    def get_renderables(self) -> Iterable[RenderableType]:
        """The bar, then the line where there is one."""
        yield from super().get_renderables()
        if self.line:
            yield Text(self.line, no_wrap=True, overflow="ellipsis")


def duration(seconds: float) -> str:
    """Seconds for reading: `12 min 05 s`, `1 h 02 min`, `48 s`."""
    whole = max(0, round(seconds))
    if whole >= 3600:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    if whole >= 60:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole} s"
