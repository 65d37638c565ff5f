"""Open-load experiment files."""

from __future__ import annotations

from pathlib import Path

import pytest

from restbench.experiment.open_experiment import is_open_load, load, plan
from restbench.failures import BadConfiguration
from restbench.store import store

SHIPPED = store.experiment_file("open-load")


def changed(folder: Path, old: str, new: str) -> Path:
    text = SHIPPED.read_text(encoding="utf-8")
    assert old in text
    path = folder / "mine.toml"
    path.write_text(text.replace(old, new), encoding="utf-8")
    return path


def test_the_shipped_file_is_read_and_known_by_its_kind() -> None:
    experiment = load(SHIPPED)
    assert is_open_load(SHIPPED)
    assert not is_open_load(store.experiment_file("thesis"))
    assert {"smoke", "quick", "full"} <= set(experiment.profiles)
    assert [each.block for each in plan(experiment.all_cells())] == list(
        range(1, len(experiment.all_cells()) + 1)
    )


def test_a_window_is_as_long_as_the_percentile_needs() -> None:
    experiment = load(SHIPPED)
    quick = experiment.profile("quick")
    assert experiment.phases(1000, quick).window_s == quick.window_min_s
    for rate in (20.0, 33.3, 77.7, 110.0):
        assert round(rate * experiment.phases(rate, quick).window_s) >= 1000


def test_the_walk_goes_to_no_rate_whose_window_cannot_support_the_percentile() -> None:
    experiment = load(SHIPPED)
    quick = experiment.profile("quick")
    lowest = experiment.search(quick).lowest_per_s
    assert round(lowest * experiment.phases(lowest, quick).window_s) >= 1000


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("tail_s = 1.0", "tail = 1.0", "tail"),
        ("percentile = 95", "percentile = 94", "objective.percentile"),
        ('arrivals = "poisson"', 'arrivals = "bursts"', "arrivals"),
        ('complexity = "medium"', 'complexity = "huge"', "huge"),
        ('"thread-pool"', '"threads"', "threads"),
        ("factor = 1.6", "factor = 1.0", "rates.factor"),
    ],
)
def test_a_wrong_file_is_refused_with_the_key(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    with pytest.raises(BadConfiguration, match=told):
        load(changed(tmp_path, old, new))


def test_a_profile_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(BadConfiguration, match="smoke, quick, full"):
        load(SHIPPED).profile("long")
