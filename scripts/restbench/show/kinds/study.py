"""The study's own view: what choosing a technique per request costs, as the claims on it say, in
words, as tables and as charts; the study's figures, and where the time of a request goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter

from restbench.analyse import measures
from restbench.analyse.measures import Row
from restbench.experiment.cell import FACTORS, Cell, Shape, users_text
from restbench.experiment.experiment import Experiment
from restbench.experiment.statistics import FEWEST_BLOCKS, geometric_mean
from restbench.experiment.study import Figure
from restbench.grouping import grouped
from restbench.judge import study
from restbench.judge.claims import WORDS, listed
from restbench.judge.trust import blocks_of
from restbench.observe.evidence import ADAPTIVE_STRATEGY as CHOOSING
from restbench.show import document as doc
from restbench.show import wording
from restbench.show.charts import course, forest, lines, theme
from restbench.show.charts.lines import Line, Panel
from restbench.show.findings import Findings, View
from restbench.show.parts import claims
from restbench.store.quoted import ClaimEntry, PartEntry

#: The id of the claim on choosing per request; further claims on it have ids that begin with it.
CHOICE = "F1"
#: Above this ratio of largest to smallest throughput a sweep over rows gets a logarithmic axis.
LOG_FROM_RATIO = 20
Y_LABELS = {
    "throughput_per_s": "Correct responses per second",
    "mean_ms": "Mean latency (closed loop), ms",
}
_NAMED_AT_MOST = 4
_HOW_TO_READ = (
    "Regret is what is lost by not knowing the best fixed strategy of a cell beforehand: 1 minus "
    "the ratio for throughput, 1 minus its inverse for p95 and CPU time. Below 0 choosing is "
    "better. The best strategy is the one that these runs show as the best. Among several alike "
    "it is the one that chance favoured, so regret is overestimated rather than underestimated. "
    "The claim states why a cell has no number here."
)


def sentence(entries: Sequence[ClaimEntry]) -> str:
    """The result of F1 with the largest regret of its cells; empty where none has a number."""
    claim = _first(entries)
    cells = [each for each in claim.parts if each.metric == "throughput_per_s"] if claim else []
    known = [(lost, each) for each in cells if (lost := regret(each)) is not None]
    if claim is None or not known:
        return ""
    lost, worst = max(known, key=lambda each: each[0])
    return (
        f"The claim that choosing per request is as fast as the best fixed technique everywhere "
        f"({CHOICE}) is {claim.headline}; the largest regret of {len(known)} cells is "
        f"{100 * lost:.1f} % ({_sides(worst)[0]})."
    )


def sure(entries: Sequence[ClaimEntry]) -> str:
    """What F1's verdict rests on."""
    claim = _first(entries)
    return claim.why if claim else ""


def _first(entries: Sequence[ClaimEntry]) -> ClaimEntry | None:
    return next((each for each in entries if each.id == CHOICE), None)


def regret(part: PartEntry) -> float | None:
    """What is lost by not knowing the best strategy beforehand; below 0 where choosing is better.
    None without a number, and where the ratio is not to a best strategy."""
    if not part.ratio or "best of" not in part.label:
        return None
    return 1 - (part.ratio if part.metric.endswith("_per_s") else 1 / part.ratio)


def _measured(claim: ClaimEntry) -> list[PartEntry]:
    return [part for part in claim.parts if part.ratio is not None]


def _sides(part: PartEntry) -> tuple[str, str]:
    """Both sides of a ratio, such as `java adaptive low 1u` and `java serial low 1u`; the second is
    empty for a pooled ratio."""
    first, _, second = part.label.partition(" (")[0].partition(" / ")
    return first, second


def _choosing(entries: Sequence[ClaimEntry]) -> list[ClaimEntry]:
    """The claims on choosing for which the run has a number."""
    return [each for each in entries if each.id.startswith(CHOICE) and _measured(each)]


def page(found: Findings, _its: Findings) -> doc.Section | None:
    """The verdicts, the charts, and, folded, each ratio; None where nothing chooses."""
    choice = _choosing(found.run.claims)
    if not choice:
        return None
    return doc.section(
        "regret",
        "What choosing costs",
        [f"{each.id}, {each.headline}: {each.text}." for each in choice],
        *found.figures(CHOICE),
        _HOW_TO_READ,
        doc.section(
            "regret-cells",
            "Each cell",
            *(doc.table(f"{each.id}: {each.text}", _COLUMNS, _measured(each)) for each in choice),
            folded=True,
        ),
    )


def charts(found: Findings) -> list[theme.Chart | None]:
    """What choosing costs, the figures by the study's numbers, and where the time goes."""
    drawn = (chart(each, found.definition, found.rows) for each in found.definition.figures)
    choice = map(chart_of, _choosing(found.run.claims))
    return [*choice, *drawn, course.stages(found.rows)]


def chart_of(claim: ClaimEntry) -> theme.Chart | None:
    """The ratios of the choosing strategy at each load of a claim, in the metric of the claim's
    first ratio: a panel per service."""
    metric = claim.parts[0].metric
    parts = [each for each in _measured(claim) if each.metric == metric]
    loads = [each for each in parts if f" {CHOOSING}" in _sides(each)[0]]
    services = grouped(loads, lambda each: each.label.split()[0].capitalize())
    return forest.chart(
        f"{claim.id}-ratios",
        f"What choosing costs, {claim.id}: ratio of {WORDS[metric]}",
        f"{claim.text}. Each symbol is one load: the ratio of {CHOOSING} to what the claim "
        "compares it with. The band is the margin within which a difference does not count.",
        forest.panels(services, "Ratio", partial(_entry, claim)),
        claims.STYLES,
    )


def _entry(claim: ClaimEntry, part: PartEntry) -> forest.Entry:
    """A mark that is named by its load; the tooltip shows both sides of the ratio."""
    sides = _sides(part)
    load = sides[0].split(" ", 2)[-1]
    return replace(claims.entry(claim, part), label=load, name=" / ".join(sides), cell="")


def _percent(part: PartEntry) -> str:
    lost = regret(part)
    return "" if lost is None else f"{100 * lost:.1f} %"


_COLUMNS: Sequence[doc.Column[PartEntry]] = (
    doc.Column("Ratio", lambda part: " / ".join(filter(None, _sides(part)))),
    doc.Column("Of", lambda part: WORDS[part.metric]),
    doc.number("Here [95 %]", lambda part: wording.with_ends(part.ratio, part.low, part.high)),
    doc.number("Regret", _percent),
    doc.Column("Verdict", lambda part: doc.Field(part.headline, claims.TONES[part.verdict])),
)


def figures(found: Findings) -> doc.Section | None:
    """The figures by the study's numbers; None where none is in the run."""
    shown = found.figures("figure-")
    drawn = {each.chart.name for each in shown}
    absent = [
        str(each.number)
        for each in found.definition.figures
        if f"figure-{each.number}" not in drawn
    ]
    lacking = f" Not in this run: {', '.join(absent)}." if absent else ""
    dashboards = " Figures 28 to 30 are JMeter's own dashboards, linked at their cells." * (
        found.folder.dashboards.exists()
    )
    intro = (
        "Figures are numbered as in the study. Point at a symbol to see its cell, click it for "
        "details; click a name to hide its symbols. A hollow symbol has a warning."
        f"{dashboards}{lacking}"
    )
    return doc.section("figures", "The study's figures", intro, *shown) if shown else None


def stages(found: Findings) -> doc.Section | None:
    """The charts of the stages of a request, by technique."""
    return doc.section("stages", "Where the time goes", *found.figures("stages"))


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
        points = (
            lines.measured(plot.rows[cell], metric, plot.x_of(cell), wording.cell_name(cell))
            for cell in ranked
        )
        found.append(Line(label, _style(plot, ranked[0]), tuple(points)))
    title = "" if users is None else users_text(users)
    return Panel(title, Y_LABELS[metric], tuple(found), has_ticks=True)


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
    return wording.placement(cell) if factor == "placement" else str(getattr(cell, factor))


def _style(plot: Plot, cell: Cell) -> int:
    """The style of a cell's line: a strategy has the same one in every figure, any other level the
    same one in every panel of its figure."""
    if plot.figure.series == "strategy":
        return theme.STYLES[cell.strategy]
    levels = dict.fromkeys(getattr(each, plot.figure.series) for each in plot.rows)
    return list(levels).index(getattr(cell, plot.figure.series))


def _only_the_best(plot: Plot) -> Plot:
    """Keep the strategy with the highest throughput over the cells that all of them have."""
    throughputs: dict[str, dict[tuple[str, ...], float]] = {}
    for cell, row in plot.rows.items():
        if value := row.value("throughput_per_s"):
            where = tuple(str(getattr(cell, each)) for each in FACTORS if each != "strategy")
            throughputs.setdefault(cell.strategy, {})[where] = value
    if not throughputs:
        return replace(plot, choice="No technique has a throughput, so none is the best.")
    shared = set.intersection(*map(set, throughputs.values()))
    if not shared:
        return plot
    means = {
        strategy: geometric_mean([values[where] for where in sorted(shared)])
        for strategy, values in throughputs.items()
    }
    best = max(means, key=means.__getitem__)
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
    shown = [row for row in plot.rows.values() if row.value("throughput_per_s") is not None]
    absent = [row for row in plot.rows.values() if row.value("throughput_per_s") is None]
    kinds = dict.fromkeys(each.kind for row in shown for each in row.warnings)
    named = [
        f"{study.technique(row.cell)} {row.cell.complexity} {users_text(row.cell.users)} "
        f"({', '.join(row.flags)})"
        for row in absent
    ]
    said = [
        plot.figure.caption,
        plot.choice,
        *_operand_notes(plot),
        "The vertical axis is logarithmic." if is_log else "",
        f"Bars: 95 % t interval over {blocks_of(enough)}."
        if enough
        else "No interval: it needs three blocks.",
        f"Hollow points have warnings: {', '.join(kinds)}." if kinds else "",
        # Every cell without a point is named, or counted where there are many.
        f"Missing: {listed(named, '; ', _NAMED_AT_MOST)}." if named else "",
    ]
    return [sentence for sentence in said if sentence]


def _operand_notes(plot: Plot) -> list[str]:
    """A sentence for each other operand size that changes in a sweep over rows."""
    notes = []
    shapes = () if plot.figure.x == "users" else tuple(map(plot.shape_of, plot.rows))
    for size, name in (("inner", "Columns of matrixOne"), ("columns", "Columns of matrixTwo")):
        groups = grouped(shapes, attrgetter(size))
        rows = {
            n: ", ".join(map(str, sorted({each.rows for each in of}))) for n, of in groups.items()
        }
        if len(rows) > 1:
            notes.append(f"{name}: {'; '.join(f'{n} at {at} rows' for n, at in rows.items())}.")
    return notes


VIEW = View(
    lambda found: found,
    page,
    lambda found: sentence(found.run.claims),
    lambda found: sure(found.run.claims),
    charts,
    more=(figures, stages),
)
