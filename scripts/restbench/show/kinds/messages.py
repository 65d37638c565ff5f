"""The results of message loads: sentences, a table per service, and where the time goes; the same
on the page and in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from operator import methodcaller

from restbench.analyse import messages
from restbench.analyse.comparison import Comparison
from restbench.analyse.measures import Row
from restbench.analyse.messages import STAGES, TimeBreakdown
from restbench.experiment.cell import Cell, Technique, users_text
from restbench.experiment.columns import readable
from restbench.failures import counted
from restbench.grouping import grouped
from restbench.judge import leader, verdicts
from restbench.judge.leader import Leader
from restbench.judge.verdicts import ratio_text
from restbench.show import document as doc
from restbench.show import wording
from restbench.show.charts import messages as pictures
from restbench.show.charts.messages import label, name, settings_of
from restbench.show.findings import Findings, View

_USUAL: Technique = "skip-locked"
_AT_RATE = doc.Column[Row](
    "/ same rate [95 %]",
    lambda row: ratio_text(messages.database_cost(row, at_rate=True)),
    meaning="The database's CPU time over that under pgbench at the same rate, on as many "
    "connections as the service has. A database that has less to do takes more CPU time per "
    "operation.",
)
HOW_TO_READ = (
    "An operation is a send or a pop. The limit is pgbench with the same statements on as many "
    "connections as there are users, measured in the same blocks. Each trial begins with the same "
    "messages in the queues. CPU times are per operation. Where no number of threads or "
    "connections is given, it is the service's default of 20. An empty pop found no message, "
    "or only messages that others held."
)
CHECKED = (
    "Every operation of every trial was checked: no message may be popped twice (R2), popped "
    "without having been sent (R3), altered (R4) or popped from another queue (R5), and the "
    "messages left must be the sends minus the pops (R8)."
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
    "pgbench_database_wal_kib",
    "pgbench_at_rate_per_s",
    "pgbench_at_rate_database_cpu_ms",
)


def sentence(rows: Sequence[Row]) -> str:
    """For each service the throughput of its best technique, and how near the limit it is."""
    loads = _loads(rows)
    leads = {each.best.service.capitalize(): each for each in leader.of_messages(loads)}
    services = grouped(loads, wording.service_name)
    parts = [_best(name, of, leads.get(name)) for name, of in services.items()]
    return f"{'; '.join(parts)}." if parts else "No message load was measured."


def _loads(rows: Sequence[Row]) -> list[Row]:
    return [each for each in rows if messages.is_message(each) and each.value("throughput_per_s")]


def of_one_load(rows: Sequence[Row]) -> list[str]:
    """For each service the lead of its best technique, and what an operation costs the database;
    empty where the services have several loads."""
    loads = _loads(rows)
    leads = leader.of_messages(loads)
    return [*map(_ahead, leads), *(_costs(loads) if leads else ())]


def _best(service: str, rows: Sequence[Row], lead: Leader | None) -> str:
    """The best technique of a service in words. Messages in memory count only where no technique
    keeps them in the database."""
    kept = [row for row in rows if row.cell.technique != "memory"] or rows
    row = max(kept, key=lambda row: row.value("throughput_per_s") or 0.0)
    if lead:
        row = next(row for row in kept if row.cell == lead.best)
    cell, limit = row.cell, messages.share_of_limit(row)
    share = f", {ratio_text(limit)} of what the database can do" if limit.estimate else ""
    size = f"{cell.complexity} characters" if cell.complexity.isdigit() else cell.complexity
    load = ", ".join([size, *settings_of(cell), users_text(cell.users)])
    return (
        f"{service} does {readable(row.value('throughput_per_s'))} sends and pops "
        f"a second by {cell.technique} under {cell.strategy} ({load}){share}"
    )


def _ahead(lead: Leader) -> str:
    (following, found), best = lead.others[0], lead.best
    caveat = "" if lead.is_shown else ", which is not shown to be slower"
    return (
        f"{best.service.capitalize()}: {label(best, [following])} answers {ratio_text(found)} "
        f"times as many operations as {label(following, [best])}{caveat}"
    )


def _costs(loads: Sequence[Row]) -> list[str]:
    """What an operation costs the database over what it costs under pgbench at the same rate: the
    least and the most of each service's techniques."""
    parts = []
    for service, rows in grouped(loads, wording.service_name).items():
        found = (messages.database_cost(row, at_rate=True).estimate for row in rows)
        if known := [each for each in found if each]:
            ends = dict.fromkeys((readable(min(known)), readable(max(known))))
            parts.append(f"{' to '.join(ends)} ({service})")
    what = "times as much CPU time of the database as under pgbench at the same rate"
    return [f"An operation takes {' and '.join(parts)} {what}"] if parts else []


def sure(rows: Sequence[Row]) -> str:
    """How sure the shares of the limit are."""
    known = [messages.share_of_limit(row) for row in rows if messages.is_message(row)]
    shares = [each for each in known if each.estimate]
    if not shares:
        return "No limit was measured together with the services."
    return verdicts.certainty_text("throughput to the limit", shares)


def checked(rows: Sequence[Row]) -> str:
    """What the checks of all trials came to."""
    if broken := messages.violations(rows):
        return f"{CHECKED} Violated: {'; '.join(broken)}."
    return f"{CHECKED} No rule was violated."


def pool_sentences(rows: Sequence[Row]) -> list[str]:
    """How many threads are enough, for each load with several numbers of threads."""
    return [
        f"{name(each.cell)}: "
        f"{counted(each.enough.cell.pool_threads, 'thread', 'is', 'are')} enough: no other number "
        f"answers over 5 % more ({ratio_text(each.comparison)} of the best number, "
        f"{each.best.cell.pool_threads})"
        for each in messages.pools(rows)
    ]


def _threads(cell: Cell) -> str:
    """The number of threads, with the number of connections where that is given."""
    connections = f" ({counted(cell.connections, 'connection')})" if cell.connections else ""
    return f"{cell.pool_threads or ''}{connections}".strip()


def page(found: Findings, _its: Findings) -> doc.Section | None:
    """The sentences, the charts, a table a service, and where the time goes."""
    rows = found.rows
    known = tables(rows)
    return doc.section(
        "messages",
        "Messages in queues",
        sentence(rows),
        [*of_one_load(rows), *pool_sentences(rows), checked(rows)],
        *found.figures("messages"),
        *known,
        HOW_TO_READ,
        {each.heading: each.meaning for of in known for each in of.columns if each.meaning},
        pie_table(rows),
    )


def tables(rows: Sequence[Row]) -> list[doc.Table]:
    """A table per service, with a line per cell."""
    offered = [row for row in filter(messages.is_message, rows) if "not-offered" not in row.flags]
    limits = messages.limits_over(offered, _USUAL)
    over_usual = doc.Column[Row](
        f"/ {_USUAL}'s [95 %]",
        lambda row: ratio_text(limits.get(row.cell, Comparison())),
        meaning=f"The throughput of pgbench by this technique over its throughput by {_USUAL}: the "
        "cost of a technique without any service.",
    )
    at_rate = [row for row in offered if row.value("pgbench_at_rate_database_cpu_ms") is not None]
    columns: list[doc.Column[Row]] = [
        doc.Column("Technique", lambda row: doc.cell_link(row.cell, row.cell.technique)),
        doc.Column("Strategy", lambda row: row.cell.strategy),
        doc.Column(
            "Messages", lambda row: ", ".join([row.cell.complexity, *settings_of(row.cell)])
        ),
        doc.number("Users", lambda row: row.cell.users),
        doc.number("Threads", lambda row: _threads(row.cell)),
        doc.number("Instances", lambda row: row.cell.instances),
        doc.number("Operations/s", lambda row: row.value("throughput_per_s")),
        doc.Column("Of the limit [95 %]", lambda row: ratio_text(messages.share_of_limit(row))),
        doc.number("Service CPU ms", lambda row: row.value("cpu_ms_per_request")),
        doc.number("Database CPU ms", lambda row: row.value("database_cpu_ms_per_request")),
        doc.Column("/ pgbench's [95 %]", lambda row: ratio_text(messages.database_cost(row))),
        *([_AT_RATE] if at_rate else []),
        *(
            doc.Column[Row](heading, methodcaller("value", name), is_number=True, meaning=meaning)
            for name in messages.known_of_database(offered)
            for heading, meaning in [messages.DATABASE[name]]
        ),
        doc.number("Mean ms", lambda row: row.value("mean_ms")),
        doc.number("Limit/s", lambda row: row.value("pgbench_per_s")),
        *([over_usual] if limits else []),
        doc.number("Empty pops", lambda row: row.value("empty_pops")),
        doc.Column("Warnings and notes", doc.remarks),
    ]
    return doc.table_each("messages", columns, offered, wording.service_name)


def records(rows: Sequence[Row]) -> list[dict[str, object]]:
    """A record per cell, for programs; none where the run did not measure its database."""
    known = [row for row in rows if messages.is_message(row) and row.measured]
    measured = messages.known_of_database(known)
    return [_record(row, measured) for row in known] if measured else []


def _record(row: Row, measured: Sequence[str]) -> dict[str, object]:
    numbers = {metric: row.value(metric) for metric in (*_METRICS, *measured)}
    for ratio, found in (
        ("of_the_limit", messages.share_of_limit(row)),
        ("database_cpu_over_pgbench", messages.database_cost(row)),
        ("database_cpu_over_pgbench_at_rate", messages.database_cost(row, at_rate=True)),
    ):
        numbers |= wording.fields(ratio, found)
    return row.cell.model_dump() | wording.rounded_record(numbers)


def terminal(rows: Sequence[Row]) -> list[doc.Table]:
    """The tables with fewer columns: threads and instances only where cells differ in them."""
    known = tables(rows)
    more = doc.differing(known, 4, 5)
    return [each.only((0, 1, 2, 3, *more, 8, 9, 7, 6)) for each in known]


def pie_table(rows: Sequence[Row]) -> doc.Table:
    """Where the time of one user's requests goes, in milliseconds and percent."""

    def cell(pie: TimeBreakdown) -> doc.Link:
        of = pie.row.cell
        return doc.cell_link(of, f"{of.service} {of.strategy} {of.technique} {of.complexity}")

    columns: list[doc.Column[TimeBreakdown]] = [
        doc.Column("Cell", cell),
        doc.Column("Operation", lambda pie: pie.kind),
        doc.number("Mean ms", lambda pie: pie.whole_ms),
        *map(_stage, STAGES),
    ]
    caption = "Where the time of one user's requests goes"
    return doc.table(caption, columns, messages.time_breakdowns(rows))


def _stage(stage: str) -> doc.Column[TimeBreakdown]:
    return doc.number(f"{stage} %", lambda pie: f"{100 * pie.share(stage):.1f}")


VIEW = View(
    lambda found: found,
    page,
    lambda found: sentence(found.rows),
    lambda found: sure(found.rows),
    lambda found: pictures.charts(found.rows, found.definition),
    lambda found: terminal(found.rows),
    lambda run, found: {run.messages_csv: records(found.rows)},
    asks_for_best_technique=False,
)
