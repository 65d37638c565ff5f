"""Numbers of workers and users: in words, as heat maps, and next to what was published."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

import altair as alt

from restbench.analyse.measures import Row
from restbench.analyse.workers import Grid, grids
from restbench.experiment.cell import users_text
from restbench.experiment.columns import readable
from restbench.experiment.study import PublishedWorkers
from restbench.judge import study, trust
from restbench.judge.answer import joined
from restbench.observe.connections import expected_busy
from restbench.show import document as doc
from restbench.show import wording
from restbench.show.charts import theme
from restbench.show.charts.overview import CLASSES, shade
from restbench.show.findings import Findings, View

HOW_TO_READ = (
    "A core is a hardware thread that the service may use. The worker that accepts a kept "
    "connection keeps it. So the users of each trial open new connections, several times in a "
    "block, which changes their distribution over the workers."
)
_METRICS = {"throughput_per_s": "Throughput, /s", "cpu_ms_per_request": "CPU ms per request"}
_ROW_PX = 34


def name(grid: Grid) -> str:
    """Such as `fastapi-gunicorn, low, connections kept`, with the front where there is one."""
    cell = grid.cell
    behind = f", {cell.front}" * (cell.front != "none")
    return f"{cell.framework}{behind}, {cell.complexity}, connections {cell.connection}"


def sentences(grid: Grid) -> list[str]:
    """Which numbers of workers are as good as the best, whether a law of growth describes the
    grid, and how connections were distributed over the workers."""
    sets = {users: grid.alike(users) for users in grid.users}
    parts = [
        f"{users_text(users)}: {', '.join(map(str, workers))}" for users, workers in sets.items()
    ]
    alike = f"workers that cannot be distinguished from the best with {'; '.join(parts)}"
    alike = alike if all(sets.values()) else "fewer than three blocks, so no verdict"
    start = f"{name(grid)}: "
    laws = wording.laws(grid.scaling, "users")
    return [f"{start}{alike}.", f"{start}with {grid.advised} workers {laws}.", *_draws(grid)]


def sentence(grids: Sequence[Grid]) -> str:
    """For each grid, which numbers of workers suffice for every number of users; empty without a
    grid."""
    if not grids:
        return ""
    if not all(grid.alike(users) for grid in grids for users in grid.users):
        return "How many workers are enough is not decided: this needs three blocks of every cell."
    users = sorted({each for grid in grids for each in grid.users})
    span = f"From {users[0]} to {users_text(users[-1])}"
    span = span if len(users) > 1 else f"With {users_text(users[0])}"
    sizes = {grid.cell.complexity for grid in grids}
    places = [(_place(each, has_size=len(sizes) > 1), each.enough) for each in grids]
    enough = [f"{joined(of, 'or')} in {place}" for place, of in places if of]
    varying = [place for place, of in places if not of]
    parts = []
    if enough:
        parts.append(f"{span} no number of workers is shown to be faster than {joined(enough)}.")
    if varying:
        parts.append(f"In {joined(varying)} the best number depends on the number of users.")
    return " ".join(parts)


def _place(grid: Grid, *, has_size: bool) -> str:
    """Such as `flask with new connections`, and at which size where there are several."""
    cell = grid.cell
    behind = f" behind {cell.front}" * (cell.front != "none")
    size = f" at {cell.complexity}" * has_size
    connections = "kept" if cell.connection == "kept" else "new"
    return f"{cell.framework}{behind} with {connections} connections{size}"


def sure(grids: Sequence[Grid]) -> str:
    """How sure it is which numbers of workers are alike."""
    blocks = trust.blocks_of(len(row.measured) for grid in grids for row in grid.rows)
    return (
        f"For each number of users, every throughput is compared with the best one over {blocks}: "
        "paired t (Holm, 5 %)."
    )


def terminal(grids: Sequence[Grid]) -> list[doc.Table | str]:
    """A table per grid: throughput by workers and users."""
    note = "≈: cannot be distinguished from the best of its column. ±: 95 % interval over blocks."
    return [*map(_throughputs, grids), note] if grids else []


def _throughputs(grid: Grid) -> doc.Table:
    alike = {users: grid.alike(users) for users in grid.users}
    lines: dict[int, dict[int, str]] = {}
    for row in grid.rows:
        mark = "≈ " * (row.cell.workers in alike[row.cell.users])
        text = f"{mark}{study.shown(row, 'throughput_per_s')}"
        lines.setdefault(row.cell.workers, {})[row.cell.users] = text
    head = ("Workers", *(users_text(each) for each in grid.users))
    body = [[count, *map(of.get, grid.users)] for count, of in sorted(lines.items())]
    return doc.listed(f"{name(grid)}: requests/s", head, body, texts=0)


def _draws(grid: Grid) -> list[str]:
    """How many workers had a connection, in the cell with the most users and the advised number of
    workers."""
    rows = [row for row in grid.rows if row.cell.workers == grid.advised]
    row = max(rows, key=lambda each: each.cell.users, default=grid.rows[0])
    busy = [each.extras["busy_workers"] for each in row.measured if "busy_workers" in each.extras]
    if not busy:
        return []
    return [
        f"{name(grid)}: {users_text(row.cell.users)} had connections to {fmean(busy):.2f} of "
        f"{row.cell.workers} workers on average; a random distribution would give "
        f"{expected_busy(row.cell.workers, row.cell.users):.2f}."
    ]


def next_to(known: PublishedWorkers, grids: Sequence[Grid]) -> doc.Table:
    """The study's throughputs next to ours, each over that of the best of its column; a row per
    number of workers relative to twice the cores."""
    head = ["Workers", *(f"Study, {users_text(each)}" for each in known.clients)]
    head += [f"{name(grid)}, {users_text(each)}" for grid in grids for each in grid.users]
    offsets = {each - 2 * known.cores for each in known.mean_ms}
    offsets |= {row.cell.workers - 2 * grid.cores for grid in grids for row in grid.rows}
    body = []
    for offset in sorted(offsets):
        study = 2 * known.cores + offset
        line: list[object] = [f"2·cores {offset:+d}" if offset else "2·cores"]
        is_known = study in known.mean_ms
        line += [known.over_best(study, each) if is_known else None for each in known.clients]
        for grid in grids:
            own = {r.cell.users: r for r in grid.rows if r.cell.workers == 2 * grid.cores + offset}
            line += [grid.over_best(own[u]) if u in own else None for u in grid.users]
        body.append(line)
    caption = "Throughput over that of the best of its column (ratios, no milliseconds)"
    return doc.listed(caption, head, body, texts=1)


def page(found: Findings, its: Sequence[Grid]) -> doc.Section | None:
    """The results of the grids, the heat maps, and the study's table as ratios."""
    known = found.definition.table(PublishedWorkers)
    return doc.section(
        "workers",
        "How many workers, for how many users?",
        [line for grid in its for line in sentences(grid)],
        *found.figures("workers"),
        HOW_TO_READ,
        next_to(known, its),
        f"Published: {known.source}.",
        [*known.shows, *known.faults],
    )


def charts(grids: Sequence[Grid]) -> list[theme.Chart]:
    """A chart per grid with a panel per metric; the row of 2·cores + 1 workers is framed."""
    return list(map(_chart, grids))


def _chart(grid: Grid) -> theme.Chart:
    cell = grid.cell
    behind = f"-{cell.front}" * (cell.front != "none")
    caption = (
        f"Colour: the ratio to the best of its column, strongest from {100 * CLASSES[0]:.0f} % on. "
        f"±: 95 % t interval over blocks. Framed: 2·cores + 1 = {grid.advised} workers."
    )
    file = f"workers-{cell.framework}{behind}-{cell.complexity}-{cell.connection}"
    title, description = name(grid), f"{name(grid)}. {caption} {' '.join(sentences(grid))}"
    panels = tuple(_panel(grid, metric) for metric in _METRICS)
    return theme.Chart(file, f"Workers and users: {title}", caption, description, panels, 330)


def _panel(grid: Grid, metric: str) -> theme.View:
    tiles = [_tile(grid, row, metric) for row in grid.rows]
    axis = alt.Axis(domain=False, ticks=False)
    above = alt.Axis(domain=False, ticks=False, labelAngle=0, orient="top")
    x = alt.X("users:O").title("users across, workers down").axis(above).scale(paddingInner=0.05)
    y = alt.Y("workers:O").title(None).axis(axis).scale(paddingInner=0.1)
    base = theme.base(tiles, can_hide=False).encode(y=y)
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
    return theme.layered(_METRICS[metric], height_px, boxes, words, x=x)


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


VIEW = View(lambda found: grids(found.rows, found.cores), page, sentence, sure, charts, terminal)
