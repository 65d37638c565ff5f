"""How every chart looks, and its two forms: an SVG file and the chart of a page.

A definition has the colours of the light scheme; `DARK` has one of the dark scheme for each: a
style sheet in an SVG file, a replacement in the page (`mount.js`).
"""

from __future__ import annotations

import json
import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, TypeAlias
from xml.sax.saxutils import escape

import altair as alt
import vl_convert

View: TypeAlias = alt.Chart | alt.LayerChart | alt.FacetChart

INK, SOFT, FAINT, PAPER, ON_STRONG = "#1b1f24", "#57606a", "#d5d9de", "#fefefe", "#ffffff"
#: Okabe and Ito's, darkened where white paper needs it; with Tol's wine, a grey and ink.
PALETTE = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#b8558d",
    "#b57d00",
    "#2b93cf",
    "#6b7280",
    "#882255",
    "#101418",
)
_STAR = "M0,-1L.25,-.3L1,-.3L.4,.15L.6,.85L0,.43L-.6,.85L-.4,.15L-1,-.3L-.25,-.3Z"
#: A shape a colour: colour is never the only cue.
SHAPES = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "triangle-down",
    "cross",
    "triangle-right",
    "triangle-left",
    _STAR,
)
#: From as good as the best to far from it; numbers are written on the first two in ON_STRONG.
RAMP = ("#0b4a8f", "#3b7cbd", "#8ab6de", "#bfd6ed", "#dfe9f4", "#f1f4f7")
DARK = {
    INK: "#e6e8eb",
    SOFT: "#a3abb5",
    FAINT: "#3a4048",
    PAPER: "#16191d",
    ON_STRONG: "#0e1013",
    **dict(
        zip(
            PALETTE + RAMP,
            (
                *("#4aa3df", "#f0803c", "#2fbf95", "#dd92bb", "#e6a82a", "#8fcdf2"),
                *("#9aa3ad", "#e0679f", "#f4f6f8"),
                *("#8cc8ff", "#4f93d6", "#2f669f", "#254b70", "#1e3347", "#1b242e"),
            ),
            strict=True,
        )
    ),
}
#: The number of each technique's colour and shape, the same in every chart. Techniques of the two
#: services that share one do the same thing, and never share a panel.
STYLES = {
    "serial": 0,
    "thread-pool": 1,
    "process-per-element": 1,
    "pinned": 2,
    "process-per-request": 2,
    "pipeline": 3,
    "thread-per-element": 4,
    "executor-per-element": 4,
    "shared-pool": 5,
    "executor-per-request": 5,
    "fork-join": 6,
    "virtual-threads": 7,
    "adaptive": 8,
}
_VEGA_LITE = "6.4"
_SVG_WIDTH_PX, _PANEL_LEAST_PX = 700, 60
_CAPTION_CHARACTERS, _TITLE_CHARACTERS = 112, 84
_FONT = "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
_AXIS = {
    "labelColor": SOFT,
    "titleColor": SOFT,
    "titleFontWeight": "normal",
    "domainColor": FAINT,
    "tickColor": FAINT,
    "gridColor": FAINT,
    "labelFontSize": 11,
    "titleFontSize": 11,
}
_CONFIG: dict[str, Any] = {
    "aria": False,
    "background": "transparent",
    "font": _FONT,
    "padding": 2,
    "view": {"stroke": None},
    "axis": _AXIS,
    "axisX": {"grid": False},
    "legend": {
        "labelColor": INK,
        "titleColor": SOFT,
        "orient": "top",
        "columns": 3,
        "labelLimit": 260,
        "labelFontSize": 11,
    },
    "title": {
        "color": INK,
        "subtitleColor": INK,
        "anchor": "start",
        "fontSize": 12,
        "frame": "group",
    },
    "text": {"color": INK, "fontSize": 11},
    "line": {"strokeWidth": 1.6},
    "rule": {"color": SOFT},
}


@dataclass(frozen=True)
class Chart:
    """A chart of one or more panels. All that a reader needs stands in it, none of it in a file."""

    name: str
    """Of its SVG file: `figure-14`."""
    title: str
    caption: str
    description: str
    """What a screen reader says in the place of the picture."""
    panels: tuple[View, ...]
    columns: int = 3
    """Panels side by side where there is room for them."""
    panel_px: int = 240
    """The width below which fewer of them stand side by side."""
    series: Mapping[str, int] | None = None
    """What a reader can hide: each name with the number of its style."""
    domains: tuple[Mapping[str, Sequence[float]], ...] = ()
    """Of each panel the ends of the vertical axis, `linear` and `log`: a page can change it."""
    is_log: bool = False


def spec(chart: Chart) -> dict[str, Any]:
    """The chart as Vega-Lite, for `drawChart` of `library`; its data are in it."""
    panels = alt.concat(*chart.panels, columns=chart.columns, spacing=18)
    if chart.series is not None:
        panels = panels.add_params(alt.param(name="hidden", value=[]))
    described: dict[str, Any] = panels.to_dict()
    described["config"] = _CONFIG
    described["description"] = chart.description
    described["usermeta"] = {
        "panel_px": chart.panel_px,
        "columns": chart.columns,
        "series": [[name, *style(number)] for name, number in (chart.series or {}).items()],
        "domains": [dict(each) for each in chart.domains],
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
    start, end, rest = _drawn(described).partition(">")
    return f"{start}{end}{head}{rest}\n"


def sized(described: Mapping[str, Any], width_px: int) -> dict[str, Any]:
    """A chart of `spec` so wide, as `mount.js` does it: what axes take is known once drawn."""
    panels, meta = described["concat"], described["usermeta"]
    columns = max(1, min(meta["columns"], len(panels), width_px // meta["panel_px"]))

    def within(axes_px: int) -> dict[str, Any]:
        width = max(_PANEL_LEAST_PX, (width_px - axes_px) // columns)
        return {
            **described,
            "columns": columns,
            "concat": [{**panel, "width": width} for panel in panels],
        }

    at_first = re.search(r'width="([\d.]+)"', _drawn(within(0)))
    assert at_first is not None  # noqa: S101 - an SVG document has a width
    return within(max(0, math.ceil(float(at_first[1])) - width_px))


def _drawn(described: dict[str, Any]) -> str:
    """As SVG, numbers in hundredths of a pixel."""
    text: str = vl_convert.vegalite_to_svg(described, vl_version=_VEGA_LITE)
    return re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", text)


@cache
def library() -> str:
    """All the JavaScript of a page with charts: Vega, Vega-Lite, Vega-Embed and `drawChart(place,
    spec)`. About 0.9 MB, the same bytes every time, nothing is loaded from elsewhere."""
    mount = resources.files(__package__).joinpath("mount.js").read_text(encoding="utf-8")
    snippet = f"const DARK = {json.dumps(DARK)};\n{mount}"
    text = f"(() => {{{vl_convert.javascript_bundle(snippet, _VEGA_LITE)}}})();\n"
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def style(number: int) -> tuple[str, str]:
    """The colour and the shape of a number; both start again where there are more than these."""
    return PALETTE[number % len(PALETTE)], SHAPES[number % len(SHAPES)]
