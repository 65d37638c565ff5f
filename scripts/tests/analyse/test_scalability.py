"""The Universal Scalability Law and Amdahl's: exact series give themselves back, noisy ones their
published values, and what a law does not describe is not published."""

from __future__ import annotations

import pytest

from restbench.analyse.workers import fit, published

LEVELS = [1, 2, 4, 8, 16, 32, 64]


def at(n: float, kappa: float = 0.001) -> float:
    """X(N) of a rate of 100 and a contention of .05."""
    return 100 * n / (1 + 0.05 * (n - 1) + kappa * n * (n - 1))


SERIES = [at(n) for n in LEVELS]
NOISE = [
    (1.02, 0.99, 1.01, 0.98, 1.00, 1.03, 0.97),
    (0.98, 1.01, 0.99, 1.02, 1.01, 0.97, 1.00),
    (1.00, 1.00, 1.02, 0.99, 0.98, 1.01, 1.03),
]
BLOCKS = [[x * each for x, each in zip(SERIES, factors, strict=True)] for factors in NOISE]
AMDAHL = [100.0, 190.4762, 347.8261, 592.5926, 914.2857, 1254.902, 1542.1687]
PLATEAU = ([1, 2, 3, 4, 6, 8], [410.0, 790.0, 800.0, 795.0, 780.0, 760.0])


def test_an_exact_series_gives_its_parameters_back() -> None:
    found = fit(LEVELS, SERIES)
    assert (found.rate, found.contention, found.coherency) == pytest.approx((100, 0.05, 0.001))
    assert found.rms < 1e-12
    assert found.peak == pytest.approx(30.82207, abs=5e-6)


def test_noisy_blocks_have_their_published_fits() -> None:
    fits = [fit(LEVELS, each) for each in BLOCKS]
    rates, contentions, coherencies = zip(
        *((each.rate, each.contention, each.coherency) for each in fits), strict=True
    )
    assert rates == pytest.approx((100.019416, 99.580932, 100.795790), rel=1e-4)
    assert contentions == pytest.approx((0.048443, 0.048651, 0.053960), rel=1e-3)
    assert coherencies == pytest.approx((0.001057, 0.001038, 0.000892), rel=1e-3)


def test_over_blocks_the_parameters_have_t_intervals() -> None:
    found = published(LEVELS, BLOCKS)
    assert not isinstance(found, str)
    expected = ((100.132, 1.528), (0.050351, 0.007768), (0.00099554, 0.00022308))
    for interval, (mean, half_width), off in zip(found, expected, (1e-4, 1e-3, 1e-3), strict=True):
        assert interval.mean == pytest.approx(mean, rel=off)
        assert interval.half_width == pytest.approx(half_width, rel=1e-3)


def test_amdahls_law_is_the_one_without_coherency() -> None:
    assert [at(n, kappa=0.0) for n in LEVELS] == pytest.approx(AMDAHL)
    found = fit(LEVELS, AMDAHL, amdahl=True)
    assert (found.rate, found.contention, found.coherency) == pytest.approx((100, 0.05, 0))
    assert found.peak == float("inf")


def test_amdahls_law_does_not_describe_a_series_with_a_peak() -> None:
    found = fit(LEVELS, BLOCKS[0], amdahl=True)
    # Published is the root of the SUM of the squares.
    assert found.rms * 7**0.5 == pytest.approx(0.31087, abs=5e-6)
    told = published(LEVELS, BLOCKS, amdahl=True)
    assert isinstance(told, str)
    assert told.startswith("Amdahl's law does not fit these numbers: rms of ln 0.1")


def test_a_plateau_is_not_described() -> None:
    assert fit(*PLATEAU).rms * 6**0.5 == pytest.approx(0.168, abs=5e-4)
    told = published(PLATEAU[0], [PLATEAU[1]] * 3)
    assert isinstance(told, str)
    assert "does not fit these numbers: rms of ln 0.069, allowed 0.05" in told


@pytest.mark.parametrize(
    ("levels", "blocks", "told"),
    [
        ([1, 2, 4, 8, 16], 3, "5 levels, 6 are needed"),
        ([1, 2, 3, 5, 6, 8], 3, "N = 4 is not among the levels"),
        ([1, 2, 3, 4, 6, 8], 2, "2 blocks, 3 are needed for an interval"),
    ],
)
def test_a_fit_that_is_not_published_names_the_condition_that_failed(
    levels: list[int], blocks: int, told: str
) -> None:
    series = [at(n) for n in levels]
    found = published(levels, [series] * blocks)
    assert found == f"the Universal Scalability Law is not fitted: {told}"


def test_more_instances_than_cores_are_no_fit_and_more_users_are() -> None:
    series = [at(n) for n in LEVELS]
    found = published(LEVELS, [series] * 3, cores=8)
    assert found == (
        "the Universal Scalability Law is not fitted: N = 64 is above the number of cores, 8"
    )
    assert published(LEVELS, [series] * 3, cores=64) == published(LEVELS, [series] * 3)


def test_parameters_stay_where_they_have_a_meaning() -> None:
    """A series that grows faster than N would ask for a contention below 0."""
    found = fit(LEVELS, [n**1.2 for n in LEVELS])
    assert found.contention == pytest.approx(0, abs=1e-9)
    assert found.coherency == pytest.approx(0, abs=1e-9)
