from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
from fixture_run import START, Made, build, cell, steady_load
from jtl_lines import wrong_answer

from restbench import figures, report, tables
from restbench.store import Run


class Page(HTMLParser):
    """Every element's attributes, and the text of table cells by table."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def values(self, attribute: str) -> list[str]:
        return [attrs[attribute] for _, attrs in self.elements if attribute in attrs]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    run = build(
        tmp_path / "run",
        [
            Made(cell("java serial low 10"), steady_load(10, 50), flags=("shared-cores",)),
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


def test_the_page_needs_no_network_and_no_other_file(run: Run) -> None:
    text = page_of(run)
    page = Page(text)
    loading = [tag for tag, _ in page.elements if tag in {"link", "img", "iframe", "object"}]
    assert loading == []
    assert [attrs for tag, attrs in page.elements if tag == "script"] == [{}]
    assert not re.search(r"@import|url\((?!#)", text)
    assert not [link for link in page.values("href") if "//" in link]


def test_every_link_leads_to_something(run: Run) -> None:
    tables.write(run)
    page = Page(page_of(run))
    ids = set(page.values("id"))
    links = page.values("href") + page.values("xlink:href")
    assert "dashboards/java-serial-unbound-low-10u/index.html" in links
    for link in links:
        if link.startswith("#"):
            assert link[1:] in ids, link
        else:
            assert (run.path / link).exists(), link


def test_ids_are_unique_though_several_figures_stand_in_the_page(tmp_path: Path) -> None:
    run = build(
        tmp_path / "run",
        [
            Made(cell("java serial low 10"), steady_load(10, 50)),
            Made(cell("java serial medium 10"), steady_load(10, 50)),
            Made(cell("python process-per-request low 10"), steady_load(10, 50)),
        ],
    )
    assert len(figures.write(run)) == 4
    page = Page(page_of(run))
    assert [tag for tag, _ in page.elements].count("svg") == 4
    repeated = [each for each, count in Counter(page.values("id")).items() if count > 1]
    assert repeated == []


def test_numbers_flags_and_what_failed_are_told(run: Run) -> None:
    text = page_of(run)
    assert '<td class="n" data-value="200.0">200</td>' in text
    assert "cannot pin &lt;core 0&gt;" in text
    assert "pinned-0 may run on 0,1 &lt;both&gt;" in text
    assert '<span class="verdict does-not">DOES NOT</span>' in text
    assert "2 of 4 cells measured" in text
    for flag in ("wrong-answers", "failed", "not-measured"):
        assert '<a class="flag doubt" href="#flags" title="' in text
        assert f'<span class="flag doubt">{flag}</span>' in text
    assert '<span class="flag">shared-cores</span>' in text
    assert "0123456789abcdef0123456789abcdef01234567" in text
    assert "Not in this run: 18, 24, 27." in text


def test_a_void_cell_shows_no_number(run: Run) -> None:
    text = page_of(run)
    matrix = text[text.index('id="matrix"') :]
    (line,) = [row for row in matrix.split("<tr>") if 'T-A02"' in row and '"serial"' in row]
    values = re.findall(r'<td class="n" data-value="([^"]*)">', line)
    assert values[0] == "30", "the users"
    assert values[1:7] == [""] * 6, "throughput, mean and percentiles"


def test_every_planned_cell_is_a_line_of_the_matrix(run: Run) -> None:
    text = page_of(run)
    matrix = text[text.index('<section id="matrix">') : text.index('<section id="observed">')]
    assert matrix.count("<tr>") == 1 + 4


def test_the_service_and_the_machine_are_told(run: Run) -> None:
    observed = page_of(run).split('<section id="observed">')[1]
    assert "blocked 1.0, runnable 5.0" in observed
    assert "1 100 " in observed, "both cores, of sar"


def test_a_page_without_figures_proofs_and_machine_is_still_a_page(tmp_path: Path) -> None:
    made = [Made(cell("python process-per-request low 10"), steady_load(10, 50))]
    run = build(tmp_path / "run", made)
    run.proofs_file.unlink()
    run.machine_file.unlink()
    text = page_of(run)
    assert "No proof was made in this run." in text
    assert "not recorded" in text
    assert "<figure" not in text
