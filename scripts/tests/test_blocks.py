"""Whole runs of several blocks against stubs: fresh services, the claims' hash, the stop rule."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from stub_bench import Bench

from restbench.records import Manifest

CLAIMS = """
title = "What this run is held against"
margin = 0.05
[[claims]]
id = "X1"
text = "Whatever comes next is faster"
reading = "Not to be tested yet."
awaits = "what comes next"
"""


def run_with(bench: Bench, precision: float, fault: str) -> Manifest:
    """Three blocks or up to four, until throughputs are as precise as asked."""
    path = Path(bench.experiment({"java": ["serial"]}))
    rule = f"blocks = 3\nblocks_max = 4\nprecision = {precision}"
    text = path.read_text().replace("blocks = 1", rule).replace("max_s = 5.0", "max_s = 2.5")
    path.write_text(text.replace("seed = 3", 'seed = 3\nclaims = "held.toml"'))
    path.with_name("held.toml").write_text(CLAIMS)
    done = bench.restbench("run", str(path), "--profile", "p", faults={"serial": fault})
    assert done.returncode == 0, done.stdout + done.stderr
    assert ("block 4: precision lacks: 4 measurements in all" in done.stdout) == (precision < 0.5)
    return bench.latest.manifest()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_a_run_ends_after_its_fewest_blocks_when_they_are_precise(bench: Bench) -> None:
    manifest = run_with(bench, 0.999, "slower")  # so slow that a busy machine is no slower
    assert [each.block for each in manifest.plan] == [1, 2, 3]
    assert manifest.stopped == "1 of 1 cells are within 99.9% after 3 blocks"


def test_a_run_that_is_not_precise_goes_on_to_its_last_block_and_says_so(bench: Bench) -> None:
    manifest = run_with(bench, 0.0000001, "slow")
    assert [each.block for each in manifest.plan] == [1, 2, 3, 4]
    assert manifest.stopped == "0 of 1 cells are within 0.0% after 4 blocks"
    pids = [record.service_pids for record, _ in bench.latest.cell_runs()]
    assert len(set(pids)) == 4, "each block has a service process of its own"
    assert all(record.before is not None for record, _ in bench.latest.cell_runs())
    held = bench.latest.claims_file.read_bytes()
    assert held == CLAIMS.encode()
    assert manifest.claims_sha256 == hashlib.sha256(held).hexdigest()
