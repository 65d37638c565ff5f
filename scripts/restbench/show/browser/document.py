"""What the browser shows, as one document: runs with their cells, machines, and steps over runs.

A run's numbers are those of its `run.json`; values of blocks are with them, so that the page can
compare any two runs (`compare.js`), which for all pairs would be too much to write down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import Any

from restbench.analyse import warnings
from restbench.analyse.comparison import MARGIN, series
from restbench.analyse.measures import Row
from restbench.experiment.cell import Cell, Shape
from restbench.experiment.columns import HEADINGS
from restbench.experiment.records import BuiltCommit
from restbench.judge.compare import VERSIONS, more_is_better
from restbench.machine import machine
from restbench.machine.machine import Identity
from restbench.show import wording
from restbench.show.browser import trends
from restbench.show.charts import theme
from restbench.store.exported import CellEntry, Estimate, ManifestEntry, RunExport

#: Of every run; what only a driver measures (`extras`) follows them.
METRICS = ("throughput_per_s", "cpu_ms_per_request", "mean_ms", "p95_ms")
#: Stands in the trend's definition where the page puts the metric's name.
_METRIC = "(metric)"
#: Significant digits: as many as `run.json` has.
_SIGNIFICANT = 7


@dataclass(frozen=True)
class ListedRun:
    """A run as it lies in the folder of all runs."""

    folder: str
    run: RunExport
    rows: tuple[Row, ...]
    """Its cells, in the same order."""
    page: str | None = None
    """Relative to the folder of all runs; None where it has none."""
    copies: tuple[ListedRun, ...] = ()
    """The same run, kept under other names."""

    @property
    def identity(self) -> Identity:
        """Of its machine; its speed is the median over the blocks."""
        probes = self.run.speeds
        speed = {name: median(each[name] for each in probes) for name in machine.SPEED if probes}
        return machine.identity(self.run.described | {"speed": speed})


@dataclass
class _Tables:
    """What several runs have in common, each once and known by its number."""

    cells: list[dict[str, Any]] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)
    """What a warning or note means, by its name."""
    _numbers: dict[str, int] = field(default_factory=dict)

    def cell(self, row: Row, entry: CellEntry) -> int:
        """Its number; cells of one id and two sizes are two."""
        shape = _shape(row)
        key = f"{entry.id} {shape}".strip()
        if key not in self._numbers:
            self._numbers[key] = len(self.cells)
            size = f"{row.cell.complexity} {shape}".strip()
            # Those of the row: an older run.json lacks the factors that came later.
            factors = row.cell.model_dump()
            self.cells.append({"key": key, "id": entry.id, "size": size, "factors": factors})
        return self._numbers[key]


def document(found: Sequence[ListedRun], left_out: Sequence[str] = ()) -> dict[str, Any]:
    """Of runs in any order; `left_out` are lines about those that cannot be read."""
    runs = sorted(found, key=lambda each: (each.run.manifest.started, each.folder))
    names, numbers = _machines(runs)
    tables = _Tables()
    extras = (name for each in runs for cell in each.run.cells for name in cell.extras)
    metrics = list(dict.fromkeys((*METRICS, *extras)))
    listed = [_run(each, on, metrics, tables) for each, on in zip(runs, numbers, strict=True)]
    return {
        "margin": MARGIN,
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
        "steps": trends.steps_of(listed, metrics),
        "trend_chart": theme.spec(trends.chart([], _METRIC)),
        "left_out": list(left_out),
    }


def _machines(runs: Sequence[ListedRun]) -> tuple[list[str], list[int]]:
    """The machines' names, and of each run which it was made on: the first whose first run is of
    the same machine by the rule of `compare`."""
    known: list[Identity] = []
    numbers = []
    for each in runs:
        own = each.identity
        same = [n for n, other in enumerate(known) if not machine.others(other, own)]
        if not same:
            known.append(own)
        numbers.append(same[0] if same else len(known) - 1)
    names: list[str] = []
    for label in map(_label, known):
        others = sum(each.startswith(label) for each in names)
        names.append(f"{label}, no. {others + 1}" if others else label)
    return names, numbers


def _label(identity: Identity) -> str:
    memory = identity["memory_mib"]
    size = f"{memory / 1024:.0f} GiB" if isinstance(memory, int | float) else "memory unknown"
    return f"{identity['processor']}, {identity['cores_online']} cores, {size}"


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
        # The cells of two builds are of these, and not of the checkout that has measured them.
        "builds": {name: _code(each) for name, each in manifest.builds.items()},
        "machine": machine_number,
        "versions": {
            name: _text(run.described[name]) for name in VERSIONS if name in run.described
        },
        "page": listed.page,
        "copies": [[each.folder, each.page] for each in listed.copies],
        "sentence": run.answer.sentence if run.answer else "",
        "claims": [[each.id, each.verdict, each.headline, each.text] for each in run.claims],
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
    return {
        "cell": tables.cell(row, entry),
        "framework": _framework(run, row.cell),
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
    by_block = (
        series(row, metric).values.values()
        if metric in METRICS
        else [each.extras[metric] for each in row.right if metric in each.extras]
    )
    short = partial(wording.rounded, digits=_SIGNIFICANT)
    return [*map(short, (found.value, found.low, found.high)), [*map(short, by_block)]]


def _framework(run: RunExport, cell: Cell) -> str:
    """The web framework that served; in runs from before it was a factor the environment chose it
    for all cells."""
    if cell.service in run.manifest.attached:
        return "attached"
    settings: Mapping[str, str] = run.described.get("settings", {})
    return settings.get(f"{cell.service.upper()}_FRAMEWORK") or cell.framework


def _shape(row: Row) -> str:
    """`30x20x20` (rows, inner, columns), `10 x R64` (lines, rules), or the parts of a mix."""
    if row.logs:
        return str(row.logs)
    parts = [f"{each.share:.0%} {each.name} {_product(each.shape)}" for each in row.mix]
    return ", ".join(parts) if row.shape is None else _product(row.shape)


def _product(shape: Shape) -> str:
    return f"{shape.rows}x{shape.inner}x{shape.columns}"


def _text(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {each}" for name, each in value.items())
    return str(value)
