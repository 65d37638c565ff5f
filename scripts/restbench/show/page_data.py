"""What the page's interactive charts show, as data; how they look is the page's business.

The same bytes for the same run: numbers are rounded, keys sorted, nothing tells the time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from restbench.analyse.flags import is_warning
from restbench.analyse.measures import Row
from restbench.experiment import columns
from restbench.experiment.cell import Cell, users_text
from restbench.experiment.experiment import Figure
from restbench.judge import study
from restbench.show.chart import Chart, Line, Point
from restbench.show.drawing import Y_LABELS

_STAGES = ("queue_ms", "parse_ms", "compute_ms", "serialize_ms", "network_ms")
#: Significant digits of a number that is told.
_SIGNIFICANT = 4

_LOADS = (
    "Compare lines at one number of users: higher throughput is more work done; a flat line is a "
    "service that has no more to give."
)
_SIZES = (
    "Compare lines at one number of rows: the upper line did more requests per second, or took "
    "longer where latency is drawn."
)
_BETWEEN = (
    "The line between two points was not measured, and latency of a closed loop says nothing of "
    "requests that arrive at a fixed rate."
)
_ALONG = (
    "Points along a line are different amounts of work: falling throughput is no sign of a worse "
    "technique."
)


def reading(figure: Figure) -> tuple[str, str]:
    """How to read a figure of the study, and how not to: a sentence each."""
    return (_LOADS, _BETWEEN) if figure.x == "users" else (_SIZES, _ALONG)


def figure(chart: Chart) -> dict[str, Any]:
    """A figure of the study: its panels with lines of [x, y, [low, high], doubtful, cell]."""
    return {
        "log": chart.log_y,
        "x_label": chart.x_label,
        "x_ticks": list(chart.x_ticks),
        "x_names": list(chart.x_names),
        "panels": [
            {
                "metric": columns.HEADINGS.get(panel.metric) or Y_LABELS[panel.metric],
                "title": panel.title,
                "lines": [_line(line) for line in panel.lines],
            }
            for panel in chart.panels
        ],
    }


def _line(line: Line) -> dict[str, Any]:
    points = [
        [_rounded(p.x), _rounded(p.y), _interval(p), int(p.doubtful), p.cell] for p in line.points
    ]
    return {"label": line.label, "colour": line.colour, "points": points}


def _interval(point: Point) -> list[float | int | None] | None:
    """Both ends, as that of a ratio reaches further up than down; None for a single block."""
    return _numbers(point.interval) if point.interval else None


def cells(rows: Sequence[Row]) -> dict[str, dict[str, Any]]:
    """What a chart says of a cell under the pointer, by the cell's id."""
    return {
        row.cell.id: {
            "name": _name(row.cell),
            "flags": [[text, int(is_warning(kind))] for kind, text in study.marks(row).items()],
            "blocks": len(row.measured),
        }
        for row in rows
    }


def _name(cell: Cell) -> str:
    return f"{study.technique(cell)}, {cell.complexity}, {users_text(cell.users)}"


def stages(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Where a request's time went, in ms, for each cell whose service told it."""
    return [_stages(row) for row in rows if row.value("compute_ms") is not None]


def _stages(row: Row) -> dict[str, Any]:
    return {
        "cell": row.cell.id,
        "group": f"{row.cell.service}, {row.cell.complexity}",
        "label": f"{study.technique(row.cell)}, {row.cell.users}",
        "doubtful": int(bool(row.warnings)),
        # Stages are by the service's clock: of the fastest cells less than nothing may be left.
        "ms": [_rounded(max(0.0, row.value(stage) or 0.0)) for stage in _STAGES],
    }


def _numbers(values: Sequence[float]) -> list[float | int | None]:
    return [_rounded(value) for value in values]


def _rounded(value: float | None) -> float | int | None:
    if value is None:
        return None
    short = float(f"{value:.{_SIGNIFICANT}g}")
    return int(short) if short.is_integer() else short


def as_json(data: Mapping[str, Any]) -> str:
    """The data as they stand in a `<script>` element of the page: no `</` inside."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.replace("</", "<\\/").replace("<!--", "<\\u0021--")
