"""Experiment files of open loads."""

from __future__ import annotations

from pathlib import Path

import pytest

from restbench.commands import measuring
from restbench.experiment.experiment import load
from restbench.experiment.open_load import OpenLoad
from restbench.failures import BadConfiguration
from restbench.store import store

SHIPPED = store.experiment_file("open-load")


def changed(folder: Path, old: str, new: str) -> Path:
    text = SHIPPED.read_text(encoding="utf-8")
    assert old in text
    path = folder / "mine.toml"
    path.write_text(text.replace(old, new), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def shipped() -> OpenLoad:
    found = load(SHIPPED).open
    assert found is not None
    return found


def test_the_shipped_file_is_an_experiment_with_a_driver_and_views_of_its_own() -> None:
    experiment = load(SHIPPED)
    assert (experiment.driver, experiment.views) == ("open-load", ["limits"])
    assert {"smoke", "quick", "reference"} <= set(experiment.profiles)
    order = measuring.order_for("open-load", "quick", "", [])
    assert {each.block for each in order.plan} == {1, 2, 3}


def test_a_window_is_as_long_as_the_percentile_needs(shipped: OpenLoad) -> None:
    assert shipped.phases(1000).window_s == shipped.steps.window_min_s
    for rate in (40.0, 55.5, 77.7, 110.0):
        assert round(rate * shipped.phases(rate).window_s) >= 1000


def test_the_walk_goes_to_no_rate_whose_window_cannot_support_the_percentile(
    shipped: OpenLoad,
) -> None:
    lowest = shipped.search().lowest_per_s
    assert round(lowest * shipped.phases(lowest).window_s) >= 1000


def test_from_a_known_limit_the_walk_goes_in_steps_of_its_resolution(shipped: OpenLoad) -> None:
    assert shipped.search().factor == shipped.rates.factor
    assert shipped.search(known_per_s=300.0).factor == 1 + shipped.rates.resolution


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("tail_s = 0.5", "tail = 0.5", "open.steps.tail: unknown key; allowed here are warmup_s"),
        ("percentile = 95", "percentile = 94", "open.objective.percentile"),
        ('arrivals = "poisson"', 'arrivals = "bursts"', "open.arrivals"),
        ('complexity = "medium"', 'complexity = "huge"', "huge"),
        ('"thread-pool", "pinned"', '"threads", "pinned"', "threads"),
        ("factor = 1.4", "factor = 1.0", "open.rates.factor"),
        ('driver = "open-load"\nviews = ["limits"]', "", "driver 'open-load' needs a table"),
        (
            'driver = "open-load"',
            'driver = "wrk"',
            "driver: .*'closed-load', 'open-load', 'engines', 'npb', 'calls'",
        ),
    ],
)
def test_a_wrong_file_is_refused_with_the_key(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    with pytest.raises(BadConfiguration, match=told):
        load(changed(tmp_path, old, new))
