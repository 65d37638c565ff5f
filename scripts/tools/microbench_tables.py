"""A microbenchmark as tables: for a terminal, and as a Markdown document."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from restbench.show import markdown
from restbench.show.document import Table, table
from restbench.show.microbench_text import BREAK_EVENS, READING, SCORES, made_of
from restbench.show.terminal import drawn
from restbench.store.microbench_records import Microbench

PARTS = "The parts of a request, without HTTP"
BREAK_EVEN = "From which size on does a strategy pay?"


def document(made: Microbench) -> str:
    """The break-even sizes, then every time behind them."""
    sections = [
        f"# {PARTS}",
        made_of(made),
        f"## {BREAK_EVEN}",
        READING,
        markdown.table(_break_evens(made)),
        "## Times",
        "Mean over the processes, with the half-width of its 95 % t interval.",
        markdown.table(_scores(made)),
    ]
    return "\n\n".join(sections) + "\n"


def terminal(made: Microbench) -> RenderableType:
    """The times, and last, where it is seen first, what they say."""
    shown = (drawn(_scores(made)), drawn(_break_evens(made)))
    return Group(*shown, Text(READING), Text(made_of(made)))


def _break_evens(made: Microbench) -> Table:
    return table(BREAK_EVEN, BREAK_EVENS, made.break_evens)


def _scores(made: Microbench) -> Table:
    return table(PARTS, SCORES, made.scores)
