"""A load whose rate and response times are known, as JMeter would have logged it, through the whole
analysis; and the same check on analyses that were broken on purpose, each of which must fail it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from fixture_run import START, WINDOW, Made, build, cell
from jtl_lines import Sample

from restbench.analyse import jtl, measures, samples
from restbench.analyse.counted import Counted
from restbench.analyse.measures import Row
from restbench.store.store import Run
from restbench.tools import synthetic

CELL = cell("java serial low 10")
#: More than the cell has: enough completions for a p99 in the fixture's short window.
USERS, BLOCKS = 300, 3
#: Each block at another level, as a machine's drift makes them: what pooling would mix.
LEVELS_MS = (4.0, 5.0, 20.0)
#: Response times are level x lognormal(0, 0.8): their quantiles are known.
SPREAD = 0.8
NORMAL_P99 = 2.3263478740
#: One answer of twenty is refused.
ERROR_SHARE = 0.05


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Three blocks, each of more than 20 000 completions in its window of 2 s: enough for a p99."""
    made = [Made(CELL, [Sample(START, 1)], block=block + 1) for block in range(BLOCKS)]
    built = build(tmp_path_factory.mktemp("honesty") / "run", made)
    generator = np.random.default_rng(2019)
    for block, level_ms in enumerate(LEVELS_MS, start=1):
        times_ms = level_ms * generator.lognormal(0, SPREAD, 240_000)
        load = synthetic.closed_load(times_ms, USERS, START - 1_000, ERROR_SHARE)
        synthetic.write(built.cell(block, CELL.id).samples, load)
    return built


def expected_p99_ms() -> float:
    """Percentiles are taken in each run, then averaged over runs (rule 8)."""
    return float(np.mean([level * np.exp(SPREAD * NORMAL_P99) for level in LEVELS_MS]))


def expected_p50_ms() -> float:
    """The median of each run is its level."""
    return float(np.mean(LEVELS_MS))


def expected_rate_per_s() -> float:
    """Users over mean time, less the refused."""
    means_ms = [level * np.exp(SPREAD**2 / 2) for level in LEVELS_MS]
    return float(np.mean([1_000 * USERS / mean for mean in means_ms])) * (1 - ERROR_SHARE)


def faults(run: Run) -> set[str]:
    """What of the known truth the analysis does not find. The limits are the calibration's."""
    (row,) = measures.rows(run)
    found = {name: row.value(name) or 0.0 for name in ("p50_ms", "p99_ms", "throughput_per_s")}
    limits = {
        "p50_ms": (expected_p50_ms(), 1 + 0.01 * expected_p50_ms()),
        "p99_ms": (expected_p99_ms(), 2 + 0.01 * expected_p99_ms()),
        "throughput_per_s": (expected_rate_per_s(), 0.01 * expected_rate_per_s()),
    }
    return {name for name, (truth, limit) in limits.items() if abs(found[name] - truth) > limit}


def test_the_analysis_finds_what_is_known(run: Run) -> None:
    assert faults(run) == set()


def test_counting_errors_as_throughput_would_be_found(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = pl.lit("correct", samples.OUTCOMES).alias("outcome")
    monkeypatch.setattr(samples, "_outcome", lambda: everything)
    assert "throughput_per_s" in faults(run)


def test_dropping_the_slowest_percent_would_be_found(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = Counted.percentile

    def without_the_slowest(self: Counted, percent: float) -> float:
        return honest(self, 0.99 * percent)

    monkeypatch.setattr(Counted, "percentile", without_the_slowest)
    assert "p99_ms" in faults(run)


def test_pooling_percentiles_over_runs_would_be_found(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = Row.value

    def pooled(self: Row, metric: str) -> float | None:
        if metric not in ("p50_ms", "p99_ms"):
            return honest(self, metric)
        read = [jtl.read(folder.samples, WINDOW) for _, folder in run.cell_runs()]
        elapsed = [np.repeat(each.correct_ms.values, each.correct_ms.counts) for each in read]
        percent = float(metric.strip("p_ms"))
        return float(np.percentile(np.concatenate(elapsed), percent, method="inverted_cdf"))

    monkeypatch.setattr(Row, "value", pooled)
    assert "p99_ms" in faults(run)


def test_counting_by_starts_instead_of_ends_would_be_found(tmp_path: Path) -> None:
    """A service that answers nothing for the window's first second and everything after it."""
    stalled = [Sample(START + 1_000 + n, 900) for n in range(100)]
    late = [Sample(START + 2_000 + n, 900) for n in range(100)]
    (row,) = measures.rows(build(tmp_path / "run", [Made(CELL, stalled + late)]))
    assert row.value("samples") == 100, "200 started in the window, 100 ended in it"
