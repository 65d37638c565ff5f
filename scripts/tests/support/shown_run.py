"""What is shown of a run, for a test to read."""

from __future__ import annotations

import io
import re
from html.parser import HTMLParser

from rich.console import Console

from restbench.analyse import measures
from restbench.show import export, report, terminal, views
from restbench.show.findings import Findings
from restbench.store.store import Run


class Page(HTMLParser):
    """Every element of a page with its attributes, and the headings in their order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def values(self, attribute: str) -> list[str]:
        return [attrs[attribute] for _, attrs in self.elements if attribute in attrs]


def findings(run: Run) -> Findings:
    """The run by its `run.json`, made anew of its trials."""
    return views.drawn(export.write(run, measures.rows(run), print), run)


def page_of(run: Run) -> str:
    return report.html(findings(run), "assets")


def part_of(page: str, section: str) -> str:
    """The text of a section of the page, without its elements."""
    found = re.search(rf'<(section|details) id="{re.escape(section)}".*?</\1>', page, re.DOTALL)
    assert found, section
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", found[0]))


def picture_of(page: str) -> str:
    """The name of the chart on the first screen."""
    found = re.search(r'id="chart-([^"]+)"', page.partition("<nav")[0])
    assert found, "no picture"
    return found[1]


def printed(run: Run, width: int = 100) -> str:
    """What the terminal shows."""
    console = Console(width=width, file=io.StringIO(), record=True)
    console.print(terminal.render(findings(run)))
    return console.export_text()
