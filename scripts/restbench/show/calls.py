"""What is found of batches of calls: a sentence, tables, and speed-up over threads as a chart."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from restbench.analyse import calls
from restbench.analyse.calls import COLUMNS, work
from restbench.analyse.measures import Row
from restbench.experiment.calls import CallWork
from restbench.experiment.columns import readable
from restbench.experiment.statistics import geometric_interval, geometric_mean
from restbench.judge import study
from restbench.show.charts import lines, theme
from restbench.show.charts.lines import Line, Panel, Point
from restbench.show.charts.theme import Chart
from restbench.show.document import Field, Link, Section, Table, Terms, Text, section, table
from restbench.show.findings import Findings

#: What the study says of five threads and more: its optimised pipeline over its task pool.
PUBLISHED = {1000: 1.1, 5000: 1.3, 10_000: 1.6}
_STUDY_THREADS, _STUDY = 5, "study"
_SHOWN = tuple(name for name in COLUMNS if name != "made")
HOW_TO_READ = (
    "Every number is the median over the blocks. Speed-up is the time of the same calls one after "
    "the other over the batch's; from 100 ms of response time on, ten of those stand for all, each "
    "takes as long as the other. The limit is the least time that any client of so many threads "
    "needs, by what a call takes alone (S, C, D, P) and costs in CPU time: no measurement can be "
    "below it, and nearness is the limit over the time. A thread that waits needs no core."
)


def of(found: Findings) -> Section | None:
    """The page's section."""
    if found.definition.calls is None:
        return None
    return section(
        "calls",
        "Many calls of a service, from the client's side",
        Text(sentence(found.rows)),
        *found.figures("calls"),
        *tables(found.rows),
        Text(HOW_TO_READ),
        section("calls-columns", "What the columns mean", Terms(dict(COLUMNS.values()))),
    )


def sentence(rows: Sequence[Row]) -> str:
    """How near each way came to the best possible."""
    ways: dict[str, list[float]] = {}
    for row in calls.ranked(rows):
        if (near := calls.nearness(row)) and work(row).strategy != "document":
            name = f"{work(row).client.capitalize()} {work(row).strategy}"
            ways.setdefault(name, []).append(near)
    parts = [f"{way} {median(near):.2f} (at least {min(near):.2f})" for way, near in ways.items()]
    if not parts:
        return "No batch of calls was measured."
    return f"Of the best possible, median over cells: {', '.join(parts)}."


def sure(rows: Sequence[Row]) -> str:
    """How sure it is."""
    blocks = max((len(row.measured) for row in rows), default=0)
    if blocks < 2:
        return "Each number is of one block: no interval, so no verdict."
    return f"Each number is a median over {blocks} blocks: ratios are paired over them."


def tables(rows: Sequence[Row]) -> list[Table]:
    """One a client, transport and response time."""
    groups: dict[str, list[Row]] = {}
    for row in calls.ranked(rows):
        groups.setdefault(_title(work(row)), []).append(row)
    return [_table(title, group, rows) for title, group in groups.items()]


def _title(of: CallWork) -> str:
    size = f", batches of {of.calls}" if of.calls else ""
    return f"{of.client.capitalize()} client, {of.transport}, {of.delay_ms} ms{size}"


def _table(title: str, group: Sequence[Row], rows: Sequence[Row]) -> Table:
    head = ["Strategy", "T", "Speed-up", "Limit of it", "Nearness"]
    head += [*(COLUMNS[name][0] for name in _SHOWN), "Blocks", "Warnings and notes"]
    body: list[tuple[Field | str, ...]] = [
        (
            Field(Link(work(row).strategy, f"#cell-{row.cell.id}")),
            str(row.cell.users),
            readable(_middle(calls.speed_ups(row, rows))),
            readable(_middle(calls.speed_ups(row, rows, "limit_s"))),
            readable(calls.nearness(row)),
            *(readable(calls.median(row, name)) for name in _SHOWN),
            str(len(row.measured)),
            ", ".join(study.marks(row).values()),
        )
        for row in group
    ]
    return table(title, head, body, f" {'n' * (len(head) - 2)} ")


def _middle(values: Sequence[float]) -> float | None:
    return median(values) if values else None


def charts(rows: Sequence[Row]) -> list[Chart | None]:
    """Speed-up over threads, a chart a client and transport, a panel a response time."""
    programs = dict.fromkeys(work(row).program for row in calls.ranked(rows))
    return [_chart(program, rows) for program in programs]


def _chart(program: tuple[str, str], rows: Sequence[Row]) -> Chart | None:
    panels: dict[int, list[Row]] = {}
    for row in calls.ranked(rows):
        of = work(row)
        is_line = of.calls is None and of.strategy not in {"sequential", "document"}
        if of.program == program and is_line and row.measured:
            panels.setdefault(of.delay_ms, []).append(row)
    if not panels:
        return None
    client, transport = program
    strategies = list(dict.fromkeys(work(row).strategy for each in panels.values() for row in each))
    return lines.chart(
        f"calls-{client}-{transport}",
        f"Speed-up over one call after the other: {client.capitalize()} client, {transport}",
        "Dashed, in a strategy's colour: the best possible. Marks of the study: what it says its "
        "optimised pipeline gains over a task pool, of which the limit is known. Geometric mean "
        "over blocks with its 95 % interval, where there are several.",
        [
            Panel(
                f"{delay} ms",
                "Speed-up",
                tuple(_lines(group, rows, strategies, delay)),
                tuple(sorted({float(row.cell.users) for row in group})),
            )
            for delay, group in panels.items()
        ],
        "Client threads",
        is_log=True,
    )


def _lines(
    group: Sequence[Row], rows: Sequence[Row], strategies: list[str], delay: int
) -> list[Line]:
    found = []
    for strategy in dict.fromkeys(work(row).strategy for row in group):
        own = [row for row in group if work(row).strategy == strategy]
        style = strategies.index(strategy)
        for is_limit, column in ((False, "elapsed_s"), (True, "limit_s")):
            points = (_point(row, calls.speed_ups(row, rows, column)) for row in own)
            found.append(Line(strategy, style, tuple(points), is_limit=is_limit))
    if gain := PUBLISHED.get(delay):
        mark = Point(_STUDY_THREADS, _STUDY_THREADS * gain, name=f"study: +{gain - 1:.0%}")
        found.append(Line(_STUDY, len(theme.PALETTE) - 1, (mark,)))
    return found


def _point(row: Row, values: Sequence[float]) -> Point:
    known = geometric_interval(values) if len(values) > 1 else None
    return Point(
        row.cell.users,
        geometric_mean(values) if values else None,
        (known.low, known.high) if known else None,
        doubtful=bool(row.warnings),
        cell=row.cell.id,
        note=", ".join(study.marks(row).values()),
    )
