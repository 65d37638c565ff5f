"""A microbenchmark as tables: for a terminal, and as a Markdown document."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from restbench.show.markdown import table
from restbench.show.microbench_text import (
    BREAK_EVEN_HEAD,
    READING,
    SCORE_HEAD,
    break_even_lines,
    made_of,
    score_lines,
)
from restbench.store.microbench_records import Microbench

PARTS = "The parts of a request, without HTTP"
BREAK_EVENS = "From which size on does a strategy pay?"


def document(made: Microbench) -> str:
    """The break-even sizes, then every time behind them."""
    sections = [
        f"# {PARTS}",
        made_of(made),
        f"## {BREAK_EVENS}",
        READING,
        table(
            list(BREAK_EVEN_HEAD), _marks(BREAK_EVEN_HEAD, 2), break_even_lines(made.break_evens)
        ),
        "## Times",
        "Mean over the processes, with the half-width of its 95 % t interval.",
        table(list(SCORE_HEAD), _marks(SCORE_HEAD, 1), score_lines(made.scores)),
    ]
    return "\n\n".join(sections) + "\n"


def _marks(head: Sequence[str], numbers: int) -> list[str]:
    """How columns are aligned of which the last ones are numbers."""
    return ["---"] * (len(head) - numbers) + ["---:"] * numbers


def terminal(made: Microbench) -> RenderableType:
    """The times, and last, where it is seen first, what they say."""
    return Group(
        _table(PARTS, SCORE_HEAD, score_lines(made.scores)),
        _table(BREAK_EVENS, BREAK_EVEN_HEAD, break_even_lines(made.break_evens)),
        Text(READING),
        Text(made_of(made)),
    )


def _table(title: str, head: Sequence[str], lines: Sequence[Sequence[str]]) -> Table:
    drawn = Table(title=title, title_justify="left", title_style="bold")
    for name in head:
        drawn.add_column(name, overflow="fold", justify="right" if name == head[-1] else "left")
    for line in lines:
        drawn.add_row(*(Text(cell) for cell in line))
    return drawn
