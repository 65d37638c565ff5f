"""Schedules of an open load."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from restbench.experiment.open_load import Phases, as_text, schedule

PHASES = Phases(warmup_s=2.0, window_s=10.0, tail_s=1.0)


def test_the_same_seed_gives_the_same_schedule_and_another_seed_another() -> None:
    first = schedule("poisson", 100, PHASES, (1, 7))
    assert first.tolist() == schedule("poisson", 100, PHASES, (1, 7)).tolist()
    assert first.tolist() != schedule("poisson", 100, PHASES, (1, 8)).tolist()


@pytest.mark.parametrize("process", ["poisson", "constant"])
def test_the_window_has_exactly_the_stated_rate(process: str) -> None:
    offsets = schedule(process, 123, PHASES, (1,))  # type: ignore[arg-type]
    first, end = PHASES.window_ms
    assert ((offsets >= first) & (offsets < end)).sum() == 1230
    assert len(offsets) == 1230 + 246 + 123
    assert offsets.max() < PHASES.seconds * 1000
    assert (np.diff(offsets) >= 0).all()


def test_poisson_arrivals_have_exponential_gaps() -> None:
    offsets = schedule("poisson", 2.0, Phases(0, 5000, 0), (3,))
    gaps_s = np.diff(offsets) / 1000
    assert stats.kstest(gaps_s, "expon", args=(0, 0.5)).pvalue > 0.01


def test_constant_arrivals_are_evenly_spaced() -> None:
    assert set(np.diff(schedule("constant", 50, PHASES, (1,)))) == {20}


def test_the_load_generator_is_told_microseconds_a_line() -> None:
    assert as_text(np.array([0, 17])) == "0\n17000\n"
