"""A run in which a strategy chooses: what its numbers and its page say, from raw data on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import pytest
from fixture_run import EXPERIMENT, Made, Sample, build, cell, steady_load
from shown_run import findings, page_of, part_of, picture_of

from restbench.analyse import measures
from restbench.show import files
from restbench.store.store import Run

CHOOSING = (
    EXPERIMENT.replace(
        "[profiles.quick]", "[mixes]\nmix = { low = 0.75, medium = 0.25 }\n[profiles.quick]"
    )
    .replace('strategy = ["serial", "pinned"]', 'strategy = ["serial", "pinned", "adaptive"]')
    .replace('complexity = ["low", "medium"]', 'complexity = ["low", "medium", "mix"]', 1)
    .split("[[figures]]")[0]
)


def told(samples: list[Sample], kinds: list[str]) -> list[Sample]:
    """Samples in microseconds, of these kinds in turn."""
    turn: Iterator[str] = cycle(kinds)
    return [
        replace(each, kind=next(turn), elapsed_us=1000 * each.elapsed_ms + 250) for each in samples
    ]


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
            told(steady_load(10, each), ["low"] * 3 + ["medium"] if "mix" in name else ["low"]),
        )
        for name, each in elapsed_ms.items()
    ]
    return build(tmp_path_factory.mktemp("choosing") / "run", made, experiment=CHOOSING)


def test_each_kind_of_a_mix_has_its_part_of_the_window(run: Run) -> None:
    (mix,) = (row for row in measures.rows(run) if row.cell.id == "java-serial-unbound-mix-10u")
    (measured,) = mix.measured
    assert mix.shape is None
    assert measured.kinds["low"].completions == pytest.approx(
        3 * measured.kinds["medium"].completions, 0.1
    )
    assert measured.kinds["low"].mean_ms == pytest.approx(50.25)
    assert measured.mean_ms == pytest.approx(50.25), "in the finer clock"


def test_the_page_says_what_choosing_costs_and_has_each_comparison(run: Run) -> None:
    page = page_of(run)
    answer = part_of(page, "answer")
    assert "is shown to reach 97 % of the best fixed technique in Java in 0 of 2 cells" in answer
    assert "Ratios of throughput to the best fixed technique over 1 block: no interval" in answer
    assert picture_of(page) == "regret-throughput"
    assert "chart-overview" in page[page.index('id="places"') :]
    part = part_of(page, "regret")
    assert "Largest regret 10." in part
    assert "java mix: low 10 p95" in part
    assert "A share is above 1 where choosing is better" in part


def test_there_is_a_table_of_it_where_something_chooses(run: Run, tmp_path: Path) -> None:
    fixed = build(tmp_path / "run", [Made(cell("java serial low 10"), steady_load(10, 50))])
    for each in (run, fixed):
        files.write_tables(findings(each))
    assert (run.regret_csv.exists(), fixed.regret_csv.exists()) == (True, False)
