"""The data of the browser, as one document: runs with their cells, machines, and steps over runs.

A run's numbers are those of its `run.json`. The values of blocks are included, so that the page can
compare any two runs itself (`compare.js`): the results of all pairs would be too much to store.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import Any, TypeAlias

import altair as alt

from restbench.analyse import steps, warnings
from restbench.analyse.comparison import MARGIN, series
from restbench.analyse.measures import Row
from restbench.experiment.cell import Shape
from restbench.experiment.columns import HEADINGS
from restbench.experiment.records import BuiltCommit
from restbench.experiment.statistics import FEWEST_BLOCKS
from restbench.judge.compare import VERSIONS, more_is_better
from restbench.machine import machine
from restbench.machine.machine import Identity
from restbench.show import wording
from restbench.show.charts import theme
from restbench.store.exported import CellEntry, Estimate, ManifestEntry, RunExport

#: The metrics of every run. Those that only a driver measures (`extras`) follow them.
METRICS = ("throughput_per_s", "cpu_ms_per_request", "mean_ms", "p95_ms")
#: Significant digits of the document's numbers: no fewer than `run.json` has.
_SIGNIFICANT = 7
#: The series of one machine and experiment, by cell and framework. A series maps the numbers of the
#: runs that a line may join to the values of their blocks.
Family: TypeAlias = dict[tuple[int, str], dict[int, list[float]]]
#: Stands for the metric in the chart's definition; the page replaces it by the metric's name.
_TREND_METRIC = "(metric)"
_TREND_PX = 240


@dataclass(frozen=True)
class ListedRun:
    """A run as it lies in the folder of all runs."""

    folder: str
    run: RunExport
    rows: tuple[Row, ...]
    """A row for each cell, in the order of `run.cells`."""
    page: str | None = None
    """The path of its page, relative to the folder of all runs; None where it has no page."""
    copies: tuple[ListedRun, ...] = ()
    """The same run, kept under other names."""

    @property
    def identity(self) -> Identity:
        """The identity of the run's machine, with the median speed over the blocks."""
        probes = self.run.speeds
        speed = {name: median(each[name] for each in probes) for name in machine.SPEED if probes}
        return machine.identity(self.run.described | {"speed": speed})


@dataclass
class _Tables:
    """Data that several runs share: each is stored once, and runs refer to a cell by its number."""

    cells: list[dict[str, Any]] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)
    """The meaning of each kind of warning or note, by its name."""
    _numbers: dict[str, int] = field(default_factory=dict)

    def cell(self, row: Row, entry: CellEntry) -> int:
        """The number of a row's cell, which is added if it is new. Cells with the same id but
        different sizes are different cells."""
        shape = _shape(row)
        key = f"{entry.id} {shape}".strip()
        number = self._numbers.setdefault(key, len(self.cells))
        if number == len(self.cells):
            size = f"{row.cell.complexity} {shape}".strip()
            # From the row: the entry of an older run.json lacks factors that were added later.
            factors = row.cell.model_dump()
            self.cells.append({"key": key, "id": entry.id, "size": size, "factors": factors})
        return number


def document(found: Sequence[ListedRun], left_out: Sequence[str] = ()) -> dict[str, Any]:
    """The document of these runs, given in any order; `left_out` has a line on each run that cannot
    be read."""
    runs = sorted(found, key=lambda each: (each.run.manifest.started, each.folder))
    names, numbers = _machines(runs)
    tables = _Tables()
    extras = (name for each in runs for cell in each.run.cells for name in cell.extras)
    metrics = list(dict.fromkeys((*METRICS, *extras)))
    listed = [_run(each, on, metrics, tables) for each, on in zip(runs, numbers, strict=True)]
    return {
        "margin": MARGIN,
        "fewest_blocks": FEWEST_BLOCKS,
        "metrics": [
            {
                "name": name,
                "heading": HEADINGS.get(name) or name.replace("_", " "),
                "more_is_better": more_is_better(name),
            }
            for name in metrics
        ],
        "machines": names,
        "kinds": tables.kinds,
        "cells": tables.cells,
        "runs": listed,
        "steps": _steps_of(listed, metrics),
        "trend_chart": theme.spec(_trend_chart()),
        "left_out": list(left_out),
    }


def _machines(runs: Sequence[ListedRun]) -> tuple[list[str], list[int]]:
    """The machines' names, and the number of each run's machine. A run belongs to the first machine
    whose first run has the same identity by the rule of `compare`."""
    known: list[Identity] = []
    names: list[str] = []
    numbers = []
    for each in runs:
        own = each.identity
        same = [n for n, other in enumerate(known) if not machine.identity_differences(other, own)]
        if not same:
            label = machine.short(each.run.described)
            others = sum(name.startswith(label) for name in names)
            names.append(f"{label}, no. {others + 1}" if others else label)
            known.append(own)
        numbers.append(same[0] if same else len(known) - 1)
    return names, numbers


def _run(
    listed: ListedRun, machine_number: int, metrics: Sequence[str], tables: _Tables
) -> dict[str, Any]:
    run, manifest = listed.run, listed.run.manifest
    return {
        "name": listed.folder,
        "experiment": run.experiment.name,
        "profile": run.experiment.profile,
        "started": manifest.started,
        "minutes": manifest.minutes,
        "status": manifest.status,
        **_code(manifest),
        # The cells of `restbench ab` belong to these commits, not to the checkout that measured.
        "builds": {name: _code(each) for name, each in manifest.builds.items()},
        "machine": machine_number,
        "versions": {
            name: wording.plain(run.described[name]) for name in VERSIONS if name in run.described
        },
        "page": listed.page,
        "copies": [[each.folder, each.page] for each in listed.copies],
        "sentence": run.answer.sentence if run.answer else "",
        "claims": [each.verdict for each in run.claims],
        "cells": [
            _cell(run, row, each, tables)
            | {"values": [_metric(row, each, name) for name in metrics]}
            for row, each in zip(listed.rows, run.cells, strict=True)
        ],
    }


def _code(of: ManifestEntry | BuiltCommit) -> dict[str, Any]:
    return {"commit": of.git_commit[:12], "dirty": of.git_dirty}


def _cell(run: RunExport, row: Row, entry: CellEntry, tables: _Tables) -> dict[str, Any]:
    for kind in (*(each.kind for each in row.warnings), *row.flags):
        tables.kinds.setdefault(kind, warnings.explain(kind))
    is_attached = row.cell.service in run.manifest.attached
    return {
        "cell": tables.cell(row, entry),
        "framework": "attached" if is_attached else row.cell.framework,
        "warnings": [[each.kind, round(each.bias_percent, 1)] for each in row.warnings],
        "notes": list(row.flags),
        "measured": len(row.measured),
        "answers_nothing": any(each.throughput_per_s == 0 for each in row.measured),
    }


def _metric(row: Row, entry: CellEntry, metric: str) -> list[Any] | None:
    """Mean, both ends of its interval, and the values by block; None where there is none."""
    found: Estimate | None = getattr(entry, metric, None) or entry.extras.get(metric)
    if found is None:
        return None
    short = partial(wording.rounded, digits=_SIGNIFICANT)
    by_block = series(row, metric).values.values()
    return [*map(short, (found.value, found.low, found.high)), [*map(short, by_block)]]


def _shape(row: Row) -> str:
    """`30x20x20` (rows, inner, columns), `10 x R64` (lines, rules), or the parts of a mix."""
    if row.logs:
        return str(row.logs)
    parts = [f"{each.share:.0%} {each.name} {_product(each.shape)}" for each in row.mix]
    return ", ".join(parts) if row.shape is None else _product(row.shape)


def _product(shape: Shape) -> str:
    return f"{shape.rows}x{shape.inner}x{shape.columns}"


def _steps_of(runs: Sequence[Mapping[str, Any]], metrics: Sequence[str]) -> list[dict[str, Any]]:
    """Every step. `runs` are in order of time, as in the browser's document. The series of one
    metric, machine and experiment are tested together, without runs that have no interval."""
    found = []
    for number, metric in enumerate(metrics):
        for family in _families(runs, number):
            known = {key: course for key, course in family.items() if len(course) > 1}
            shifts = steps.find([list(course.values()) for course in known.values()])
            for ((cell, framework), course), its in zip(known.items(), shifts, strict=True):
                place = {"metric": metric, "cell": cell, "framework": framework}
                found += [place | _step(list(course), each) for each in its]
    return found


def _families(runs: Sequence[Mapping[str, Any]], metric: int) -> Iterable[Family]:
    families: dict[tuple[int, str], Family] = {}
    for number, run in enumerate(runs):
        family = families.setdefault((run["machine"], run["experiment"]), {})
        for cell in run["cells"]:
            values = cell["values"][metric][3] if cell["values"][metric] else []
            if len(values) >= FEWEST_BLOCKS and min(values) > 0:
                family.setdefault((cell["cell"], cell["framework"]), {})[number] = values
    return families.values()


def _step(runs: Sequence[int], found: steps.Step) -> dict[str, Any]:
    ratio = [found.ratio.estimate, found.ratio.low, found.ratio.high]
    numbers = [wording.rounded(each, 5) for each in ratio]
    return {"before": runs[found.at - 1], "after": runs[found.at], "ratio": numbers}


def _trend_chart() -> theme.Chart:
    """The trend chart without its data and description. A page puts them into the definition:
    `{...spec, data: {name: "trend", values: records}, description}`. There is a record per run, in
    order: `run`; `label`, unique, under the axis; `value`; `low` and `high`, null without an
    interval; `step`, the text of a step at this run, or empty; `segment`, the number of steps
    before the run; `level`, the mean of the runs between two steps. A hollow point has no interval,
    a dashed line is a step, a horizontal one the level."""
    colour, _ = theme.style(0)
    step_colour, _ = theme.style(1)
    data = alt.InlineData(values=[], name="trend")
    base = alt.Chart(data).encode(y=alt.Y("value:Q").title(_TREND_METRIC).scale(zero=False))
    at_step = base.transform_filter("datum.step != ''").encode(y=alt.value(0))
    hollow = alt.condition("isValid(datum.low)", alt.value(colour), alt.value(theme.PAPER))
    numbers = {"value": _TREND_METRIC, "low": "95 % from", "high": "to"}
    tips = [alt.Tooltip(f"{name}:Q", title=title, format=".4~g") for name, title in numbers.items()]
    levels = base.transform_filter("isValid(datum.level)").mark_line(stroke=step_colour)
    bars = base.transform_filter("isValid(datum.low)").mark_rule(stroke=colour)
    view = theme.layered(
        "",
        _TREND_PX,
        # The first layer has every run: the axis takes the order of the runs from it.
        base.mark_line(stroke=theme.SOFT, strokeWidth=1),
        levels.encode(y="level:Q", detail="segment:N"),
        at_step.mark_rule(stroke=step_colour, strokeDash=[4, 3]).encode(y2=alt.value("height")),
        at_step.mark_text(fontWeight="bold", align="left", dx=4, dy=6).encode(text="step:N"),
        bars.encode(y="low:Q", y2="high:Q"),
        base.mark_point(stroke=colour).encode(
            fill=hollow, tooltip=[*theme.tips(run="Run"), *tips, *theme.tips(step="Step")]
        ),
        x=alt.X("label:N").title(None).sort(None).axis(labelAngle=-40, labelOverlap=True),
    )
    return theme.Chart(name="trend", title="", caption="", description="", panels=(view,))
