"""Charts that only other kinds of experiment have, drawn in a real Chromium: no complaint, no wider
than their place, and what a reader hides is gone."""

from __future__ import annotations

import json
import shutil

import pytest
from designs import JAIN_18, of
from npb_shown import scaled
from page_in_browser import PATIENCE_MS
from playwright.sync_api import sync_playwright
from synthetic_rows import around, row

from restbench.judge import regret
from restbench.show.charts import kernels, theme
from restbench.show.charts.theme import Chart
from restbench.show.kinds import factorial
from restbench.show.kinds import study as shown

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium: make chromium")
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
DRAW = """async (specs) => Promise.all(specs.map((spec) => {
  const place = document.body.appendChild(document.createElement("div"));
  return window.drawChart(place, spec);
}))"""
FACTS = """() => [...document.querySelectorAll(".plot")].map((plot) => ({
  width: plot.querySelector("svg").getBoundingClientRect().width,
  place: plot.parentElement.clientWidth,
  marks: plot.querySelectorAll("path").length,
}))"""


def charts() -> list[Chart]:
    rows = [
        row(f"java {strategy} low {users}", around(rate))
        for users in (10, 30)
        for strategy, rate in (("adaptive", 97.0), ("serial", 100.0), ("pinned", 60.0))
    ]
    found = [
        *shown.charts_of(regret.choosing(rows).regrets),
        *factorial.charts(of(JAIN_18, model="additive", response="mean_ms")),
        kernels.time(scaled("java", "shared-pool", {1: 4.0, 2: 2.0})),
    ]
    return [chart for chart in found if chart]


@pytest.mark.parametrize("width_px", [400, 1280])
def test_charts_of_every_kind_of_experiment_are_drawn(width_px: int) -> None:
    specs = [json.loads(json.dumps(theme.spec(chart))) for chart in charts()]
    assert len(specs) == 4
    complaints: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"], timeout=PATIENCE_MS
        )
        page = browser.new_page(viewport={"width": width_px, "height": 900})
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        head = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        page.set_content(f"<!doctype html>{head}<script>{theme.library()}</script>")
        page.evaluate(DRAW, specs)
        for facts in page.evaluate(FACTS):
            assert facts["width"] <= facts["place"] + 1
            assert facts["marks"] > 2
        browser.close()
    assert complaints == []
