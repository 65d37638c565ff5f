"""Runs of several blocks: the stop rule at work, fresh services, the claims' hash."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from stub_bench import Bench
from synthetic_rows import row
from test_going_on import View, leave_records

from restbench.analyse import measures
from restbench.commands import ordering
from restbench.schedule import runner
from restbench.store.store import Run

CLAIMS = """
title = "What this run is held against"
margin = 0.05
[[claims]]
id = "X1"
text = "Whatever comes next is faster"
reading = "Not to be tested yet."
awaits = "what comes next"
"""


def experiment(bench: Bench, blocks: int, precision: float) -> str:
    """One cell, in so many blocks or one more, until its throughput is as precise as asked."""
    path = Path(bench.experiment({"java": ["serial"]}))
    rule = f"blocks = {blocks}\nblocks_max = {blocks + 1}\nprecision = {precision}"
    text = path.read_text().replace("blocks = 1", rule)
    path.write_text(text.replace("seed = 3", 'seed = 3\nclaims = "held.toml"'))
    path.with_name("held.toml").write_text(CLAIMS)
    return str(path)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.mark.parametrize(
    ("throughputs", "blocks", "reached"),
    [([100.0, 100.4, 99.6, 100.0], 3, 1), ([100.0, 120.0, 80.0, 100.0], 4, 0)],
)
def test_a_run_ends_after_its_fewest_blocks_where_they_are_precise_else_after_its_last(
    bench: Bench,
    monkeypatch: pytest.MonkeyPatch,
    throughputs: list[float],
    blocks: int,
    reached: int,
) -> None:
    def rows(run: Run) -> list[measures.Row]:
        return [row("java serial tiny 2", throughputs[: len(list(run.cell_runs()))])]

    monkeypatch.setattr(runner, "_measure_group", leave_records)
    monkeypatch.setattr(measures, "rows", rows)
    order = ordering.order_for(experiment(bench, 3, 0.02), "p", "", [])
    manifest = runner.execute(order, Run(bench.folder / "run"), View())  # type: ignore[arg-type]
    assert [each.block for each in manifest.plan] == list(range(1, blocks + 1))
    assert manifest.stopped == f"{reached} of 1 cells are within 2.0% after {blocks} blocks"


@pytest.mark.live
def test_a_run_that_is_not_precise_goes_on_to_its_last_block_and_says_so(bench: Bench) -> None:
    done = bench.restbench("run", experiment(bench, 2, 0.0000001), "--profile", "p")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "block 3: precision lacks: 3 measurements in all" in done.stdout
    manifest = bench.latest.manifest()
    assert [each.block for each in manifest.plan] == [1, 2, 3]
    assert manifest.stopped == "0 of 1 cells are within 0.0% after 3 blocks"
    pids = [record.service_pids for record, _ in bench.latest.cell_runs()]
    assert len(set(pids)) == 3, "each block has a service process of its own"
    assert all(record.before is not None for record, _ in bench.latest.cell_runs())
    held = bench.latest.claims_file.read_bytes()
    assert held == CLAIMS.encode()
    assert manifest.claims_sha256 == hashlib.sha256(held).hexdigest()
