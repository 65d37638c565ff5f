"""When a window ends, how long a run takes, which cores who gets: pure decisions."""

from __future__ import annotations

import csv
import itertools
import math
from pathlib import Path

import pytest
from restbench.schedule.estimate import Estimator, expected_seconds, total_seconds

from restbench.drive.load_profile import Profile
from restbench.drive.window import window_over
from restbench.experiment.cell import Cell
from restbench.experiment.experiment import load
from restbench.experiment.plan import plan
from restbench.experiment.records import PlannedCell
from restbench.experiment.selection import Where
from restbench.machine.placement import Cores, core_list, place
from restbench.show.progress import duration
from restbench.store.store import experiment_file

PROFILE = Profile(
    blocks=1,
    service_warmup_s={"java": 0, "python": 0},
    warmup_s=1,
    window_min_s=2,
    window_max_s=4,
    slow_window_max_s=8,
    enough_completions=1000,
)

#: The quick profile of the run in fixtures/durations.csv.
RECORDED_PROFILE = Profile(
    blocks=1,
    service_warmup_s={"java": 1, "python": 1},
    warmup_s=1,
    window_min_s=2,
    window_max_s=2.5,
    slow_window_max_s=5,
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
    estimator = Estimator(expected_s=[10.0] * 20, begun_s=100.0, after_s=7.0)
    for now_s in (112.0, 124.0):
        estimator.done(now_s)
    assert estimator.to_go_s() == pytest.approx(18 * 12.0 + 7.0)


def test_before_anything_is_measured_the_estimate_is_the_plan_s() -> None:
    assert Estimator(expected_s=[1.0, 2.0], begun_s=100.0).to_go_s() == 3.0


def test_the_estimate_after_a_tenth_of_a_recorded_run_is_within_a_quarter_of_the_truth() -> None:
    planned, took_s = recorded_run()
    estimator = Estimator(expected_seconds(planned, RECORDED_PROFILE), begun_s=0.0)
    tenth = math.ceil(len(planned) / 10)
    for now_s in itertools.accumulate(took_s[:tenth]):
        estimator.done(now_s)
    assert estimator.to_go_s() == pytest.approx(sum(took_s[tenth:]), rel=0.25)


def recorded_run() -> tuple[list[PlannedCell], list[float]]:
    """The cells of a quick run of the whole study in their order, and the seconds each took."""
    with (Path(__file__).parent / "fixtures" / "durations.csv").open() as recorded:
        lines = list(csv.DictReader(recorded))
    took_s = [float(line.pop("seconds")) for line in lines]
    cells = [Cell.model_validate(line) for line in lines]
    planned = [
        PlannedCell(cell=cell, block=1, order=order, test_ids=())
        for order, cell in enumerate(cells, start=1)
    ]
    return planned, took_s


def test_each_service_process_of_a_plan_is_paid_for_once() -> None:
    thesis = load(experiment_file("thesis"))
    profile = thesis.profile("quick")
    planned = plan(thesis, profile, Where())
    seconds = expected_seconds(planned, profile)
    starts = [i for i, each in enumerate(planned) if i == 0 or seconds[i] > 11]
    assert len(seconds) == 126
    assert len(starts) == 3


def test_the_quick_profile_is_planned_within_fifteen_minutes() -> None:
    thesis = load(experiment_file("thesis"))
    quick = thesis.profile("quick")
    assert total_seconds(plan(thesis, quick, Where()), quick) < 15 * 60


def test_smoke_is_planned_within_two_minutes() -> None:
    smoke = load(experiment_file("smoke"))
    profile = smoke.profile("smoke")
    assert total_seconds(plan(smoke, profile, Where()), profile) < 120


@pytest.mark.parametrize(
    ("seconds", "text"), [(48.4, "48 s"), (725, "12 min 05 s"), (3725, "1 h 02 min"), (-1, "0 s")]
)
def test_durations_are_for_reading(seconds: float, text: str) -> None:
    assert duration(seconds) == text
