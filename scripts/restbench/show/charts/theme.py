"""The look of all charts, and their two forms: an SVG file and the interactive chart of a page.

Definitions contain the colours of the light scheme. The colours of the dark scheme (`DARK`) are a
style sheet in an SVG file; on a page `mount.js` replaces the light ones by them.
"""

from __future__ import annotations

import json
import math
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, TypeAlias
from xml.sax.saxutils import escape

import altair as alt
import vl_convert
from altair.utils.schemapi import disable_debug_mode

from restbench.experiment.cell import Cell
from restbench.judge import study
from restbench.show.wording import rounded_record

# A chart is validated once as a whole, in `spec`, and not each of its parts when it is built.
disable_debug_mode()

View: TypeAlias = alt.Chart | alt.LayerChart | alt.FacetChart


def _text(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


#: Every colour of the light scheme with its counterpart in the dark one.
_THEME: dict[str, Any] = json.loads(_text("theme.json"))
#: The components of `library` with their versions.
LIBRARY: dict[str, str] = _THEME["library"]
#: About how many ticks a linear axis has.
TICKS: int = _THEME["config"]["axis"]["tickCount"]
INK, SOFT, FAINT, PAPER, ON_STRONG = (light for light, _ in _THEME["paper"].values())
#: Okabe and Ito's colours, darkened where white paper needs it, with Tol's wine, a grey and ink.
#: Any two differ for dichromats too. Each has a shape of its own: colour is never the only cue.
PALETTE = [style[0] for style in _THEME["styles"]]
SHAPES = [style[2] for style in _THEME["styles"]]
#: The number of each technique's colour and shape, the same in every chart. Techniques of the two
#: services that share one do the same thing, and never share a panel.
STYLES = {name: n for n, style in enumerate(_THEME["styles"]) for name in style[3]}
#: Colours from "as good as the best" to "far from it"; text on the first two is in ON_STRONG.
RAMP = [light for light, _ in _THEME["ramp"]]
DARK: dict[str, str] = {
    each[0]: each[1] for each in (*_THEME["paper"].values(), *_THEME["styles"], *_THEME["ramp"])
}
#: A condition on a record: the reader has not hidden its series.
IS_SHOWN = "indexof(hidden, datum.series) < 0"
_VEGA_LITE = LIBRARY["vega-lite"].rpartition(".")[0]
_SVG_WIDTH_PX, _PANEL_LEAST_PX, _COLUMNS = 700, 60, 3
#: How often the width of the axes is measured: a narrower panel may have other labels.
_PASSES = 2
_MANY_POWERS = 1e3
#: More significant digits than any screen shows, and few enough for a small page.
_DIGITS = 6
_CLIP = re.compile(r"\bclip\d+\b")
_TAG, _LONG_NUMBER = re.compile(r"<[^>]+>"), re.compile(r"\d+\.\d{3,}")
_CAPTION_CHARACTERS, _TITLE_CHARACTERS = 112, 84


@dataclass(frozen=True)
class Chart:
    """A chart of one or more panels, with all of its data and texts."""

    name: str
    """The name of its SVG file, such as `figure-14`."""
    title: str
    caption: str
    description: str
    """What a screen reader says in the place of the picture."""
    panels: tuple[View, ...]
    panel_px: int = 220
    """The least width of a panel: where the page is narrower, fewer panels stand side by side."""
    series: Mapping[str, int] | None = None
    """The series that a reader can hide: each name with the number of its style."""
    scales: tuple[Mapping[str, Any], ...] = ()
    """For each panel the vertical `scale` and `axis`, as `linear` and as `log`, between which a
    reader can switch."""
    is_log: bool = False


def spec(chart: Chart) -> dict[str, Any]:
    """The chart as a Vega-Lite definition with its data, for `drawChart` of `library`, which adds
    the style of all charts."""
    panels = alt.concat(*chart.panels, columns=_COLUMNS, spacing=18)
    if chart.series is not None:
        panels = panels.add_params(alt.param(name="hidden", value=[]))
    # Each part was validated when it was made; the whole once more would take a fifth of the time.
    described: dict[str, Any] = panels.to_dict(validate=False)
    described["datasets"] = {
        name: [rounded_record(row, _DIGITS) for row in rows]
        for name, rows in described.get("datasets", {}).items()
    }
    described["description"] = chart.description
    described["usermeta"] = {
        "panel_px": chart.panel_px,
        "series": [[name, *style(number)] for name, number in (chart.series or {}).items()],
        "scales": list(chart.scales),
        "is_log": chart.is_log,
    }
    return described


def svg(chart: Chart) -> str:
    """The chart with its title and caption as an SVG document, the same bytes for the same chart;
    it follows the reader's light or dark scheme by itself."""
    described = sized(spec(chart), _SVG_WIDTH_PX)
    described["title"] = {
        "text": textwrap.wrap(chart.title, _TITLE_CHARACTERS),
        "subtitle": textwrap.wrap(chart.caption, _CAPTION_CHARACTERS),
        "fontSize": 15,
        "subtitlePadding": 6,
        "offset": 12,
    }
    described["background"] = PAPER
    described["padding"] = 10
    rules = "".join(
        f'[{kind}="{light}"]{{{kind}:{dark}}}'
        for light, dark in DARK.items()
        for kind in ("fill", "stroke")
    )
    head = (
        f"<title>{escape(chart.title)}</title><desc>{escape(chart.description)}</desc>"
        f"<style>@media (prefers-color-scheme: dark){{{rules}}}</style>"
    )
    start, end, rest = _render_svg(described).partition(">")
    return f"{start}{end}{head}{rest}\n"


def sized(described: Mapping[str, Any], width_px: int) -> dict[str, Any]:
    """The definition of `spec` fitted to a width, in the same way as `mount.js`: the width of the
    axes is only known after drawing."""
    panels, meta = described["concat"], described["usermeta"]
    columns = max(1, min(described["columns"], len(panels), width_px // meta["panel_px"]))

    def within(axes_px: int) -> dict[str, Any]:
        width = max(_PANEL_LEAST_PX, (width_px - axes_px) // columns)
        return {
            **described,
            "columns": columns,
            "concat": [{**panel, "width": width} for panel in panels],
        }

    axes_px = 0
    for _ in range(_PASSES):
        width = re.search(r'width="([\d.]+)"', _render_svg(within(axes_px)))
        assert width is not None  # noqa: S101 - an SVG document has one
        axes_px += max(0, math.ceil(float(width[1])) - width_px)
    return within(axes_px)


def _render_svg(described: dict[str, Any]) -> str:
    """The definition drawn as SVG. So that the text is reproducible, numbers in tags are rounded to
    0.01 pixel and the names of clips are numbered from 0. Numbers between tags are values to read:
    a share of 0.004 is not 0.00."""
    styled = {**described, "config": _THEME["config"]}
    text: str = vl_convert.vegalite_to_svg(styled, vl_version=_VEGA_LITE)
    clips = {name: f"clip-{n}" for n, name in enumerate(dict.fromkeys(_CLIP.findall(text)))}
    text = _CLIP.sub(lambda name: clips[name[0]], text)

    def rounded(tag: re.Match[str]) -> str:
        return _LONG_NUMBER.sub(lambda number: f"{float(number[0]):.2f}", tag[0])

    return _TAG.sub(rounded, text)


@cache
def library() -> str:
    """All the JavaScript of a page with charts: Vega, Vega-Lite, Vega-Embed and `drawChart(place,
    spec)`. About 0.9 MB, the same bytes every time, nothing is loaded from elsewhere."""
    known = {"DARK": DARK, "CONFIG": _THEME["config"]}
    constants = "".join(f"const {name} = {json.dumps(value)};\n" for name, value in known.items())
    snippet = f"{constants}{_text('mount.js')}"
    bundle = vl_convert.javascript_bundle(snippet, _VEGA_LITE)
    text = f"/*!\n{_text('LICENSE.library')}*/\n(() => {{{bundle}}})();\n"
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def tips(**titles: str) -> list[alt.Tooltip]:
    """A tooltip: fields of a record, each with its title."""
    return [alt.Tooltip(f"{field}:N", title=title) for field, title in titles.items()]


def base(records: Sequence[Mapping[str, Any]], *, can_hide: bool = True) -> alt.Chart:
    """A chart with these records in it, without those of series that the reader has hidden."""
    made = alt.Chart(alt.InlineData(values=list(records)))
    return made.transform_filter(IS_SHOWN) if can_hide else made


def layered(title: str, height_px: int, *layers: alt.Chart, **shared: Any) -> View:
    """A panel of these layers; `shared` are the encodings that all of them have."""
    made = alt.layer(*layers).properties(title=title, height=height_px)
    return made.encode(**shared) if shared else made


def series_scales(series: Mapping[str, int]) -> tuple[alt.Stroke, alt.Shape]:
    """Colour and shape for a record's `series`, in one legend; no legend where there is only one
    series."""
    styles = [style(number) for number in series.values()]
    legend = alt.Legend(symbolFillColor="transparent") if len(series) > 1 else None

    def scale(of: int) -> alt.Scale:
        return alt.Scale(domain=list(series), range=[each[of] for each in styles])

    stroke, shape = alt.Stroke("series:N"), alt.Shape("series:N")
    return stroke.scale(scale(0)).legend(legend), shape.scale(scale(1)).legend(legend)


def technique_styles(panels: Iterable[Iterable[Cell]]) -> dict[str, int]:
    """By technique the number of its style in a chart of these panels: that of its strategy, or,
    where two techniques of a panel would then look alike, one of its own."""
    found, is_alike = dict[str, int](), False
    for panel in panels:
        its = {study.technique(cell): STYLES.get(cell.strategy, 0) for cell in panel}
        is_alike |= len({*its.values()}) < len(its)
        found |= its
    return {label: number for number, label in enumerate(found)} if is_alike else found


def log_axis(low: float, high: float) -> dict[str, Any]:
    """The ticks of a logarithmic axis between two values above 0. Of more ticks than `tickCount`
    Vega leaves out every second one, until there are as few: 2, 10, 50."""
    ticks = log_ticks(low, high)
    return {"values": ticks, "tickCount": len(ticks)}


def log_ticks(low: float, high: float) -> list[float]:
    """Ticks between two values above 0: 1, 2 and 5 times the powers of ten. Over many powers of ten
    only these themselves; more ticks where there would be fewer than two."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)

    def between(*steps: float) -> list[float]:
        ticks = (float(f"{step}e{power}") for power in powers for step in steps)
        return [tick for tick in ticks if low <= tick <= high]

    found = between(1, 2, 5) if high < _MANY_POWERS * low else between(1)
    return found if len(found) > 1 else between(1, 1.5, *range(2, 10))


def style(number: int) -> tuple[str, str]:
    """The colour and the shape of a number; where colours start again they have other shapes."""
    shape = number + number // len(PALETTE)
    return PALETTE[number % len(PALETTE)], SHAPES[shape % len(SHAPES)]
