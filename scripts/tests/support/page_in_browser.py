"""A run whose page has everything a reader may use, and what a browser is asked about it."""

from __future__ import annotations

import shutil
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from fixture_run import Made, build, cell, steady_load
from playwright.sync_api import Page

from restbench.experiment.records import Calibration, CalibrationCheck
from restbench.store.store import EXPERIMENTS, Run
from restbench.store.writing import write_model

#: For whatever the browser takes a moment for, on a machine that is busy.
PATIENCE_MS = 180_000
#: What a screen reader must not find: the impacts of axe.
SERIOUS = ("serious", "critical")
#: Widths in pixels and colour schemes that pages are looked at in.
VIEWS = [(1280, "light"), (1280, "dark"), (400, "light"), (400, "dark")]
#: Each width and each scheme once: no rule of a style sheet is about both.
EACH_ONCE = [VIEWS[0], VIEWS[3]]

#: The elements with text of their own whose contrast with what lies behind them is under 4.5
#: (WCAG 2, AA), each as `text: ratio`.
TOO_FAINT = """() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = (rgb) => rgb.slice(0, 3).map((v) => v / 255)
    .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, n) => sum + v * [0.2126, 0.7152, 0.0722][n], 0);
  // The filled shapes of a chart, each with its place: looked for once.
  const filled = new Map();
  const filledIn = (svg) => {
    if (!filled.has(svg)) {
      const paths = [...svg.querySelectorAll("path[fill^='#']")];
      filled.set(svg, paths.map((path) => [path, path.getBoundingClientRect()]));
    }
    return filled.get(svg);
  };
  // A tile of a chart that the whole of a text lies on.
  const tileOf = (text) => {
    const a = text.getBoundingClientRect();
    return filledIn(text.closest("svg")).findLast(([, b]) => b.left <= a.left
      && b.right >= a.right && b.top <= a.top + 2 && b.bottom >= a.bottom - 2)?.[0];
  };
  const behind = (e) => {
    const tile = e.closest("svg") && tileOf(e);
    if (tile) return parse(getComputedStyle(tile).fill);
    for (; e; e = e.parentElement) {
      const rgb = parse(getComputedStyle(e).backgroundColor);
      if (rgb[3] !== 0) return rgb;
    }
    return [255, 255, 255];
  };
  const own = (e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
  const shown = (e) => e.getClientRects().length && !e.closest("script, style, template");
  return [...document.body.querySelectorAll("*")].filter((e) => own(e) && shown(e)).map((e) => {
    const style = getComputedStyle(e);
    const [a, b] = [parse(e.closest("svg") ? style.fill : style.color), behind(e)].map(light);
    return [e.textContent.trim(), (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)];
  }).filter(([, ratio]) => ratio < 4.5).map(([text, ratio]) => `${text}: ${ratio.toFixed(2)}`);
}"""

#: The names of figures without a chart that has marks and a size.
NOT_DRAWN = """() => {
  const drawn = (figure) => {
    const svg = figure.querySelector(".plot svg");
    return svg?.getBoundingClientRect().height > 50 && svg.querySelectorAll("path").length > 2;
  };
  return [...document.querySelectorAll("figure.chart")].filter((each) => !drawn(each))
    .map((each) => each.id);
}"""

CHECK = CalibrationCheck(
    name="known latency",
    question="Is a delay that is known measured as it is?",
    measured="50 ms as 50.3 ms",
    limit="1 ms + 1 %",
    passed=True,
    values={"p50_ms": 50.3},
)


def varied_run(path: Path) -> Run:
    """Three blocks, several techniques and sizes, errors, a failed cell and one never measured."""
    made = []
    for block in (1, 2, 3):
        loads = {
            "java serial low 10": steady_load(10, 50 + block),
            "java serial low 30": steady_load(30, 90 + block),
            "java serial medium 10": steady_load(10, 200 + block, slow_user_ms=400),
            "java pinned low 10": steady_load(10, 40 + 2 * block),
            "python process-per-element low 10": steady_load(10, 100 + block),
            "python process-per-request low 10": steady_load(10, 25 + block),
            "python process-per-request medium 10": steady_load(10, 480 + 9 * block),
            "python process-per-request low 10 core0": steady_load(10, 40 + block),
        }
        made += [
            Made(cell(name), load, block=block, errors=int(name == "java serial low 30"))
            for name, load in loads.items()
        ]
    failed = Made(cell("java pinned low 30"), failed="cannot pin <core 0>")
    run = build(path, [*made, failed], unmeasured=(cell("java pinned medium 10"),))
    checks = (CHECK, CHECK.model_copy(update={"name": "stall", "passed": False}))
    calibration = Calibration(
        made="2026-11-20T08:00:00+00:00",
        machine={"processor": "A processor"},
        git_commit="0123456789abcdef",
        checks=checks,
        ceiling_per_s=5_000.0,
    )
    write_model(run.calibration_file, calibration)
    shutil.copy(EXPERIMENTS / "claims" / "thesis.toml", run.claims_file)
    return run


def serious(page: Page, *, contrast: bool = True) -> list[tuple[str, str]]:
    """What axe finds that matters; `contrast` is the costliest of its rules, and TOO_FAINT looks at
    more of it, but for text that lets something shine through."""
    rules = {} if contrast else {"color-contrast": {"enabled": False}}
    options = {"resultTypes": ["violations"], "preload": False, "rules": rules}
    found = Axe().run(page, options=options).response["violations"]
    return [(each["id"], each["help"]) for each in found if each["impact"] in SERIOUS]


def wait_until_drawn(page: Page) -> None:
    """A chart is drawn when it comes near the window: each is brought there."""
    for figure in page.locator("figure.chart").all():
        figure.scroll_into_view_if_needed()
        figure.locator(".plot svg").wait_for()
    page.wait_for_function(f"({NOT_DRAWN})().length === 0")
    page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")  # the page's own way takes a while


def open_everything(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    wait_until_drawn(page)
