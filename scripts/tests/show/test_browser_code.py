"""Which code the browser says was measured: of two builds each its own, and the same only where
that is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page
from several_runs import lay_down, of_level
from two_builds import SAME, laid_down

from restbench.analyse import measures
from restbench.show import export
from restbench.show.browser import site
from restbench.show.browser.document import document

#: What is told of a step between two runs of this code.
TOLD = """codes => codes.map((code) => {
  const step = DATA.steps[0];
  for (const run of [step.before, step.after]) Object.assign(DATA.runs[run], code);
  return stepText(step, "").map((part) => part.textContent ?? part).join("");
})"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two builds whose checkout is of neither of their commits, and eight of one cell with
    a step."""
    folder = tmp_path_factory.mktemp("results")
    run = laid_down(folder / "2026-11-20", {"serial": (SAME, SAME)})
    export.write(run, measures.rows(run), print)
    for day in range(1, 9):
        level = (300 if day < 5 else 200) * (1 + 0.01 * (day % 2))
        lay_down(folder, day, of_level({"java serial low 10": level}), commit="c0de")
    site.write(folder, *site.find(folder))
    return folder


@pytest.fixture
def address(results: Path) -> str:
    return (results / "index.html").as_uri()


def test_a_run_of_two_builds_has_both_commits(results: Path) -> None:
    runs: list[dict[str, Any]] = document(*site.find(results))["runs"]
    assert runs[0]["builds"] == {}
    assert runs[-1]["builds"] == {
        "A": {"commit": "a" * 12, "dirty": False},
        "B": {"commit": "b" * 12, "dirty": True},
    }
    assert runs[-1]["commit"] == "0123456789ab"


def test_each_build_is_shown_with_its_own_commit(page: Page) -> None:
    card = page.locator(".run", has_text="2026-11-20").inner_text()
    assert f"build A {'a' * 12} · build B {'b' * 12} with changes" in card
    page.evaluate("location.hash = 'view=cells&run=2026-11-20'")
    page.locator("#view td .ends", has_text="a" * 12).wait_for()
    assert page.locator("#view td .ends", has_text=f"{'b' * 12} with changes").count() == 1
    assert page.locator("#view td .ends", has_text="0123456789ab").count() == 0
    page.evaluate(f"location.hash = 'view=cells&commit={'a' * 12}'")
    page.locator("#view td .ends", has_text="b" * 12).wait_for(state="detached")
    assert page.locator("#view td .ends", has_text="a" * 12).count() == 1, "filtered by its own"
    page.evaluate("location.hash = 'view=trend&cell=java-serial-unbound-low-10u-B+30x20x20'")
    page.locator(".course td", has_text=f"{'b' * 12} with changes").wait_for()
    labelled = "(ENTRIES.filter(({ id }) => id.endsWith('-B')).map((one) => labelOf(one, [one])))"
    assert page.evaluate(labelled) == ["bbbbbbb 11-21"]


def test_the_code_is_called_the_same_only_where_it_is_known_to_be(page: Page) -> None:
    known = {"commit": "abc", "dirty": False}
    told = page.evaluate(
        TOLD, [known, known | {"dirty": True}, {"commit": "unknown", "dirty": None}]
    )
    assert "two runs of commit abc: the code is the same, so something else has changed" in told[0]
    assert "two runs of commit abc with changes: the code may differ" in told[1]
    assert "two runs of commit unknown: the code may differ" in told[2]
