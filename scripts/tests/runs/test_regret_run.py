"""A run in which a strategy chooses: what its numbers and its page say, from raw data on."""

from __future__ import annotations

from pathlib import Path

import pytest
from fixture_run import EXPERIMENT, Made, build, cell, steady_load
from shown_run import page_of, part_of, picture_of

from restbench.analyse import measures
from restbench.store.store import Run
from restbench.store.writing import write_text

CHOOSING = (
    EXPERIMENT.replace(
        "[profiles.quick]", "[mixes]\nmix = { low = 0.75, medium = 0.25 }\n[profiles.quick]"
    )
    .replace('strategy = ["serial", "pinned"]', 'strategy = ["serial", "pinned", "adaptive"]')
    .replace('complexity = ["low", "medium"]', 'complexity = ["low", "medium", "mix"]', 1)
    .split("[[figures]]")[0]
)

CLAIMS = """
title = "What is claimed of choosing"
margin = 0.0309
[[claims]]
id = "F1"
text = "choosing costs nothing"
reading = "r"
[[claims.parts]]
metric = "throughput_per_s"
expect = "not less"
cells = { service = "java", users = 10 }
numerator = { strategy = "adaptive" }
denominator_best = { strategy = ["serial", "pinned"] }
each = { complexity = ["low", "medium", "mix"] }
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Serial 10 % before adaptive at low, adaptive 25 % before serial in the mix."""
    elapsed_ms = {
        "serial low": 36,
        "adaptive low": 40,
        "pinned low": 50,
        "serial mix": 50,
        "adaptive mix": 40,
        "pinned mix": 80,
    }
    made = [
        Made(
            cell(f"java {name} 10"),
            [it + 0.25 for it in steady_load(10, each)],
            kinds=["low", "low", "low", "medium"] if "mix" in name else (),
        )
        for name, each in elapsed_ms.items()
    ]
    run = build(tmp_path_factory.mktemp("choosing") / "run", made, experiment=CHOOSING)
    write_text(run.claims_file, CLAIMS)
    return run


def test_each_kind_of_a_mix_has_its_part_of_the_window(run: Run) -> None:
    (mix,) = (row for row in measures.rows(run) if row.cell.id == "java-serial-unbound-mix-10u")
    (measured,) = mix.measured
    assert mix.shape is None
    assert measured.kinds["low"].completions == pytest.approx(
        3 * measured.kinds["medium"].completions, 0.1
    )
    assert measured.kinds["low"].mean_ms == pytest.approx(50.25)
    assert measured.mean_ms == pytest.approx(50.25), "in the finer clock"


def test_the_page_says_what_choosing_costs_and_has_each_cell(run: Run) -> None:
    page = page_of(run)
    answer = part_of(page, "answer")
    assert "the largest regret of 2 cells is 10." in answer
    assert "(java adaptive low 10u)" in answer
    assert picture_of(page) == "F1-ratios"
    assert "chart-overview" in page[page.index('id="places"') :]
    part = part_of(page, "regret")
    assert "F1, not measured (part: " in part
    assert "java adaptive mix 10u / java serial mix 10u" in part
    assert part.count("medium 10u") == 1, "in the verdict alone: it has no number"
    assert "1 minus the ratio for throughput" in part


def test_the_page_of_a_run_without_such_a_claim_has_no_such_part(tmp_path: Path) -> None:
    fixed = build(tmp_path / "run", [Made(cell("java serial low 10"), steady_load(10, 50))])
    assert 'id="regret"' not in page_of(fixed)
