"""A microbenchmark as tables: for a terminal, and as a Markdown document."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from restbench.experiment.columns import readable
from restbench.experiment.statistics import t_interval
from restbench.show import markdown
from restbench.show.document import Column, Table, number, table
from restbench.show.microbench_text import BREAK_EVENS, READING, made_of
from restbench.show.terminal import drawn
from restbench.store.microbench_records import Microbench, Score

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
    return table(PARTS, _SCORES, made.scores)


def _time(score: Score) -> str:
    interval = t_interval(score.runs_us)
    return f"{readable(interval.mean)} ± {readable(interval.half_width)}"


_SCORES: Sequence[Column[Score]] = (
    Column("Service", lambda each: each.service),
    Column("Part", lambda each: each.part),
    Column("Kernel", lambda each: each.kernel or ""),
    Column("Strategy", lambda each: each.strategy or ""),
    Column("Of", lambda each: each.shape or f"{each.rows} rows, empty"),
    number("µs", _time),
)
