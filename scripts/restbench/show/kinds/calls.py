"""The results of batches of calls: in words, as tables, as charts of speed-ups and of stages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter
from statistics import median

from restbench.analyse import calls
from restbench.analyse.calls import COLUMNS, work
from restbench.analyse.comparison import series
from restbench.analyse.measures import Row
from restbench.experiment.columns import readable
from restbench.failures import counted
from restbench.grouping import grouped
from restbench.judge import trust
from restbench.show import document as doc
from restbench.show import wording
from restbench.show.charts import course, lines, theme
from restbench.show.charts.lines import Line, Panel, Point
from restbench.show.findings import Findings, View

#: What the study says its optimised pipeline gains over its task pool, from five threads on, by
#: response time in milliseconds.
PUBLISHED = {1000: 1.1, 5000: 1.3, 10_000: 1.6}
_STUDY_THREADS, _STUDY = 5, "study"
_NOT_AT_ONCE = ("sequential", "document")
_TRANSPORTS = {"rest": "REST", "soap": "SOAP", "zeep": "SOAP with zeep"}
_OF_STUDY = (
    "Symbols of the study: the gain that it reports for its optimised pipeline over a task pool, "
    "times the limit of the task pool. "
)
#: The stages of a call, each with the number of its colour.
_STAGES = {"S": 5, "C": 4, "D": 2, "P": 6}
_SHOWN = tuple(name for name in COLUMNS if name != "made")
HOW_TO_READ = (
    "Every number is the median over the blocks. Speed-up is the time of the same calls one after "
    "the other divided by the time of the batch. From 100 ms of response time on, only ten calls "
    "are made one after the other, and their time is scaled up: all calls take equally long. The "
    "limit is the least time that any client with that many threads needs. It is calculated from "
    "the stages (S, C, D, P) and the CPU time of a single call. A measurement that is below it by "
    "more than 3 % has the note limit-mismeasured. Nearness is the limit divided by the time. A "
    "thread that waits needs no core."
)
#: What of the study's text is wrong, ambiguous or missing.
FAULTS = [
    "The model and the figure disagree. If calls only wait, a client that holds no thread is 20 "
    "times as fast as a pool of 5 threads, and 13 times with 8, for any response time. The figure "
    "says 1.1 to 1.6, growing with it.",
    "The model assumes a core for each call at once, but a thread that waits needs none. A larger "
    "pool was not compared.",
    "The threads of the Send and Response servlets are not counted: equal numbers of threads are "
    "not equal resources.",
    "The plain pipeline is said to beat the pool. Its blocking thread makes one call at a time.",
    "The four hardware threads are two cores with hyper-threading. A speed-up of 3.4 of 4 needs "
    "waiting, not computing.",
    "Not reported: the form of the 4000 data, the seconds of the reference, the threads of each "
    "stage, the bounds of the queues, repetitions and spread, what a failed call does, and whether "
    "results keep an order.",
    "The pseudocode of the pipeline has no loop and no end. Calls by mail were not measured.",
]


def page(found: Findings, rows: Sequence[Row]) -> doc.Section | None:
    """Speed-up as charts, and a table per client, transport and response time."""
    gains = study(rows)
    faults = doc.section("calls-faults", "Faults of the study", FAULTS, folded=True)
    return doc.section(
        "calls",
        "Many calls of a service, from the client's side",
        *found.figures("calls"),
        gains,
        faults if gains.rows else None,
        *tables(rows),
        HOW_TO_READ,
        doc.section("calls-columns", "What the columns mean", dict(COLUMNS.values())),
    )


def sentence(rows: Sequence[Row]) -> str:
    """How much concurrent calls gain at most, and how near they come to the least possible time."""
    at_once = [row for row in rows if work(row).strategy not in _NOT_AT_ONCE]
    times = [(1 / near, row) for row in at_once if (near := calls.nearness(row))]
    if not times:
        return "No batch of concurrent calls was measured."
    gains = [(median(of), row) for _, row in times if (of := calls.speed_ups(row, rows))]
    parts = []
    if gains:
        gain, best = max(gains, key=itemgetter(0))
        parts.append(
            f"Concurrent calls are up to {readable(gain)} times as fast as calls one after the "
            f"other ({_named(best)})."
        )
    slowest, worst = max(times, key=itemgetter(0))
    typical = median(each for each, _ in times)
    parts.append(
        f"Half of the batches take at most {readable(typical)} times the least possible time; the "
        f"slowest takes {readable(slowest)} times ({_named(worst)})."
    )
    return " ".join(parts)


def _named(row: Row) -> str:
    of, threads = work(row), row.cell.users
    waits = f"waits {of.delay_ms} ms" if of.delay_ms else "does not wait"
    return (
        f"{of.client.capitalize()} {of.strategy} over {_TRANSPORTS[of.transport]}, "
        f"{counted(threads, 'thread')}, service {waits}"
    )


def sure(rows: Sequence[Row]) -> str:
    """How sure the numbers are."""
    counts = [len(row.measured) for row in rows]
    if max(counts, default=0) < 2:
        return "Each number comes from one block, so it has no interval and no verdict."
    return f"Each number is a median over {trust.blocks_of(counts)}; ratios are paired by block."


def tables(rows: Sequence[Row]) -> list[doc.Table]:
    """A table per client, transport, response time and size."""

    def middle(row: Row, column: str) -> float | None:
        values = calls.speed_ups(row, rows, column)
        return median(values) if values else None

    columns: list[doc.Column[Row]] = [
        doc.Column("Strategy", lambda row: doc.cell_link(row.cell, work(row).strategy)),
        doc.number("Threads", lambda row: row.cell.users),
        doc.number("Speed-up", lambda row: middle(row, "elapsed_s")),
        doc.number("Its limit", lambda row: middle(row, "limit_s")),
        doc.number("Nearness", calls.nearness),
        *map(_median, _SHOWN),
        doc.number("Blocks", lambda row: len(row.measured)),
        doc.Column("Warnings and notes", doc.remarks),
    ]
    groups = grouped(calls.ranked(rows), _title)
    return [doc.table(title, columns, group) for title, group in groups.items()]


def terminal(rows: Sequence[Row]) -> list[doc.Table]:
    """The same tables, only with strategy, threads, speed-up, limit, nearness and seconds."""
    return [each.only(range(6)) for each in tables(rows)]


def study(rows: Sequence[Row]) -> doc.Table:
    """What the optimised pipeline gains over a task pool: published, by the limits, and here."""
    found = {(work(row), row.cell.users): row for row in rows}
    pairs = [
        (row, other)
        for row in calls.ranked(rows)
        if work(row).strategy == "task-pool" and work(row).size is None
        if work(row).delay_ms >= min(PUBLISHED) and row.cell.users >= _STUDY_THREADS
        if (other := found.get((replace(work(row), strategy="pipeline-async"), row.cell.users)))
    ]
    columns: list[doc.Column[tuple[Row, Row]]] = [
        doc.Column("Client", lambda pair: " ".join(work(pair[0]).program)),
        doc.number("Response time ms", lambda pair: work(pair[0]).delay_ms),
        doc.number("Threads", lambda pair: pair[0].cell.users),
        doc.number("The study", lambda pair: PUBLISHED.get(work(pair[0]).delay_ms)),
        doc.number("By the limits", lambda pair: calls.gain(*pair, "limit_s")),
        doc.number("Here", lambda pair: calls.gain(*pair)),
    ]
    return doc.table("Time of the task pool / time of pipeline-async", columns, pairs)


def _median(name: str) -> doc.Column[Row]:
    return doc.number(COLUMNS[name][0], lambda row: series(row, name).median)


def _title(row: Row) -> str:
    of = work(row)
    kind = "documents of {} rows" if of.strategy == "document" else "batches of {}"
    size = f", {kind.format(of.size)}" if of.size else ""
    return f"{of.client.capitalize()} client, {of.transport}, {of.delay_ms} ms{size}"


def charts(rows: Sequence[Row]) -> list[theme.Chart | None]:
    """Speed-up over threads, a chart per client and transport, a panel per response time; and where
    the time of a call goes."""
    programs = dict.fromkeys(work(row).program for row in calls.ranked(rows))
    return [*(_chart(program, rows) for program in programs), _stages(rows)]


def _stages(rows: Sequence[Row]) -> theme.Chart | None:
    """The stages of calls one after the other without a delay, REST next to SOAP; None where only
    one of them was measured."""
    in_turn = [
        row
        for row in calls.ranked(rows)
        if row.measured and (work(row).strategy, work(row).delay_ms) == ("sequential", 0)
    ]
    if len(in_turn) < 2:
        return None
    return course.bars(
        "calls-stages",
        "Where the time of a call goes",
        "Calls one after the other to a service that does not wait, medians over the blocks. S, D "
        "and P are times in the client; C is the time on the network and in the service.",
        {"One call at a time": list(map(_bar, in_turn))},
        _STAGES,
    )


def _bar(row: Row) -> course.Bar:
    ms = {stage: series(row, f"{stage.lower()}_ms").median or 0.0 for stage in _STAGES}
    name = " ".join(work(row).program).capitalize()
    return {**ms, "bar": f"{name}: {readable(sum(ms.values()))} ms", "cell": row.cell.id}


def _chart(program: tuple[str, str], rows: Sequence[Row]) -> theme.Chart | None:
    shown = [
        row
        for row in calls.ranked(rows)
        if work(row).program == program and work(row).size is None and row.measured
        if work(row).strategy not in _NOT_AT_ONCE
    ]
    client, transport = program
    panels = grouped(shown, lambda row: work(row).delay_ms)
    strategies = list(dict.fromkeys(work(row).strategy for of in panels.values() for row in of))
    return lines.chart(
        f"calls-{client}-{transport}",
        f"Speed-up over sequential calls: {client.capitalize()} client, {transport}",
        "Dashed lines: the best possible speed-up of the strategy with the same colour. "
        + _OF_STUDY * (not PUBLISHED.keys().isdisjoint(panels))
        + "Geometric mean over blocks with its 95 % interval, where there are several blocks.",
        [_panel(delay, group, rows, strategies) for delay, group in panels.items()],
        "Client threads",
        is_log=True,
    )


def _panel(delay: int, group: Sequence[Row], rows: Sequence[Row], strategies: list[str]) -> Panel:
    found = []
    for strategy, own in grouped(group, lambda row: work(row).strategy).items():
        style = strategies.index(strategy)
        for is_limit, column in ((False, "elapsed_s"), (True, "limit_s")):
            points = (_point(row, calls.speed_ups(row, rows, column)) for row in own)
            found.append(Line(strategy, style, tuple(points), is_limit=is_limit))
    if gain := PUBLISHED.get(delay):
        mark = Point(
            _STUDY_THREADS, _STUDY_THREADS * gain, name=f"study: +{100 * (gain - 1):.0f} %"
        )
        found.append(Line(_STUDY, len(theme.PALETTE) - 1, (mark,)))
    return Panel(f"{delay} ms", "Speed-up", tuple(found), has_ticks=True)


def _point(row: Row, values: Sequence[float]) -> Point:
    doubtful, note = bool(row.warnings), wording.remarks(row)
    return lines.mean_point(row.cell.users, values, doubtful=doubtful, cell=row.cell.id, note=note)


VIEW = View(lambda found: found.rows, page, sentence, sure, charts, terminal)
