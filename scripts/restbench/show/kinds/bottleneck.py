"""What limits a closed load, in words, as a table, and as charts of measured next to predicted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from restbench.analyse import tiers
from restbench.analyse.bottleneck import knee
from restbench.analyse.measures import Row
from restbench.analyse.tiers import DELAY, Family, Level
from restbench.experiment.cell import Cell
from restbench.experiment.columns import readable
from restbench.grouping import grouped
from restbench.judge import study
from restbench.show import document as doc
from restbench.show import wording
from restbench.show.charts import lines, theme
from restbench.show.charts.lines import Line, Panel, Point
from restbench.show.findings import Findings, View
from restbench.store.exported import RunExport

#: The prefix of the names of these charts.
NAME = "bottleneck"
#: Up to this many sentences stand before the charts; more are folded.
_FEW = 12
_BY_LAW = (
    " Where a block has too few answers for a mean, the time is users / throughput (Little's law)."
)
HOW_TO_READ = (
    "Service, client and database ms: CPU time per correct answer. All tiers that share cores are "
    "one station. CPU %: the utilisation of all cores, as the machine counts it. By law %: the "
    "same, calculated from the CPU times (U = X D/m); a gap of more than "
    f"{100 * tiers.UTILISATION_TOLERANCE:.0f} points is noted. "
    "Would wait %: if requests arrived at random at that rate, the share of them that would find "
    "all cores of the limiting station busy (Erlang's C). "
    "Predicted: the exact solution of a closed network (mean value analysis) with the demands at "
    "the fewest users. What one user waits beyond its CPU time is a delay, for which no request "
    "queues. At most, and at least: the bounds of throughput and response time with the same "
    "demands, whatever the scheduling. "
    "By station ms: the predicted time at each station, waiting and being served. "
    f"Where the prediction is off by more than {100 * tiers.MODEL_TOLERANCE:.0f} %, the limit is "
    "not a queue for a core: it may be locks, a single permit, or commits that share a flush of "
    "the log."
)


def families(run: RunExport, rows: Sequence[Row]) -> list[Family]:
    """The families of those cells of a run whose tiers were observed, under a closed load."""
    at_rate = {each.cell for each in run.traces if each.rate_per_s}
    rows = [row for row in rows if row.cell.id not in at_rate]
    facts = run.machine.model_dump()
    allowed = facts.get("cores_allowed") or range(run.machine.cores_online or 1)
    load = facts.get("load_cores", allowed)
    return tiers.families(rows, tuple(allowed), 0 if len(load) == len(allowed) else len(load))


def summary(known: Sequence[Family]) -> str:
    """For how many techniques a station of the model is the limit; empty without techniques."""
    if not known:
        return ""
    limited = [each for each in known if not each.has_idle_cores]
    text = f"A core limits {len(limited) or 'none'} of {len(known)} techniques"
    if with_others := [each for each in limited if each.busy < tiers.SATURATED]:
        text += f", {len(with_others)} of them together with CPU work of no tier"
    if len(limited) == len(known):
        return f"{text}."
    others = "in the others" if limited else "by the CPU times of their answers"
    return (
        f"{text}; {others} no core is busy {100 * tiers.SATURATED:.0f} % of the time, so the "
        "limit is not a station of this model."
    )


def sentence(family: Family) -> str:
    """`java serial, low: the CPU would saturate first, with 0.0551 of the 0.0551 ms …`"""
    limiting, best, demands = family.limiting, family.best, family.levels[0].demands
    whole_ms = sum(each.demand for each in family.stations)
    parts = ", ".join(f"{name} {readable(value)}" for name, value in demands.parts.items())
    text = (
        f"{name_of(family)}: {limiting.name} would saturate first, with "
        f"{readable(limiting.demand)} of the {readable(whole_ms)} ms of an operation, of "
        f"which {parts}"
    )
    text += (
        f". One more core would raise throughput by at most {100 * family.gain_of_a_server:.0f} %; "
        f"users wait for each other above {knee(family.stations):.1f} users"
    )
    at_best = (
        f". At {readable(best.per_s)}/s that station is busy {_percent(family.busy)} % of the time"
    )
    if family.has_idle_cores:
        text += f"{at_best}, so the limit is not a station of this model"
    elif family.busy < tiers.SATURATED:
        text += (
            f"{at_best} with this work, and all cores are busy {_percent(best.utilisation)} %: the "
            "rest is CPU work of no tier, which takes capacity from the tiers"
        )
    return f"{text}."


def name_of(family: Family) -> str:
    """Such as `java serial, low`."""
    return f"{_named(family.cell)}, {family.cell.complexity}"


def _named(cell: Cell) -> str:
    """`java serial @core0`: without the study's letter, which a terminal has no legend of."""
    letter = "" if cell.key == cell.strategy else f"{cell.key} "
    return f"{cell.service} {study.technique(cell).removeprefix(letter)}"


def page(found: Findings, known: Sequence[Family]) -> doc.Section | None:
    """Each technique in words, the charts, and a line per cell."""
    said = list(map(sentence, known))
    folded = doc.section("bottleneck-words", "Each technique", said, folded=True)
    return doc.section(
        "bottleneck",
        "What is the bottleneck?",
        summary(known),
        said if len(known) <= _FEW else folded,
        *found.figures(NAME),
        table_of(known),
        HOW_TO_READ,
    )


def terminal(known: Sequence[Family]) -> doc.Table:
    """The table without the CPU times."""
    return table_of(known).only((0, 1, 2, 6, 9, 10, 12, 13, 14))


def table_of(known: Sequence[Family]) -> doc.Table:
    """A table with a line per cell."""
    levels = [(family, level) for family in known for level in family.levels]
    return doc.table("Measured and predicted", _COLUMNS, levels)


def _notes(of: tuple[Family, Level]) -> doc.Field:
    """The notes of a level. The first level of a family also has the delay, which one user waits
    beyond the CPU times."""
    family, level = of
    delay = next((each.demand for each in family.stations if each.name == DELAY), None)
    is_told = delay and level is family.levels[0]
    said = [f"{DELAY} {readable(delay)} ms"] if is_told else []
    return doc.warning("; ".join((*said, *level.notes)), level.notes)


def _bound_per_s(of: tuple[Family, Level]) -> float:
    return of[0].bound_per_s(of[1].row.cell.users)


def _by_station(of: tuple[Family, Level]) -> str:
    stations, found = of[0].stations, of[1].predicted.residence
    parts = [f"{each.name} {readable(ms)}" for each, ms in zip(stations, found, strict=True)]
    return ", ".join(parts) if len(parts) > 1 else ""


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f}"


_COLUMNS: Sequence[doc.Column[tuple[Family, Level]]] = (
    doc.Column("Technique", lambda of: doc.cell_link(of[1].row.cell, _named(of[1].row.cell))),
    doc.Column("Size", lambda of: of[1].row.cell.complexity),
    doc.number("Users", lambda of: of[1].row.cell.users),
    doc.number("Service ms", lambda of: of[1].demands.service),
    doc.number("Client ms", lambda of: of[1].demands.client),
    doc.number("Database ms", lambda of: of[1].demands.database),
    doc.number("CPU %", lambda of: _percent(of[1].utilisation)),
    doc.number("By law %", lambda of: _percent(of[1].utilisation_by_law)),
    doc.number("Would wait %", lambda of: _percent(of[1].waits)),
    doc.number("Requests/s", lambda of: of[1].per_s),
    doc.number("Predicted", lambda of: of[1].predicted_per_s),
    doc.number("At most", _bound_per_s),
    doc.number("Off %", lambda of: f"{100 * of[1].off:+.0f}"),
    doc.number("Response ms", lambda of: of[1].response_ms),
    doc.number("Predicted ms", lambda of: of[1].predicted.response),
    doc.number("At least ms", lambda of: 1000 * of[1].row.cell.users / _bound_per_s(of)),
    doc.Column("By station ms", _by_station),
    doc.Column("Notes", _notes),
)


def charts(known: Sequence[Family]) -> list[theme.Chart | None]:
    """Throughput and response time against users, measured, and dashed predicted: a panel per size,
    a line per technique. Families with one number of users are left out."""
    several = (each for each in known if len(each.levels) > 1)
    panels = grouped(several, lambda family: wording.panel_name(family.cell))
    styles = theme.technique_styles([each.cell for each in of] for of in panels.values())
    caption = (
        "Solid lines: measured, with 95 % intervals over blocks. A hollow symbol: the prediction "
        f"is off by more than {100 * tiers.MODEL_TOLERANCE:.0f} %. Dashed lines: predicted from "
        "the CPU times at the fewest users."
    )
    levels = [level for of in panels.values() for family in of for level in family.levels]
    by_law = any(level.row.value("mean_ms") is None for level in levels)
    return [
        lines.chart(
            f"{NAME}-{metric}",
            f"{title}: measured, and predicted by a queueing network",
            caption + _BY_LAW * (by_law and metric == "mean_ms"),
            [_panel(name, label, of, metric, styles) for name, of in panels.items()],
            "Users",
            is_log=True,
        )
        for metric, title, label in (
            ("throughput_per_s", "Throughput", "Requests per second"),
            ("mean_ms", "Response time", "Mean response time, ms"),
        )
    ]


def _panel(
    name: str, y_label: str, of: Sequence[Family], metric: str, styles: Mapping[str, int]
) -> Panel:
    found = []
    for family in of:
        label = study.technique(family.cell)
        style = styles[label]
        measured = tuple(_point(each, metric) for each in family.levels)
        is_rate = metric == "throughput_per_s"
        predicted = tuple(
            Point(each.users, 1000 * each.throughput if is_rate else each.response)
            for each in family.course()
        )
        found += [Line(label, style, measured), Line(label, style, predicted, is_limit=True)]
    return Panel(name, y_label, tuple(found), has_ticks=True)


def _point(level: Level, metric: str) -> Point:
    return replace(
        lines.measured(level.row, metric, level.row.cell.users),
        y=level.per_s if metric == "throughput_per_s" else level.response_ms,
        doubtful=abs(level.off) > tiers.MODEL_TOLERANCE,
        note="; ".join(level.notes),
    )


VIEW = View(lambda found: families(found.run, found.rows), page, charts=charts, note=summary)
