"""The limits of an open load in words, as tables, also for programs, and as charts, all made from
`run.json`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TypeVar

from restbench.analyse import exported, limits, warnings
from restbench.analyse.limits import LATE_MS, NOTES, PERCENTILES, Limit, latency_ms
from restbench.experiment.open_load import Objective, OpenLoad
from restbench.experiment.statistics import FEWEST_BLOCKS
from restbench.grouping import grouped
from restbench.judge import study, trust
from restbench.show import document as doc
from restbench.show import wording
from restbench.show.charts import forest, lines, theme
from restbench.show.charts.lines import Line, Point
from restbench.show.findings import Findings, Records, View
from restbench.store.exported import RunExport, StepEntry
from restbench.store.store import Run

T = TypeVar("T")
#: Columns that only the page shows: the terminal is narrow.
_LESS_SHOWN = ("users", "steps", "latency_ms", "failed_unsent", "failed_late")
HOW_TO_READ = (
    "Requests are sent at the moments of a fixed schedule, whatever the service does. Latency "
    "counts from the intended moment to the end of the answer. So it includes the time in which a "
    "request waits for a free connection, or for the load generator itself. Percentiles are over "
    "all arrivals of the window; an arrival without a correct answer counts as slower than any "
    "other. In each block a search finds the highest rate at which each technique meets the "
    "objective. The techniques take their steps alternately, in random order. The limit of a "
    "technique is the middle of the bracket that its search ends with. 'Limit' is the geometric "
    "mean of these limits over blocks, each on fresh services; 'from' and 'to' are its 95 % "
    "interval. In every block the objective was met at the rate 'Met at', and was not met at the "
    "rate 'Not met at'. This holds for windows of this length: a service that falls behind slowly "
    "shows it only in longer ones."
)


def of(found: RunExport) -> list[Limit]:
    """The limits of a run's cells, in the order of the experiment's file."""
    rows = exported.rows_of(found)
    said = {
        row.cell.id: (
            tuple(each for each in row.flags if each != "errors"),
            next((each.reason for each in row.measurements if each.reason), None),
        )
        for row in rows
    }
    return limits.limits([row.cell for row in rows], found.steps, said)


def sure(found: Sequence[Limit]) -> str:
    """How sure the limits are."""
    counts = [len(each.limits_per_s) for each in found if each.limits_per_s]
    if not counts:
        return "No block found a limit, so there is no interval."
    if max(counts) < FEWEST_BLOCKS:
        few = "One block gives" if max(counts) < 2 else "Two blocks give"
        return f"{few} no interval: this is only an order, not a verdict."
    some = f" where there are {FEWEST_BLOCKS} or more" * (min(counts) < FEWEST_BLOCKS)
    return (
        f"Each rate is the geometric mean over {trust.blocks_of(counts)}, with its 95 % interval "
        f"in brackets{some}."
    )


def sentence(found: Sequence[Limit], load: OpenLoad) -> str:
    """`Requests per second with p95 <= 200 ms: at low java serial 940 [900, 980], then ...`"""
    known = sorted(
        (each for each in found if each.limit_per_s), key=lambda each: -(each.limit_per_s or 0.0)
    )
    groups = grouped(known, lambda each: each.cell.complexity)
    parts = [f"at {level} {', then '.join(map(_said, group))}" for level, group in groups.items()]
    unlimited = [each for each in found if not each.limit_per_s and any(w.met for w in each.walks)]
    names = trust.named([f"{each.cell.service} {each.cell.strategy}" for each in unlimited])
    if not parts:
        return f"{names or 'No technique'} met {load.objective} at any rate that was offered."
    more = f" {names} met it at any rate that was offered." if names else ""
    return f"Requests per second with {load.objective}: {'; '.join(parts)}.{more}"


def _said(each: Limit) -> str:
    rate = wording.with_ends(each.limit_per_s, *_ends(each))
    return f"{each.cell.service} {each.cell.strategy} {rate}"


def page(found: Findings, known: Sequence[Limit], load: OpenLoad) -> doc.Section | None:
    """The table of limits, the chart of steps, and, folded, every step."""
    reasons = {each.cell.id: each.reason for each in known if each.reason}
    notes = [note for each in known for note in each.notes(load.rates.resolution)]
    return doc.section(
        "limits",
        f"The highest rate with {load.objective}",
        "The objective also demands that there are no errors, and that at most "
        f"{100 * load.objective.unsent_max_share:.1f} % of the arrivals are unsent. "
        f"Arrivals: {load.arrivals}.",
        *found.figures("open-load"),
        doc.table("The highest rate of each technique", list(_columns(load).values()), known),
        {note: NOTES.get(note) or warnings.explain(note) for note in notes},
        reasons,
        HOW_TO_READ,
        doc.section("steps", "Every step", *map(_steps, known), folded=True),
    )


def terminal(known: Sequence[Limit], load: OpenLoad) -> list[doc.Table]:
    """The table of limits without the columns that only the page shows."""
    shown = [each for name, each in _columns(load).items() if name not in _LESS_SHOWN]
    caption = f"Highest rate with {load.objective} from the intended moment"
    return [doc.table(caption, shown, known)]


def _steps(limit: Limit) -> doc.Table:
    caption = f"{study.technique(limit.cell)}, {limit.cell.complexity}"
    tried = [each for walk in limit.walks for each in walk.steps]
    return doc.table(caption, list(_STEP.values()), tried)


def records(run: Run, found: Sequence[Limit], load: OpenLoad) -> Mapping[Path, Records]:
    """The limits and every step, for programs."""
    columns = _columns(load)
    return {
        run.open_load_csv: [each.cell.model_dump() | _record(columns, each) for each in found],
        run.open_load_steps_csv: [
            each.cell.model_dump() | {"step": number} | _record(_STEP, tried)
            for each in found
            for walk in each.walks
            for number, tried in enumerate(walk.steps, start=1)
        ],
    }


def _record(columns: Mapping[str, doc.Column[T]], of: T) -> dict[str, object]:
    return {name: column.value(of) for name, column in columns.items()}


def _columns(load: OpenLoad) -> dict[str, doc.Column[Limit]]:
    """The columns of a limit, by their names in the table for programs."""
    percent, resolution = load.objective.percentile, load.rates.resolution
    return {
        "technique": doc.Column("Technique", lambda of: study.technique(of.cell)),
        "complexity": doc.Column("Complexity", lambda of: of.cell.complexity),
        "users": doc.number("In flight at most", lambda of: of.cell.users),
        "limit_per_s": doc.number("Limit /s", lambda of: wording.rounded(of.limit_per_s)),
        "limit_low_per_s": doc.number("from", lambda of: wording.rounded(_ends(of)[0])),
        "limit_high_per_s": doc.number("to", lambda of: wording.rounded(_ends(of)[1])),
        "blocks": doc.number("Blocks", lambda of: len(of.limits_per_s)),
        "met_per_s": doc.number("Met at /s", lambda of: of.met_per_s),
        "failed_per_s": doc.number("Not met at /s", lambda of: of.failed_per_s),
        "latency_ms": doc.number("Latency ms", lambda of: of.met_latency_ms(percent)),
        "steps": doc.number("Steps", lambda of: sum(len(each.steps) for each in of.walks)),
        "failed_why": doc.Column("Why not met", _why),
        "failed_unsent": doc.number("Unsent there", lambda of: of.failed and of.failed.unsent),
        "failed_late": doc.number("Late there", lambda of: of.failed and of.failed.late),
        "notes": doc.Column("Notes", lambda of: " ".join(of.notes(resolution))),
    }


def _ends(limit: Limit) -> tuple[float, float] | tuple[None, None]:
    return (limit.interval.low, limit.interval.high) if limit.interval else (None, None)


def _why(limit: Limit) -> str:
    return "; ".join(limit.failed.reasons) if limit.failed else ""


#: The columns of a step, by their names in the table for programs.
_STEP: dict[str, doc.Column[StepEntry]] = {
    "block": doc.number("Block", attrgetter("block")),
    "rate_per_s": doc.number("Offered /s", attrgetter("rate_per_s")),
    "achieved_per_s": doc.number("Answered /s", attrgetter("achieved_per_s")),
    "arrivals": doc.number("Arrivals", attrgetter("arrivals")),
    "unsent": doc.number("Unsent", attrgetter("unsent")),
    "late": doc.number(f"Sent over {LATE_MS} ms late", attrgetter("late")),
    "lateness_p95_ms": doc.number("Lateness p95 ms", attrgetter("lateness_p95_ms")),
    "errors": doc.number("Errors", attrgetter("errors")),
    **{
        f"p{percent}_ms": doc.number(f"p{percent} ms", partial(latency_ms, percent=percent))
        for percent in PERCENTILES
    },
    "sent_p95_ms": doc.number("p95 ms from sending", attrgetter("sent_p95_ms")),
    "load_cpu_pct": doc.number("Load CPU %", attrgetter("load_cpu_pct")),
    "verdict": doc.Column("Objective", lambda step: "; ".join(step.reasons) or "met"),
}


def limits_chart(found: Sequence[Limit], objective: Objective) -> theme.Chart | None:
    """The highest rate at which each technique meets the objective: a panel per complexity."""
    known = (each for each in found if each.limit_per_s is not None)
    panels = grouped(known, lambda each: each.cell.complexity)
    return forest.chart(
        "open-load-limits",
        "The highest rate that meets the objective",
        f"Objective: {objective}. Geometric mean over blocks with its 95 % interval. A hollow "
        "symbol: too few blocks for an interval.",
        forest.panels(panels, "Requests per second", _entry, reference=None),
        _styles(found),
    )


def _entry(each: Limit) -> forest.Entry:
    interval, name = each.interval, study.technique(each.cell)
    return forest.Entry(
        name,
        each.limit_per_s,
        (interval.low, interval.high) if interval else None,
        name,
        is_sure=interval is not None,
        cell=each.cell.id,
        note=_why(each),
    )


def steps_chart(found: Sequence[Limit], objective: Objective) -> theme.Chart | None:
    """A panel per complexity, a line per technique, a point per step; None without a point."""
    panels: dict[str, list[Line]] = {}
    styles = _styles(found)
    for each in found:
        if points := _points(each, objective.percentile):
            name = study.technique(each.cell)
            line = Line(name, styles[name], points)
            panels.setdefault(each.cell.complexity, []).append(line)
    return lines.chart(
        "open-load",
        "Latency from the intended moment, against the rate of arrivals",
        f"Open load. Each symbol is one step: the percentile of the objective ({objective}) over "
        "all its arrivals. A hollow symbol: the objective was not met. Do not compare the "
        "height of points beyond the limit: it depends on how long the window was.",
        [
            lines.Panel(name, "Latency (open load), ms", tuple(each))
            for name, each in panels.items()
        ],
        "Requests offered per second",
        is_log=True,
    )


def _styles(found: Sequence[Limit]) -> dict[str, int]:
    groups = grouped((each.cell for each in found), lambda cell: cell.complexity)
    return theme.technique_styles(groups.values())


def _points(limit: Limit, percent: int) -> tuple[Point, ...]:
    """A step whose percentile falls on requests without an answer has no point."""
    every = [step for walk in limit.walks for step in walk.steps]
    name = study.technique(limit.cell)
    return tuple(
        Point(
            x=round(each.rate_per_s),
            y=reached_ms,
            doubtful=not each.met,
            cell=limit.cell.id,
            name=f"{name}, {each.rate_per_s:g}/s",
            note="; ".join(each.reasons),
        )
        for each in sorted(every, key=lambda each: each.rate_per_s)
        if (reached_ms := latency_ms(each, percent)) is not None and math.isfinite(reached_ms)
    )


VIEW = View(
    lambda found: (of(found.run), found.definition.table(OpenLoad)),
    lambda found, its: page(found, *its),
    lambda its: sentence(*its),
    lambda its: sure(its[0]),
    lambda its: (limits_chart(its[0], its[1].objective), steps_chart(its[0], its[1].objective)),
    lambda its: terminal(*its),
    lambda run, its: records(run, *its),
    # By throughput the best would be the technique to which the search happened to offer more.
    asks_for_best_technique=False,
)
