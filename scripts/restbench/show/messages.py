"""What is found of messages: sentences, a table a service, where the time goes, and charts; the
same on the page and in a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from restbench.analyse import messages
from restbench.analyse.measures import Row, alike
from restbench.analyse.messages import STAGES, Pie
from restbench.experiment.cell import Cell, users_text
from restbench.experiment.columns import readable
from restbench.experiment.experiment import Experiment
from restbench.judge import study, verdicts
from restbench.judge.verdicts import ratio_text
from restbench.show import document
from restbench.show.charts import course, lines
from restbench.show.charts.lines import Line, Panel, Point
from restbench.show.charts.theme import Chart
from restbench.show.document import DOUBT, Field, Link, Table

_COLUMNS: dict[str, Callable[[Row], Field | str]] = {
    "Technique": lambda row: Field(Link(row.cell.technique, f"#cell-{row.cell.id}")),
    "Strategy": lambda row: row.cell.strategy,
    "Messages": lambda row: ", ".join(filter(None, [row.cell.complexity, row.cell.postgres])),
    "Users": lambda row: str(row.cell.users),
    "Threads": lambda row: str(row.cell.pool_threads or ""),
    "Instances": lambda row: str(row.cell.instances),
    "Operations/s": lambda row: readable(row.value("throughput_per_s")),
    "Of the limit [95 %]": lambda row: ratio_text(messages.share_of_limit(row)),
    "Service CPU ms": lambda row: readable(row.value("cpu_ms_per_request")),
    "Database CPU ms": lambda row: readable(row.value("database_cpu_ms_per_request")),
    "/ pgbench's [95 %]": lambda row: ratio_text(messages.database_cost(row)),
    "Mean ms": lambda row: readable(row.value("mean_ms")),
    "Limit/s": lambda row: readable(row.value("pgbench_per_s")),
    "Empty pops": lambda row: readable(row.value("empty_pops")),
    "Warnings and notes": lambda row: Field(
        ", ".join(study.marks(row).values()), tone=DOUBT if row.warnings else ""
    ),
}
_THREADS, _INSTANCES = 4, 5
HOW_TO_READ = (
    "An operation is a send or a pop. The limit is pgbench with the same statements on as many "
    "connections as there are users, measured in the same blocks. Each trial begins with the same "
    "messages in the queues. CPU times are an operation's. Threads and connections that are not "
    "given are the service's usual 20. An empty pop found nothing, or only what others held."
)
CHECKED = (
    "Every operation of every trial was checked: no message popped twice (R2), none that nobody "
    "sent (R3), none altered (R4), none from another queue (R5), and as many left as sends and "
    "pops leave (R8)."
)
#: The colours of the stages, by the number of the style.
_COLOURS = dict(zip(STAGES, (4, 6, 5, 1, 0, 3, 2), strict=True))


def sentence(rows: Sequence[Row]) -> str:
    """Of each service what its best technique comes to, and how near the limit that is."""
    services: dict[str, list[Row]] = {}
    for row in rows:
        if messages.is_message(row) and row.value("throughput_per_s"):
            services.setdefault(row.cell.service, []).append(row)
    parts = [_best(name, of) for name, of in services.items()]
    return f"{'; '.join(parts)}." if parts else "No load of messages was measured."


def _best(service: str, rows: Sequence[Row]) -> str:
    """Of what lies in the database, where there is any."""
    kept = [row for row in rows if row.cell.technique != "memory"] or rows
    row = max(kept, key=lambda row: row.value("throughput_per_s") or 0.0)
    cell, limit = row.cell, messages.share_of_limit(row)
    share = f", {ratio_text(limit)} of what the database can do" if limit.estimate else ""
    return (
        f"{service.capitalize()} sends and pops {readable(row.value('throughput_per_s'))} messages "
        f"a second by {cell.technique} under {cell.strategy} ({cell.complexity}, "
        f"{users_text(cell.users)}){share}"
    )


def sure(rows: Sequence[Row]) -> str:
    """How sure the shares of the limit are."""
    known = [messages.share_of_limit(row) for row in rows if messages.is_message(row)]
    shares = [each for each in known if each.estimate]
    if not shares:
        return "No limit was measured next to the services."
    return verdicts.sure("throughput to the limit", shares)


def checked(rows: Sequence[Row]) -> str:
    """What the checks of all trials came to."""
    if broken := messages.violations(rows):
        return f"{CHECKED} Broken: {'; '.join(broken)}."
    return f"{CHECKED} None was broken."


def pool_sentences(rows: Sequence[Row]) -> list[str]:
    """How many threads are enough, of each load that has several numbers."""
    return [
        f"{name(each.cell)}: {each.enough.cell.pool_threads} threads are enough: no other number "
        f"answers over 5 % more ({ratio_text(each.comparison)} of the best, "
        f"{each.best.cell.pool_threads})"
        for each in messages.pools(rows)
    ]


def name(cell: Cell) -> str:
    """Such as `Java function, 200, 80 users`, with several instances."""
    several = f", {cell.instances} instances" if cell.instances > 1 else ""
    users = users_text(cell.users)
    return f"{cell.service.capitalize()} {cell.technique}, {cell.complexity}, {users}{several}"


def tables(rows: Sequence[Row]) -> list[Table]:
    """One a service, in it a line a cell."""
    services: dict[str, list[Row]] = {}
    for row in filter(messages.is_message, rows):
        if "not-offered" not in row.flags:
            services.setdefault(row.cell.service, []).append(row)
    return [
        document.lines(f"{name.capitalize()}: messages", _COLUMNS, of, "   nnnn nn nnn ")
        for name, of in services.items()
    ]


def narrow(rows: Sequence[Row]) -> tuple[int, ...]:
    """The columns of a terminal: threads and instances where the cells differ in them."""
    cells = [row.cell for row in rows]
    more = [_THREADS] * (len({cell.pool_threads for cell in cells}) > 1)
    more += [_INSTANCES] * (len({cell.instances for cell in cells}) > 1)
    return (0, 1, 2, 3, *more, 8, 9, 7, 6)


def pie_table(rows: Sequence[Row]) -> Table | None:
    """Where the time of one user's requests goes, in milliseconds and percent."""
    found = messages.pies(rows)
    columns: dict[str, Callable[[Pie], Field | str]] = {
        "Cell": lambda pie: Field(Link(_bar(pie), f"#cell-{pie.row.cell.id}")),
        "Operation": lambda pie: pie.kind,
        "Mean ms": lambda pie: readable(pie.whole_ms),
    }
    columns |= {f"{stage} %": partial(_share, stage) for stage in STAGES}
    caption = "Where the time of one user's requests goes"
    return document.lines(caption, columns, found, "  n" + "n" * len(STAGES)) if found else None


def _share(stage: str, pie: Pie) -> str:
    return f"{100 * pie.share(stage):.1f}"


def _bar(pie: Pie) -> str:
    cell = pie.row.cell
    return f"{cell.service} {cell.strategy} {cell.technique} {cell.complexity}"


def charts(rows: Sequence[Row], definition: Experiment) -> list[Chart | None]:
    """Throughput over users by technique and by strategy, over threads, over characters; and the
    stages of one user's requests."""
    known = [row for row in rows if messages.is_message(row)]
    sizes = {
        row.cell: level.characters
        for row in known
        if (level := definition.messages(row.cell.complexity)) and level.queues > 1
        if level.load == "paired" and not level.keys
    }
    sized = [row for row in known if row.cell in sizes]
    threaded = [row for row in known if row.cell.pool_threads]
    by_technique = alike(known, users=0, technique="none")
    by_strategy = alike(known, users=0, strategy="")
    by_size = alike(sized, complexity="by size")
    return [
        _chart("technique", "Users", _panels(by_technique, _users, _load, fewest_lines=2)),
        _chart("strategy", "Users", _panels(by_strategy, _users, _load, _strategy, 2)),
        _chart("threads", "Threads", _panels(alike(threaded, pool_threads=0), _threads, name)),
        _chart(
            "sizes", "Characters", _panels(by_size, lambda row: sizes[row.cell], name, fewest=3)
        ),
        _stages(messages.pies(known)),
    ]


_TITLES = {
    "technique": "by technique",
    "strategy": "by strategy",
    "threads": "by threads with a connection each",
    "sizes": "by their characters",
}


def _chart(what: str, x: str, panels: Sequence[Panel]) -> Chart | None:
    if not panels:
        return None
    caption = "Dashed, in a technique's colour: pgbench, the limit."
    return lines.chart(
        f"messages-{what}",
        f"Messages sent and popped, {_TITLES[what]}",
        "One technique." if what == "strategy" else caption,
        panels,
        x,
        is_log=what != "threads",
    )


def _technique(cell: Cell) -> str:
    return cell.technique


def _strategy(cell: Cell) -> str:
    return cell.strategy


def _load(cell: Cell) -> str:
    return f"{cell.service.capitalize()}, {cell.complexity}"


def _users(row: Row) -> float:
    return row.cell.users


def _threads(row: Row) -> float:
    return row.cell.pool_threads


def _panels(  # noqa: PLR0913, PLR0917 - what tells the charts apart
    groups: Mapping[Cell, Sequence[Row]],
    x: Callable[[Row], float],
    title: Callable[[Cell], str],
    label: Callable[[Cell], str] = _technique,
    fewest_lines: int = 1,
    fewest: int = 2,
) -> list[Panel]:
    """One a group with so many lines, and so many values of x."""
    return [
        Panel(title(cell), "Operations/s", _lines(group, label, x))
        for cell, group in groups.items()
        if len({label(row.cell) for row in group}) >= fewest_lines
        and len({x(row) for row in group}) >= fewest
    ]


def _lines(
    rows: Sequence[Row], label: Callable[[Cell], str], x: Callable[[Row], float]
) -> tuple[Line, ...]:
    """One a label; of a technique also its limit. Styles go by the order of the rows."""
    found = []
    for style, each in enumerate(dict.fromkeys(label(row.cell) for row in rows)):
        own = sorted((row for row in rows if label(row.cell) == each), key=x)
        found.append(Line(each, style, tuple(_points(own, x, "throughput_per_s"))))
        if label is _technique and any(row.value("pgbench_per_s") for row in own):
            limit = tuple(_points(own, x, "pgbench_per_s"))
            found.append(Line(each, style, limit, is_limit=True))
    return tuple(found)


def _points(rows: Iterable[Row], x: Callable[[Row], float], metric: str) -> Iterable[Point]:
    for row in rows:
        known = row.interval(metric)
        yield Point(
            x(row),
            row.value(metric),
            (known.low, known.high) if known else None,
            doubtful=bool(row.warnings),
            cell=row.cell.id,
            note=", ".join(study.marks(row).values()),
        )


def _stages(pies: Sequence[Pie]) -> Chart | None:
    panels: dict[str, list[dict[str, str | float]]] = {}
    for pie in pies:
        bar = f"{pie.kind} {pie.row.cell.complexity}, {pie.row.cell.technique}"
        record = {"bar": f"{bar}: {readable(pie.whole_ms)} ms", "cell": pie.row.cell.id}
        title = f"{pie.row.cell.service.capitalize()} {pie.row.cell.strategy}"
        panels.setdefault(title, []).append({**pie.parts_ms, **record})
    if not panels:
        return None
    caption = (
        "By the service's own clock, one user. Network is all that is in no stage: the web server, "
        "the kernel, the load generator. Rest is computing that waits neither for a connection nor "
        "for the database."
    )
    return Chart(
        name="messages-stages",
        title="Where the time of one user's requests goes",
        caption=caption,
        description=f"{caption} {'; '.join(panels)}.",
        panels=tuple(course.bars(title, of, _COLOURS) for title, of in panels.items()),
        panel_px=340,
        series=_COLOURS,
    )
