"""A load whose rate and response times are known, as the generator would have recorded it, through
the whole analysis; and the same check on analyses that were broken on purpose, each of which must
fail it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from fixture_run import Made, build, cell, steady_load

from restbench.analyse import estimates, measures
from restbench.analyse.measures import Row
from restbench.store.store import Run
from restbench.store.trials import Microseconds, Trial

CELL = cell("java serial low 10")
#: More than the cell has: enough completions for a p99 in a short block.
USERS, BLOCKS = 300, 3
SECONDS, WARM_S = 2.0, 1.0
#: Each block at another level, as a machine's drift makes them: what pooling would mix.
LEVELS_MS = (4.0, 5.0, 20.0)
#: Response times are level x lognormal(0, 0.8): their quantiles are known.
SPREAD = 0.8
NORMAL_P99 = 2.3263478740
#: One answer of twenty is refused.
ERROR_SHARE = 0.05


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Three blocks, each of more than 20 000 completions in 2 s: enough for a p99."""
    made = [Made(CELL, steady_load(10, 50), block=block + 1) for block in range(BLOCKS)]
    built = build(tmp_path_factory.mktemp("honesty") / "run", made)
    generator = np.random.default_rng(2019)
    trials = [
        closed_load(each, level_ms, generator)
        for each, level_ms in zip(built.trials.trials(), LEVELS_MS, strict=True)
    ]
    for each in trials:
        built.trials.begin(each.block, "now", {})
        built.trials.add([each])
        built.trials.finish(each.block, "later")
    return built


def closed_load(template: Trial, level_ms: float, generator: np.random.Generator) -> Trial:
    """Users without think time; what ends between 1 and 3 s is kept."""
    times_ms = level_ms * generator.lognormal(0, SPREAD, (USERS, 2_000))
    ends_s = times_ms.cumsum(axis=1) / 1_000
    kept = (ends_s > WARM_S) & (ends_s <= WARM_S + SECONDS)
    refused = generator.random(times_ms.shape) < ERROR_SHARE
    elapsed_us = np.sort((1_000 * times_ms[kept & ~refused]).astype(np.int64))
    errors = int((kept & refused).sum())
    return replace(template, seconds=SECONDS, elapsed_us=elapsed_us, errors=errors)


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
    honest = estimates.of_trials

    def everything(block: int, trials: Sequence[Trial], *others: object) -> object:
        counted = [
            replace(each, elapsed_us=np.append(each.elapsed_us, np.zeros(each.errors, np.int64)))
            for each in trials
        ]
        return honest(block, counted, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(estimates, "of_trials", everything)
    assert "throughput_per_s" in faults(run)


def test_dropping_the_slowest_percent_would_be_found(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = estimates.percentile_ms

    def without_the_slowest(sorted_us: Microseconds, percent: int) -> float | None:
        known = honest(sorted_us, percent)
        return known and honest(sorted_us[: int(0.99 * sorted_us.size)], percent)

    monkeypatch.setattr(estimates, "percentile_ms", without_the_slowest)
    assert "p99_ms" in faults(run)


def test_pooling_percentiles_over_blocks_would_be_found(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = Row.value

    def pooled(self: Row, metric: str) -> float | None:
        if metric not in ("p50_ms", "p99_ms"):
            return honest(self, metric)
        elapsed_us = np.concatenate([each.elapsed_us for each in run.trials.trials()])
        percent = float(metric.strip("p_ms"))
        return float(np.percentile(elapsed_us, percent, method="inverted_cdf")) / 1_000

    monkeypatch.setattr(Row, "value", pooled)
    assert {"p50_ms", "p99_ms"} & faults(run)
