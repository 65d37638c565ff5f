"""The study's figures, as the experiment's file defines them: points, lines and captions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from restbench.analyse import measures
from restbench.analyse.measures import Row
from restbench.experiment.cell import FACTORS, Cell, Shape, users_text
from restbench.experiment.experiment import Experiment
from restbench.experiment.statistics import FEWEST_BLOCKS, geometric_mean
from restbench.experiment.study import Figure
from restbench.grouping import grouped
from restbench.judge import study
from restbench.judge.claims import listed
from restbench.judge.trust import blocks_of
from restbench.show import wording
from restbench.show.charts import lines, theme
from restbench.show.charts.lines import Line, Panel, Point

#: Above this ratio of largest to smallest throughput a sweep over rows gets a logarithmic axis.
LOG_FROM_RATIO = 20
Y_LABELS = {
    "throughput_per_s": "Correct responses per second",
    "mean_ms": "Mean latency (closed loop), ms",
}
_NAMED_AT_MOST = 4


@dataclass(frozen=True)
class Plot:
    """A figure's definition with a row for each of the cells that it wants."""

    figure: Figure
    rows: dict[Cell, Row]
    choice: str = ""
    """Which level was chosen as the best, and why; empty where nothing is chosen."""

    def x_of(self, cell: Cell) -> int:
        """The cell's place on the x axis."""
        return cell.users if self.figure.x == "users" else self.shape_of(cell).rows

    def shape_of(self, cell: Cell) -> Shape:
        """The cell's operand sizes: a figure against rows has no mix (`experiment`)."""
        shape = self.rows[cell].shape
        assert shape is not None  # noqa: S101 - see above
        return shape


def chart(figure: Figure, definition: Experiment, rows: Sequence[Row]) -> theme.Chart | None:
    """A figure of the study; None where none of its cells was measured."""
    known = {row.cell: row for row in rows}
    wanted = [cell for cell in definition.all_cells() if figure.where.matches(cell)]
    plot = Plot(
        figure, {cell: known.get(cell) or measures.row(definition, cell, ()) for cell in wanted}
    )
    if not any(row.measured for row in plot.rows.values()):
        return None
    plot = _only_the_best(plot) if figure.best_of else plot
    levels = [None] if figure.panels is None else dict.fromkeys(cell.users for cell in plot.rows)
    panels = [_panel(plot, metric, users) for metric in figure.metrics for users in levels]
    is_log = figure.x == "rows" and _spread(panels) > LOG_FROM_RATIO
    return lines.chart(
        f"figure-{figure.number}",
        f"Figure {figure.number}. {figure.title}",
        " ".join(_sentences(plot, is_log=is_log)),
        panels,
        "Concurrent users" if figure.x == "users" else "Rows of matrixOne",
        is_log=is_log,
    )


def _panel(plot: Plot, metric: str, users: int | None) -> Panel:
    shown = [cell for cell in plot.rows if users is None or cell.users == users]
    found = []
    for label, cells in grouped(shown, lambda cell: _label(plot, cell)).items():
        ranked = sorted(cells, key=plot.x_of)
        points = (_point(plot.rows[cell], metric, plot.x_of(cell)) for cell in ranked)
        found.append(Line(label, _style(plot, ranked[0]), tuple(points)))
    ticks = tuple(sorted(set(map(plot.x_of, plot.rows))))
    title = "" if users is None else users_text(users)
    return Panel(title, Y_LABELS[metric], tuple(found), ticks)


def _point(row: Row, metric: str, x: int) -> Point:
    name, note = wording.cell_name(row.cell), ", ".join(map(str, row.warnings))
    return lines.measured(row, metric, x, name=name, note=note)


def _label(plot: Plot, cell: Cell) -> str:
    """The line a cell belongs to: the series' level, then every other factor that varies."""
    taken = {"users" if plot.figure.x == "users" else "complexity", plot.figure.panels}
    others = [
        factor
        for factor in FACTORS
        if factor not in taken and len({getattr(each, factor) for each in plot.rows}) > 1
    ]
    named = dict.fromkeys([plot.figure.series, *others])
    return ", ".join(_level(cell, factor) for factor in named)


def _level(cell: Cell, factor: str) -> str:
    if factor == "users":
        return users_text(cell.users)
    if factor == "strategy":
        same = cell.key == cell.strategy
        return cell.strategy if same else f"{cell.key} {cell.strategy}"
    return str(getattr(cell, factor))


def _style(plot: Plot, cell: Cell) -> int:
    """The style of a cell's line: a strategy has the same one in every figure, any other level the
    same one in every panel of its figure."""
    if plot.figure.series == "strategy":
        return theme.STYLES[cell.strategy]
    levels = dict.fromkeys(getattr(each, plot.figure.series) for each in plot.rows)
    return list(levels).index(getattr(cell, plot.figure.series))


def _only_the_best(plot: Plot) -> Plot:
    """Keep the strategy with the highest throughput over the cells that all of them have."""
    throughputs: dict[str, dict[tuple[object, ...], float]] = {}
    for cell, row in plot.rows.items():
        value = row.value("throughput_per_s")
        if value:
            where = tuple(getattr(cell, factor) for factor in FACTORS if factor != "strategy")
            throughputs.setdefault(cell.strategy, {})[where] = value
    if not throughputs:
        return replace(plot, choice="No technique has a throughput, so none is the best.")
    shared = set.intersection(*(set(values) for values in throughputs.values()))
    if not shared:
        return plot
    means = {
        strategy: geometric_mean([values[where] for where in sorted(shared, key=str)])
        for strategy, values in throughputs.items()
    }
    best = max(means, key=lambda strategy: means[strategy])
    ranking = ", ".join(f"{strategy} {mean:.3g}/s" for strategy, mean in means.items())
    choice = (
        f"Shown is the best, {best}. Geometric means over {len(shared)} common cells: {ranking}."
    )
    chosen = {cell: row for cell, row in plot.rows.items() if cell.strategy == best}
    return Plot(plot.figure, chosen, choice)


def _spread(panels: Sequence[Panel]) -> float:
    values = [point.y for panel in panels for point in panel.drawn if point.y and point.y > 0]
    return max(values) / min(values) if values else 1.0


def _sentences(plot: Plot, *, is_log: bool) -> list[str]:
    """The caption: what is shown, how certain it is, what has warnings and what is missing."""
    counts = (len(row.measured) for row in plot.rows.values())
    enough = [each for each in counts if each >= FEWEST_BLOCKS]
    said = [
        plot.figure.caption,
        plot.choice,
        *_operand_notes(plot),
        "The vertical axis is logarithmic." if is_log else "",
        f"Bars: 95 % t interval over {blocks_of(enough)}."
        if enough
        else "No interval: it needs three blocks.",
        *_warnings(plot),
        *_missing(plot),
    ]
    return [sentence for sentence in said if sentence]


def _operand_notes(plot: Plot) -> list[str]:
    """A sentence for each other operand size that changes in a sweep over rows."""
    notes: list[str] = []
    if plot.figure.x == "users":
        return notes
    for size, name in (("inner", "Columns of matrixOne"), ("columns", "Columns of matrixTwo")):
        rows_of: dict[int, set[int]] = {}
        for shape in map(plot.shape_of, plot.rows):
            rows_of.setdefault(getattr(shape, size), set()).add(shape.rows)
        if len(rows_of) > 1:
            levels = (
                f"{n} at {', '.join(map(str, sorted(rows)))} rows" for n, rows in rows_of.items()
            )
            notes.append(f"{name}: {'; '.join(levels)}.")
    return notes


def _warnings(plot: Plot) -> list[str]:
    shown = [row for row in plot.rows.values() if row.value("throughput_per_s") is not None]
    kinds = dict.fromkeys(each.kind for row in shown for each in row.warnings)
    return [f"Hollow points have warnings: {', '.join(kinds)}."] if kinds else []


def _missing(plot: Plot) -> list[str]:
    """Every cell without a point is named, or counted where there are many."""
    named = [
        f"{study.technique(row.cell)} {row.cell.complexity} {users_text(row.cell.users)} "
        f"({', '.join(row.flags)})"
        for row in plot.rows.values()
        if row.value("throughput_per_s") is None
    ]
    return [f"Missing: {listed(named, '; ', _NAMED_AT_MOST)}."] if named else []
