"""Do 95 % intervals cover 95 %? Runs whose true mean is known, through Row.interval and the real
comparison; and the same checks on a pipeline that was broken on purpose, which must fail them.

Runs are told by their throughput in each of 60 seconds, so that thousands of them can be judged.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from fixture_run import Made, build, cell, steady_load

from restbench.analyse import comparison, measures
from restbench.analyse.measurement import Measurement
from restbench.analyse.measures import Row
from restbench.experiment.cell import Shape
from restbench.experiment.statistics import Interval, t_interval
from restbench.judge.verdicts import verdict

STUDIES, BLOCKS, SECONDS = 1_500, 5, 60
TRUE = 100.0
CELL = cell("java serial low 10")
Numbers = npt.NDArray[np.float64]
Runs = Callable[[np.random.Generator], Numbers]
#: The seconds of the runs that a row was made of, by its blocks' throughputs.
SECONDS_OF: dict[tuple[float | None, ...], Numbers] = {}


def lognormal(generator: np.random.Generator) -> Numbers:
    """Runs that differ by 10 %, skewed to the right; seconds of a run are independent."""
    spread = 0.10
    level = TRUE * generator.lognormal(-(spread**2) / 2, spread, (STUDIES, BLOCKS, 1))
    return level * generator.lognormal(-0.02, 0.2, (STUDIES, BLOCKS, SECONDS))


def autocorrelated(generator: np.random.Generator) -> Numbers:
    """AR(1) with 0.6: what a second tells of the next one."""
    series = np.empty((STUDIES, BLOCKS, SECONDS))
    series[..., 0] = generator.normal(size=(STUDIES, BLOCKS))
    for n in range(1, SECONDS):
        noise = np.sqrt(1 - 0.6**2) * generator.normal(size=(STUDIES, BLOCKS))
        series[..., n] = 0.6 * series[..., n - 1] + noise
    return TRUE + 10 * series


def with_collections(generator: np.random.Generator) -> Numbers:
    """In one second of ten a garbage collection takes 40 %; collections come in runs of three."""
    starts = generator.random((STUDIES, BLOCKS, SECONDS + 2)) < 1 / 30
    paused = starts[..., 2:] | starts[..., 1:-1] | starts[..., :-2]
    share = 1 - (1 - 1 / 30) ** 3
    return TRUE / (1 - 0.4 * share) * np.where(paused, 0.6, 1.0)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Measurement:
    """A real measurement; each simulated run replaces its throughput and its course."""
    path: Path = tmp_path_factory.mktemp("coverage") / "run"
    run = build(path, [Made(CELL, steady_load(10, 50))])
    return measures.rows(run)[0].measurements[0]


def row_of(template: Measurement, runs: Numbers) -> Row:
    """One study: a block a run."""
    measured = tuple(
        template.model_copy(
            update={
                "block": block,
                "seconds": SECONDS,
                "throughput_per_s": float(seconds.mean()),
            }
        )
        for block, seconds in enumerate(runs, start=1)
    )
    row = Row(CELL, Shape(rows=30, inner=20, columns=20), (), measured)
    SECONDS_OF[_key(row)] = runs
    return row


def _key(row: Row) -> tuple[float | None, ...]:
    return tuple(each.throughput_per_s for each in row.measured)


def coverage(template: Measurement, runs: Runs) -> float:
    """The share of studies whose interval holds the true mean."""
    studies = runs(np.random.default_rng(2019))
    intervals = [row_of(template, each).interval("throughput_per_s") for each in studies]
    return float(
        np.mean([each is not None and each.low <= TRUE <= each.high for each in intervals])
    )


def different_in_a_a(template: Measurement) -> float:
    """The share of differences between two halves of the same cell's runs."""
    first, second = (lognormal(np.random.default_rng(seed)) for seed in (1, 2))
    verdicts = []
    for one, two in zip(first[:400], second[:400], strict=True):
        rows = [row_of(template, each) for each in (one, two)]
        compared = comparison.paired(*(comparison.series(row, "throughput_per_s") for row in rows))
        verdicts.append(verdict(compared, "greater"))
    return sum(each in ("reproduced", "contradicted") for each in verdicts) / len(verdicts)


def within_run(row: Row, metric: str) -> Interval:
    """What rule 1 forbids: every second of every run taken for a replicate."""
    return t_interval(SECONDS_OF[_key(row)].ravel())


def seconds_of(row: Row, metric: str) -> comparison.Series:
    """The same mistake in a comparison."""
    return comparison.Series(dict(enumerate(SECONDS_OF[_key(row)].ravel().tolist())))


@pytest.mark.parametrize("runs", [lognormal, autocorrelated, with_collections])
def test_nominal_95_percent_intervals_over_runs_cover_93_to_97(
    template: Measurement, runs: Runs
) -> None:
    assert 0.93 <= coverage(template, runs) <= 0.97


@pytest.mark.parametrize("runs", [lognormal, autocorrelated, with_collections])
def test_intervals_within_runs_would_fail_the_coverage_check(
    template: Measurement, runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Row, "interval", within_run)
    assert coverage(template, runs) < 0.90


def test_a_cell_compared_with_itself_is_seldom_called_different(template: Measurement) -> None:
    assert different_in_a_a(template) <= 0.05


def test_comparing_seconds_instead_of_runs_would_fail_the_a_a_check(
    template: Measurement, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "series", seconds_of)
    assert different_in_a_a(template) > 0.05
