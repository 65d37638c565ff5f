import pytest

from restbench.analyse import within_run

#: The method's series, with its own batches of five.
SERIES = [101, 103, 102, 104, 106, 105, 103, 101, 99, 98, 97, 99, 100, 102, 103, 101, 100, 98, 99]
SERIES = [*SERIES, 101]


def test_the_diagnostics_are_those_of_batch_means() -> None:
    found = within_run.of(SERIES)
    assert found is not None
    assert found.batches == 10
    assert found.lag1 == pytest.approx(0.76735, abs=5e-6)
    # Means 102, 103, 105.5, 102, 98.5, 98, 101, 102, 99, 100: squares of their deviations sum to
    # 47.4, so s = sqrt(47.4 / 9) = 2.29492; t[.975;9] = 2.26216.
    half_width = 2.26216 * 2.29492 / 10**0.5
    assert found.half_width_pct == pytest.approx(100 * half_width / 101.1, rel=1e-5)


def test_fewer_than_five_batches_of_two_bins_tell_nothing() -> None:
    assert within_run.of([5] * 9) is None
    assert within_run.of([5] * 10) is not None
    assert within_run.of([0] * 40) is None


def test_a_constant_throughput_has_no_width() -> None:
    found = within_run.of([7] * 20)
    assert found is not None
    assert (found.half_width_pct, found.lag1, found.von_neumann) == (0, 0, 0)
