"""The pages of kept runs, as today's code makes them, in a real Chromium: the charts of every kind
of experiment, each page in one of the widths and colour schemes."""

from __future__ import annotations

from pathlib import Path

import pytest
from kept_runs import PICTURES
from page_in_browser import TOO_FAINT, VIEWS, serious, wait_until_drawn
from playwright.sync_api import Page

from restbench.show import report, views
from restbench.store import exported, store
from restbench.store.store import Run

CASES = [(name, VIEWS[n % len(VIEWS)]) for n, name in enumerate(PICTURES)]
OPEN = "all => all.forEach((one) => { one.open = Boolean(one.querySelector('figure')); })"


@pytest.fixture
def address(name: str, tmp_path: Path) -> str:
    run = Run(store.RESULTS / name)
    made = tmp_path / "report.html"
    found = views.drawn(exported.read(run.exported_file), run)
    made.write_text(report.html(found), encoding="utf-8")
    return made.as_uri()


@pytest.mark.parametrize(("name", "view"), CASES, ids=[name for name, _ in CASES])
def test_the_answer_is_seen_first_and_each_chart_is_drawn_fits_and_is_told_to_a_screen_reader(
    page: Page, name: str, view: tuple[int, str]
) -> None:
    """With everything open that has a chart; `name` is the run of `address`. The sentence and the
    reasons are on the first screen."""
    reasons = page.locator(".reasons").bounding_box()
    assert reasons is not None
    assert reasons["y"] + reasons["height"] <= 900
    page.locator("details").evaluate_all(OPEN)
    wait_until_drawn(page)
    assert page.evaluate("document.documentElement.scrollWidth") == view[0]
    assert page.evaluate(TOO_FAINT) == []
    assert serious(page, contrast=False) == []
