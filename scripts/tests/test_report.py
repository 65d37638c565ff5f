"""The page as a file: alone, the same every time, its charts drawn from data of its own."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from pathlib import Path

import pytest
from fixture_run import Made, build, cell, steady_load
from page_under_test import Page, data_of, page_of, small_run

from restbench.show import report, tables
from restbench.store.store import Run

VENDOR = Path(report.__file__).parent / "templates" / "vendor"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return small_run(tmp_path / "run")


def own_part(text: str) -> str:
    """The page without the chart library."""
    library = text.index("Licensed to the Apache Software Foundation")
    return text[:library] + text[text.index('"use strict";\n', library) :]


def test_the_page_needs_no_network_and_no_other_file(run: Run) -> None:
    text = page_of(run)
    page = Page(text)
    loading = [tag for tag, _ in page.elements if tag in {"link", "img", "iframe", "object"}]
    assert loading == []
    assert not page.values("src")
    assert not re.search(r"@import|url\((?!#)", own_part(text))
    assert not [link for link in page.values("href") if "//" in link]
    (policy,) = [each for each in page.values("content") if "default-src" in each]
    assert policy.startswith("default-src 'none';"), "a browser would refuse to load anything"


def test_the_chart_library_is_the_one_its_readme_names() -> None:
    vendor = VENDOR / "echarts.min.js"
    readme = (VENDOR / "README.md").read_text(encoding="utf-8")
    assert hashlib.sha256(vendor.read_bytes()).hexdigest() in readme
    assert b"</script" not in vendor.read_bytes().lower(), "it stands inside the page"


def test_the_page_is_the_same_bytes_every_time(run: Run) -> None:
    assert page_of(run) == page_of(run)


def test_the_data_cannot_end_their_element(run: Run) -> None:
    definition = run.experiment_file.read_text(encoding="utf-8")
    harmful = definition.replace("S (serial)", "</script><!--")
    run.experiment_file.write_text(harmful, encoding="utf-8")
    assert data_of(page_of(run))["figures"]
    assert "</script><!--" not in page_of(run)


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


def test_ids_are_unique(run: Run) -> None:
    page = Page(page_of(run))
    repeated = [each for each, count in Counter(page.values("id")).items() if count > 1]
    assert repeated == []


def test_the_seven_parts_stand_in_their_order(run: Run) -> None:
    sections = re.findall(r'<section id="([^"]+)">', page_of(run))
    assert sections == ["answer", "audit", "claims", "study", "stages", "cells", "provenance"]


def test_a_figure_has_its_points_with_their_cells(run: Run) -> None:
    figure = data_of(page_of(run))["figures"]["15"]
    (line,) = figure["panels"][0]["lines"]
    assert line["label"] == "S serial"
    assert line["points"] == [
        [10, 200, None, 0, "java-serial-unbound-low-10u"],
        [30, None, None, 0, "java-serial-unbound-low-30u"],
    ]


def test_a_point_of_several_blocks_has_both_ends_of_its_interval(tmp_path: Path) -> None:
    serial = cell("java serial low 10")
    blocks = [Made(serial, steady_load(10, 50)), Made(serial, steady_load(10, 40), block=2)]
    data = data_of(page_of(build(tmp_path / "run", blocks)))
    point = data["figures"]["15"]["panels"][0]["lines"][0]["points"][0]
    assert point == [10, 225, [-92.66, 542.7], 0, "java-serial-unbound-low-10u"]


def test_the_stages_add_up_to_the_mean(run: Run) -> None:
    (bar,) = [each for each in data_of(page_of(run))["stages"] if "low-10u" in each["cell"]]
    assert bar["group"] == "java, low"
    assert sum(bar["ms"]) == pytest.approx(50, rel=1e-3)


def test_every_chart_says_how_to_read_it_and_how_not(run: Run) -> None:
    text = page_of(run)
    for figure in re.findall(r"<figure.*?</figure>", text, flags=re.DOTALL):
        assert "<b>Read:</b>" in figure
        assert "<b>Do not read:</b>" in figure
