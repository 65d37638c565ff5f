"""The first picture of a run: each technique's throughput over that of the best of its group, by
complexity and users, and how sure that is."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from restbench.analyse.measures import Row
from restbench.experiment.cell import Cell
from restbench.experiment.columns import readable
from restbench.failures import counted
from restbench.grouping import grouped
from restbench.judge import leader, study
from restbench.judge.leader import Leader
from restbench.show.charts import theme
from restbench.show.wording import placed

#: The classes of colour: the least share of the best in each, the best class first.
CLASSES = (0.95, 0.75, 0.5, 0.25, 0.1, 0.0)
_BEST_COLUMN, _PLACES = "best, /s", "size · users"
#: On the colours of this many best classes text is written in ON_STRONG.
_STRONG = 2
_ROW_PX, _LINE_PX = 21, 12
#: In columns that are narrower than this the letters are smaller.
_WIDE_PX, _USUAL_PX, _SMALL_PX = 44, 11, 9
#: A smaller share is written in one significant digit.
_SMALL = 0.095
_TOOLTIP = ("Technique", "Size and users", "Throughput, /s", "Of the best", "Notes")
_CAPTION = (
    "Throughput divided by that of the best technique for the same size and users: 0.50 is half. "
    "Filled: the run's blocks show the result; ≈ means equal to the best within 5 %. Outlined: the "
    "difference from the first is not shown, or a single block gives no interval. ?: no block has "
    "both this technique and the first. A dot: not measured. wrong: wrong answers."
)


def chart(rows: Sequence[Row]) -> theme.Chart | None:
    """A panel per service and placement, a line per size and number of users, a tile per technique.
    None where no two techniques of one group have a throughput."""
    panels = _panels(rows)
    led = {
        name: leader.of_groups(groups, groups[0][0].cell.service, "throughput_per_s")
        for name, groups in panels.items()
    }
    if not any(each.others for found in led.values() for each in found):
        return None
    shown = sum(len(group) for groups in panels.values() for group in groups)
    alone = counted(len(rows) - shown, "cell", "has", "have")
    left_out = f" {alone} no other cell to compare with." * (shown < len(rows))
    title = "Which technique, for which size and how many users?"
    description = " ".join([_CAPTION, *(_description(*each) for each in led.items())])
    drawn = tuple(_panel(name, groups, led[name]) for name, groups in panels.items())
    return theme.Chart("overview", title, _CAPTION + left_out, description, drawn, 320)


def _panels(rows: Sequence[Row]) -> dict[str, list[list[Row]]]:
    """By title of the panel (service and unusual levels): its groups of one size and number of
    users, the small first. Techniques that the runtime does not offer are left out."""

    def title(row: Row) -> str:
        return ", ".join((row.cell.service.capitalize(), *row.cell.unusual, *placed(row.cell)))

    offered = [row for row in rows if "not-offered" not in row.flags]
    found: dict[str, list[list[Row]]] = {}
    for name, of in grouped(sorted(offered, key=lambda row: row.work), title).items():
        groups = grouped(of, lambda row: (row.cell.complexity, row.cell.users))
        if several := [group for group in groups.values() if len(group) > 1]:
            found[name] = several
    return found


def _description(name: str, leaders: Sequence[Leader]) -> str:
    """Which technique is best in how many groups, for the text alternative."""
    sure = {True: "is best", False: "is first, not shown to be best,"}
    shown = Counter(f"{of.best.strategy} {sure[of.verdict == 'reproduced']}" for of in leaders)
    counts = "; ".join(f"{who} in {count} of {len(leaders)}" for who, count in shown.items())
    return f"{name}: {counts or 'nothing was measured'}."


def _panel(name: str, groups: Sequence[Sequence[Row]], leaders: Sequence[Leader]) -> theme.View:
    led = {cell: each for each in leaders for cell in each.cells}
    tiles = [_tile(row, led.get(row.cell.id)) for group in groups for row in group]
    techniques = [*dict.fromkeys(tile["technique"] for tile in tiles), _BEST_COLUMN]
    per_s = {row.cell: row.value("throughput_per_s") for group in groups for row in group}
    tiles += [
        _written(_place(each.best), _BEST_COLUMN, _rate(per_s[each.best])) for each in leaders
    ]
    base = theme.base(tiles, can_hide=False).encode(y=_places([group[0].cell for group in groups]))
    boxes = base.transform_filter("isValid(datum.edge)").mark_rect(strokeWidth=1.5, cornerRadius=2)
    boxes = boxes.encode(
        fill=alt.Fill("fill:N").scale(None),
        stroke=alt.Stroke("edge:N").scale(None),
        tooltip=[alt.Tooltip(f"{each}:N") for each in _TOOLTIP],
    )
    size = _font_px("item.mark.group", len(techniques))
    words = base.mark_text(fontSize=size).encode(text="text:N", fill=alt.Fill("ink:N").scale(None))
    return theme.layered(name, _ROW_PX * len(groups), boxes, words, x=_techniques(techniques))


def _font_px(panel: str, columns: int) -> alt.ExprRef:
    """The size of letters in `panel`: smaller where on a phone many columns stand side by side."""
    return alt.ExprRef(f"{panel}.width < {_WIDE_PX * columns} ? {_SMALL_PX} : {_USUAL_PX}")


def _techniques(names: Sequence[str]) -> alt.X:
    """The horizontal axis. A long name is written in several lines, the last next to the tiles."""
    lines = {name: name.replace("-", "- ").replace(", ", " ").split() for name in names}
    most = max(map(len, lines.values()))
    padded = {name: ["\u200b"] * (most - len(parts)) + parts for name, parts in lines.items()}
    axis = alt.Axis(
        orient="top",
        domain=False,
        ticks=False,
        labelAngle=0,
        labelOverlap=False,
        labelExpr=_look_up(padded),
        labelLineHeight=_LINE_PX,
        labelPadding=4 + _LINE_PX * (most - 1),
        labelFontSize=_font_px("item.mark.group.mark.group", len(names)),
    )
    x = alt.X("technique:N").title(None).axis(axis)
    return x.scale(domain=names, paddingInner=0.05, paddingOuter=0)


def _look_up(labels: Mapping[str, object]) -> str:
    return f"{json.dumps(labels, ensure_ascii=False)}[datum.value]"


def _places(cells: Sequence[Cell]) -> alt.Y:
    """The vertical axis. Of the lines with the same complexity only the first shows its name."""
    first = {cell.complexity: cell for cell in reversed(cells)}
    names = {
        _place(cell): _place(cell) if cell in first.values() else str(cell.users) for cell in cells
    }
    axis = alt.Axis(
        domain=False,
        ticks=False,
        labelPadding=6,
        labelExpr=_look_up(names),
        titleAlign="right",
        titleX=-6,
        titleY=-5,
    )
    y = alt.Y("place:N").title(_PLACES).axis(axis)
    return y.scale(domain=list(names), paddingInner=0.14, paddingOuter=0.07)


def _place(cell: Cell) -> str:
    return f"{cell.complexity} · {cell.users}"


def _tile(row: Row, led: Leader | None) -> dict[str, Any]:
    """The record of a cell. `edge` is the colour of its class; `fill` is the same colour where the
    run's blocks show its standing, else that of paper."""
    value = row.value("throughput_per_s")
    place, name = _place(row.cell), row.cell.strategy
    if value is None or led is None:
        return _written(place, name, "wrong" if "wrong-answers" in row.flags else "·")
    share, text, is_shown, against = _standing(row.cell, led)
    edge, ink = shade(share)
    low, high = row.ends("throughput_per_s")
    ends = f" [{readable(low)}, {readable(high)}]" if low is not None else ", no interval"
    return _written(place, name, text) | {
        "cell": row.cell.id,
        "edge": edge,
        "fill": edge if is_shown else theme.PAPER,
        "ink": ink if is_shown else theme.INK,
        "Technique": study.technique(row.cell),
        "Size and users": place,
        "Throughput, /s": f"{readable(value)}{ends}",
        "Of the best": against,
        "Notes": ", ".join(study.warnings_and_notes(row).values()) or "none",
    }


def shade(share: float | None) -> tuple[str, str]:
    """The colour for a share of the best (0 to 1), and the colour of text on it; without a share
    those of the last class."""
    number = next((n for n, least in enumerate(CLASSES) if share and share >= least), -1)
    return theme.RAMP[number], theme.ON_STRONG if 0 <= number < _STRONG else theme.INK


def _written(place: str, technique: str, text: str) -> dict[str, Any]:
    return {"place": place, "technique": technique, "text": text, "ink": theme.SOFT}


def _standing(cell: Cell, led: Leader) -> tuple[float | None, str, bool, str]:
    """The share of the best, its text, whether the run's blocks show the standing, and the share in
    the tooltip. The share is None where no block has measured both."""
    if cell == led.best:
        is_shown = bool(led.others) and led.is_tie
        text = "best" if is_shown else "first" if led.others else "only"
        return 1.0, text, is_shown, f"this technique is the first: {led.text}"
    found = dict(led.others).get(cell)
    if found is None or found.estimate is None:
        return None, "?", False, (found and found.lack) or "no ratio"
    ratio, share, is_same = found.ratio, 1 / found.estimate, led.is_same(cell)
    text = f"{share:.2f}" if share >= _SMALL else f"{share:.1g}"
    ends = f" [{1 / ratio.high:.3f}, {1 / ratio.low:.3f}]" if ratio else ", no interval"
    against = f"{share:.3f}{ends} of {study.technique(led.best)}"
    return share, "≈ " * is_same + text, is_same or cell not in led.tied, against


def _rate(value: float | None) -> str:
    return readable(value) if value is None or value < 1000 else f"{value:,.0f}".replace(",", " ")
