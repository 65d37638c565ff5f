from dataclasses import replace
from typing import Any

import pytest

from restbench.analyse import audit
from restbench.analyse.audit import Evidence

#: 10 users, 50 ms each: 200 completions a second.
SOUND = Evidence(
    users=10,
    window_s=2.0,
    correct=400,
    wrong_answers=0,
    completed=400,
    mean_of_all_ms=50.0,
    told_stages=True,
    has_sar=True,
)


def test_a_sound_measurement_has_no_flag() -> None:
    assert audit.noticed(SOUND) == ()


@pytest.mark.parametrize(
    ("change", "flag"),
    [
        ({"wrong_answers": 1}, "wrong-answers"),
        ({"correct": 29}, "few-completions"),
        ({"has_sar": False}, "no-sar"),
        ({"told_stages": False}, "no-server-timing"),
        ({"mean_of_all_ms": 9.9, "completed": 2020}, "coarse-clock"),
        ({"percentiles_ms": (50.0, 90.0, 89.0, 120.0)}, "percentile-order"),
        ({"bytes_spread": 65}, "bytes-vary"),
        ({"warmed_s": 0.4, "planned_warmup_s": 1.0}, "duration"),
        ({"planned_window_s": (2.1, 5.0)}, "duration"),
        ({"planned_window_s": (-5.0, -1.1)}, "duration"),
        ({"foreign_before_pct": 5.01}, "foreign-load-before"),
        ({"steady": False}, "not-steady"),
    ],
)
def test_each_check_raises_its_flag(change: dict[str, Any], flag: str) -> None:
    assert audit.noticed(replace(SOUND, **change)) == (flag,)


@pytest.mark.parametrize(
    "change",
    [
        {"correct": 30},
        {"mean_of_all_ms": 10.0, "completed": 2000},
        {"percentiles_ms": (50.0, 50.0, 120.0)},
        {"bytes_spread": 64},
        {"warmed_s": 0.5, "planned_warmup_s": 1.0},
        {"planned_window_s": (2.0, 5.0)},
        {"planned_window_s": (0.0, 0.0)},
        {"foreign_before_pct": 5.0},
    ],
)
def test_what_is_at_the_limit_or_unknown_raises_none(change: dict[str, Any]) -> None:
    assert audit.noticed(replace(SOUND, **change)) == ()
