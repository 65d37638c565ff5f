"""Workers by users as heat maps: a number with its half-width in each tile, its colour by the ratio
to the best of its column."""

from __future__ import annotations

from typing import Any

import altair as alt

from restbench.analyse.measures import Row
from restbench.analyse.workers import Grid
from restbench.experiment.columns import readable
from restbench.show import workers
from restbench.show.charts import theme
from restbench.show.charts.overview import CLASSES, shade
from restbench.show.charts.theme import Chart

_METRICS = {"throughput_per_s": "Throughput, /s", "cpu_ms_per_request": "CPU ms a request"}
_ROW_PX = 34


def chart(grid: Grid) -> Chart:
    """A panel a metric; the line of 2·cores + 1 workers is framed."""
    cell = grid.cell
    behind = f"-{cell.front}" * (cell.front != "none")
    caption = (
        f"Colour: the ratio to the best of its column, from {100 * CLASSES[0]:.0f} % on the "
        f"darkest. ±: 95 % t interval over blocks. Framed: 2·cores + 1 = {grid.advised} workers."
    )
    return Chart(
        name=f"workers-{cell.framework}{behind}-{cell.complexity}-{cell.connection}",
        title=f"Workers and users: {workers.name(grid)}",
        caption=caption,
        description=f"{workers.name(grid)}. {caption} {' '.join(workers.sentences(grid))}",
        panels=tuple(_panel(grid, metric) for metric in _METRICS),
        panel_px=330,
    )


def _panel(grid: Grid, metric: str) -> theme.View:
    tiles = [_tile(grid, row, metric) for row in grid.rows]
    axis = alt.Axis(domain=False, ticks=False)
    above = alt.Axis(domain=False, ticks=False, labelAngle=0, orient="top")
    base = theme.base(tiles, can_hide=False).encode(
        x=alt.X("users:O").title("users across, workers down").axis(above).scale(paddingInner=0.05),
        y=alt.Y("workers:O").title(None).axis(axis).scale(paddingInner=0.1),
    )
    boxes = base.mark_rect().encode(
        fill=alt.Fill("fill:N").scale(None),
        stroke=alt.Stroke("edge:N").scale(None),
        strokeWidth=alt.StrokeWidth("width:Q").scale(None),
        tooltip=theme.tips(cell="Cell", shown=_METRICS[metric], share="Of the best"),
    )
    words = base.mark_text(lineBreak="\n", dy=-5).encode(
        text="text:N", fill=alt.Fill("ink:N").scale(None)
    )
    height_px = _ROW_PX * len({row.cell.workers for row in grid.rows})
    return theme.layered(_METRICS[metric], height_px, boxes, words)


def _tile(grid: Grid, row: Row, metric: str) -> dict[str, Any]:
    share, interval = grid.over_best(row, metric), row.interval(metric)
    fill, ink = (theme.PAPER, theme.INK) if share is None else shade(share)
    value = readable(row.value(metric)) or "·"
    half_width = f"± {readable(interval.half_width)}" if interval else ""
    is_advised = row.cell.workers == grid.advised
    return {
        "users": row.cell.users,
        "workers": row.cell.workers,
        "cell": row.cell.id,
        "text": f"{value}\n{half_width}",
        "shown": f"{value} {half_width}",
        "share": readable(share),
        "fill": fill,
        "edge": theme.INK if is_advised else fill,
        "width": 2 if is_advised else 0,
        "ink": ink,
    }
