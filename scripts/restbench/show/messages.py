"""What is found of messages: sentences, a table a service, where the time goes, and charts; the
same on the page and in a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter

from restbench.analyse import messages
from restbench.analyse.measures import Row, alike
from restbench.analyse.messages import STAGES, Pie
from restbench.experiment.cell import Cell, users_text
from restbench.experiment.columns import readable
from restbench.experiment.experiment import Experiment
from restbench.judge import verdicts
from restbench.judge.verdicts import ratio_text
from restbench.show import document as doc
from restbench.show import wording
from restbench.show.charts import course, lines
from restbench.show.charts.lines import Line, Panel, Point
from restbench.show.charts.theme import Chart
from restbench.show.findings import Findings

_COLUMNS: Sequence[doc.Column[Row]] = (
    doc.Column("Technique", lambda row: doc.cell_link(row.cell, row.cell.technique)),
    doc.Column("Strategy", lambda row: row.cell.strategy),
    doc.Column(
        "Messages", lambda row: ", ".join(filter(None, [row.cell.complexity, row.cell.postgres]))
    ),
    doc.number("Users", lambda row: row.cell.users),
    doc.number("Threads", lambda row: row.cell.pool_threads or ""),
    doc.number("Instances", lambda row: row.cell.instances),
    doc.number("Operations/s", lambda row: row.value("throughput_per_s")),
    doc.Column("Of the limit [95 %]", lambda row: ratio_text(messages.share_of_limit(row))),
    doc.number("Service CPU ms", lambda row: row.value("cpu_ms_per_request")),
    doc.number("Database CPU ms", lambda row: row.value("database_cpu_ms_per_request")),
    doc.Column("/ pgbench's [95 %]", lambda row: ratio_text(messages.database_cost(row))),
    doc.number("Mean ms", lambda row: row.value("mean_ms")),
    doc.number("Limit/s", lambda row: row.value("pgbench_per_s")),
    doc.number("Empty pops", lambda row: row.value("empty_pops")),
    doc.Column("Warnings and notes", doc.remarks),
)
_THREADS, _INSTANCES = 4, 5
#: Behind this column stands what else the database took, where it was measured.
_DATABASE_AFTER = 11
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
#: Metrics of the table for programs, next to those of DATABASE.
_METRICS = (
    "throughput_per_s",
    "mean_ms",
    "cpu_ms_per_request",
    "database_cpu_ms_per_request",
    "empty_pops",
    "pgbench_per_s",
    "pgbench_database_cpu_ms",
    "pgbench_database_written_kib",
    "pgbench_database_wal_kib",
)
#: The colours of the stages, by the number of the style.
_COLOURS = dict(zip(STAGES, (4, 6, 5, 1, 0, 3, 2), strict=True))


def sentence(rows: Sequence[Row]) -> str:
    """Of each service what its best technique comes to, and how near the limit that is."""
    loads = [each for each in rows if messages.is_message(each) and each.value("throughput_per_s")]
    services = wording.grouped(loads, wording.service_name)
    parts = [_best(name, of) for name, of in services.items()]
    return f"{'; '.join(parts)}." if parts else "No load of messages was measured."


def _best(service: str, rows: Sequence[Row]) -> str:
    """Of what lies in the database, where there is any."""
    kept = [row for row in rows if row.cell.technique != "memory"] or rows
    row = max(kept, key=lambda row: row.value("throughput_per_s") or 0.0)
    cell, limit = row.cell, messages.share_of_limit(row)
    share = f", {ratio_text(limit)} of what the database can do" if limit.estimate else ""
    return (
        f"{service} sends and pops {readable(row.value('throughput_per_s'))} messages "
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


def page(found: Findings) -> doc.Section | None:
    """The sentences, the charts, a table a service, and where the time goes."""
    if not any(map(messages.is_message, found.rows)):
        return None
    return doc.section(
        "messages",
        "Messages in queues",
        doc.Text(sentence(found.rows)),
        doc.Bullets((*pool_sentences(found.rows), checked(found.rows))),
        *found.figures("messages"),
        *tables(found.rows),
        doc.Text(HOW_TO_READ),
        _terms(found.rows),
        pie_table(found.rows),
    )


def tables(rows: Sequence[Row]) -> list[doc.Table]:
    """One a service, in it a line a cell."""
    offered = [row for row in filter(messages.is_message, rows) if "not-offered" not in row.flags]
    more = map(_of_database, messages.known_of_database(offered))
    columns = [*_COLUMNS[:_DATABASE_AFTER], *more, *_COLUMNS[_DATABASE_AFTER:]]
    return doc.table_each("messages", columns, offered, wording.service_name)


def _of_database(name: str) -> doc.Column[Row]:
    return doc.number(messages.DATABASE[name][0], lambda row: row.value(name))


def _terms(rows: Sequence[Row]) -> doc.Terms | None:
    known = messages.known_of_database(rows)
    return doc.Terms(dict(messages.DATABASE[name] for name in known)) if known else None


def records(rows: Sequence[Row]) -> list[dict[str, object]]:
    """A line a cell, for programs; none of a run that did not measure what its database took."""
    known = [row for row in rows if messages.is_message(row) and row.measured]
    measured = messages.known_of_database(known)
    return [_record(row, measured) for row in known] if measured else []


def _record(row: Row, measured: Sequence[str]) -> dict[str, object]:
    numbers = {name: row.value(name) for name in (*_METRICS, *measured)}
    for name, found in (
        ("of_the_limit", messages.share_of_limit(row)),
        ("database_cpu_over_pgbench", messages.database_cost(row)),
    ):
        low, high = found.ends or (None, None)
        numbers |= {name: found.estimate, f"{name}_low": low, f"{name}_high": high}
    rounded = {
        name: None if value is None else float(f"{value:.4g}") for name, value in numbers.items()
    }
    return row.cell.model_dump() | rounded


def terminal(rows: Sequence[Row]) -> list[doc.Table]:
    """The same, with threads and instances where the cells differ in them."""
    cells = [row.cell for row in rows]
    more = [_THREADS] * (len({cell.pool_threads for cell in cells}) > 1)
    more += [_INSTANCES] * (len({cell.instances for cell in cells}) > 1)
    return [each.only((0, 1, 2, 3, *more, 8, 9, 7, 6)) for each in tables(rows)]


def pie_table(rows: Sequence[Row]) -> doc.Table | None:
    """Where the time of one user's requests goes, in milliseconds and percent."""
    found = messages.pies(rows)
    columns: list[doc.Column[Pie]] = [
        doc.Column("Cell", lambda pie: doc.cell_link(pie.row.cell, _bar(pie))),
        doc.Column("Operation", lambda pie: pie.kind),
        doc.number("Mean ms", lambda pie: pie.whole_ms),
        *map(_stage, STAGES),
    ]
    return (
        doc.table("Where the time of one user's requests goes", columns, found) if found else None
    )


def _stage(stage: str) -> doc.Column[Pie]:
    return doc.number(f"{stage} %", lambda pie: f"{100 * pie.share(stage):.1f}")


def _bar(pie: Pie) -> str:
    cell = pie.row.cell
    return f"{cell.service} {cell.strategy} {cell.technique} {cell.complexity}"


def _caption(panels: Sequence[Panel]) -> str:
    """What is dashed, where anything is."""
    if any(line.is_limit for panel in panels for line in panel.lines):
        return "Dashed, in a technique's colour: pgbench, the limit."
    return "No limit was measured."


def charts(rows: Sequence[Row], definition: Experiment) -> list[Chart | None]:
    """Throughput over users by technique and by strategy, over threads, over characters; and the
    stages of one user's requests."""
    of_messages = [row for row in rows if messages.is_message(row)]
    return [
        _over_users(of_messages, "technique", "none"),
        _over_users(of_messages, "strategy", ""),
        _over_threads(of_messages),
        _over_characters(of_messages, definition),
        _stages(messages.pies(of_messages)),
    ]


def _over_users(rows: Sequence[Row], what: str, usual: str) -> Chart | None:
    """A panel a service and kind of messages; lines are techniques, or strategies."""
    label: Callable[[Cell], str] = attrgetter(what)
    panels = [
        Panel(
            f"{cell.service.capitalize()}, {cell.complexity}",
            "Operations/s",
            _lines(group, label, lambda row: row.cell.users, has_limit=what == "technique"),
        )
        for cell, group in alike(rows, users=0, **{what: usual}).items()
        if len({label(row.cell) for row in group}) > 1
        and len({row.cell.users for row in group}) > 1
    ]
    title = f"Messages sent and popped, by {what}"
    caption = _caption(panels) if what == "technique" else "One technique."
    return lines.chart(f"messages-{what}", title, caption, panels, "Users", is_log=True)


def _over_threads(rows: Sequence[Row]) -> Chart | None:
    several = [row for row in rows if row.cell.pool_threads]
    panels = [
        Panel(
            name(cell),
            "Operations/s",
            _lines(group, _technique, lambda row: row.cell.pool_threads),
        )
        for cell, group in alike(several, pool_threads=0).items()
        if len(group) > 1
    ]
    title = "Messages sent and popped, by threads with a connection each"
    return lines.chart("messages-threads", title, _caption(panels), panels, "Threads", is_log=False)


def _over_characters(rows: Sequence[Row], definition: Experiment) -> Chart | None:
    sizes = {
        row.cell: level.characters
        for row in rows
        if (level := definition.messages(row.cell.complexity)) and level.queues > 1
        if level.load == "paired" and not level.keys
    }
    known = [row for row in rows if row.cell in sizes]
    panels = [
        Panel(
            name(cell.model_copy(update={"complexity": "by size"})),
            "Operations/s",
            _lines(group, _technique, lambda row: sizes[row.cell]),
        )
        for cell, group in alike(known, complexity="").items()
        if len(group) > 2
    ]
    title = "Messages sent and popped, by their characters"
    return lines.chart("messages-sizes", title, _caption(panels), panels, "Characters", is_log=True)


def _technique(cell: Cell) -> str:
    return cell.technique


def _lines(
    rows: Sequence[Row],
    label: Callable[[Cell], str],
    x: Callable[[Row], float],
    *,
    has_limit: bool = True,
) -> tuple[Line, ...]:
    """One a label with its limit; styles go by the order of the rows."""
    found = []
    for style, (each, of) in enumerate(wording.grouped(rows, lambda row: label(row.cell)).items()):
        own = sorted(of, key=x)
        found.append(Line(each, style, tuple(_points(own, x, "throughput_per_s"))))
        if has_limit and any(row.value("pgbench_per_s") for row in own):
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
            note=wording.remarks(row),
        )


def _stages(pies: Sequence[Pie]) -> Chart | None:
    panels = wording.grouped(
        pies, lambda pie: f"{wording.service_name(pie.row)} {pie.row.cell.strategy}"
    )
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
        panels=tuple(
            course.bars(title, list(map(_record, of)), _COLOURS) for title, of in panels.items()
        ),
        panel_px=340,
        series=_COLOURS,
    )


def _record(pie: Pie) -> dict[str, str | float]:
    cell = pie.row.cell
    bar = f"{pie.kind} {cell.complexity}, {cell.technique}: {readable(pie.whole_ms)} ms"
    return {**pie.parts_ms, "bar": bar, "cell": cell.id}
