"""When a window ends, how long a run takes, which cores who gets: pure decisions."""

from __future__ import annotations

import pytest

from restbench.estimate import Estimator, expected_seconds, total_seconds
from restbench.experiment import Profile, Where, load
from restbench.placement import Cores, core_list, place
from restbench.plan import plan
from restbench.progress import duration
from restbench.store import experiment_file
from restbench.window import window_over

PROFILE = Profile(
    blocks=1,
    service_warmup_s={"java": 0, "python": 0},
    warmup_s=1,
    window_min_s=2,
    window_max_s=4,
    slow_window_max_s=8,
    enough_completions=1000,
)


@pytest.mark.parametrize(
    ("elapsed_s", "completions", "ended"),
    [
        (1.9, 5000, None),
        (2.0, 1000, "enough"),
        (3.9, 999, None),
        (4.0, 999, "capped"),
        (4.0, 30, "capped"),
        (4.0, 29, None),
        (7.9, 0, None),
        (8.0, 0, "capped"),
    ],
)
def test_a_window_ends_with_enough_or_at_the_cap_that_its_count_deserves(
    elapsed_s: float, completions: int, ended: str | None
) -> None:
    assert window_over(elapsed_s, completions, PROFILE) == ended


def test_with_fewer_than_four_cores_load_and_service_share_all_of_them() -> None:
    cores = place("unbound", (0, 1))
    assert cores == Cores(service=(0, 1), load=(0, 1))
    assert cores.shared


def test_with_four_cores_the_load_generator_has_one_of_its_own() -> None:
    cores = place("unbound", (0, 1, 2, 3))
    assert cores == Cores(service=(0, 1, 2), load=(3,))
    assert not cores.shared


def test_bound_to_core_0_means_the_lowest_core_we_may_use() -> None:
    assert place("core0", (2, 3)) == Cores(service=(2,), load=(2, 3))
    assert core_list((2, 3)) == "2,3"


def test_the_estimate_after_a_tenth_scales_the_rest_by_what_the_tenth_took() -> None:
    estimator = Estimator(expected_s=[10.0] * 20, after_s=7.0)
    for _ in range(2):
        estimator.done(12.0)
    assert estimator.to_go_s() == pytest.approx(18 * 12.0 + 7.0)


def test_before_anything_is_measured_the_estimate_is_the_plan_s() -> None:
    assert Estimator(expected_s=[1.0, 2.0]).to_go_s() == 3.0


def test_each_service_process_of_a_plan_is_paid_for_once() -> None:
    thesis = load(experiment_file("thesis"))
    profile = thesis.profile("quick")
    planned = plan(thesis, 1, Where())
    seconds = expected_seconds(planned, profile)
    starts = [i for i, each in enumerate(planned) if i == 0 or seconds[i] > 11]
    assert len(seconds) == 123
    assert len(starts) == 3


def test_the_quick_profile_is_planned_within_fifteen_minutes() -> None:
    thesis = load(experiment_file("thesis"))
    planned = plan(thesis, 1, Where())
    assert total_seconds(planned, thesis.profile("quick")) < 15 * 60


def test_smoke_is_planned_within_two_minutes() -> None:
    smoke = load(experiment_file("smoke"))
    assert total_seconds(plan(smoke, 1, Where()), smoke.profile("smoke")) < 120


@pytest.mark.parametrize(
    ("seconds", "text"), [(48.4, "48 s"), (725, "12 min 05 s"), (3725, "1 h 02 min"), (-1, "0 s")]
)
def test_durations_are_for_reading(seconds: float, text: str) -> None:
    assert duration(seconds) == text
