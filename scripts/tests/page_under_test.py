"""The page of a small run, and what tests read of it."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from fixture_run import START, Made, build, cell, steady_load
from jtl_lines import wrong_answer

from restbench.show import figures, report
from restbench.store.store import Run


class Page(HTMLParser):
    """Every element of a page with its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def values(self, attribute: str) -> list[str]:
        return [attrs[attribute] for _, attrs in self.elements if attribute in attrs]


def small_run(path: Path) -> Run:
    """Of four cells two measured, one of them with a wrong answer, one failed and one left out."""
    run = build(
        path,
        [
            Made(cell("java serial low 10"), steady_load(10, 50)),
            Made(cell("java serial low 30"), [*steady_load(30, 90), wrong_answer(START)]),
            Made(cell("java pinned low 10"), failed="cannot pin <core 0>"),
        ],
        unmeasured=(cell("java pinned low 30"),),
    )
    dashboard = run.dashboard("java-serial-unbound-low-10u")
    dashboard.mkdir(parents=True)
    (dashboard / "index.html").write_text("a dashboard")
    figures.write(run)
    return run


def page_of(run: Run) -> str:
    return report.write(run).read_text(encoding="utf-8")


def data_of(text: str) -> Any:
    """What the charts of the page are drawn from."""
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text)
    return json.loads(found)
