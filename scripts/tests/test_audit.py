from dataclasses import replace
from typing import Any

import pytest

from restbench.analyse import audit
from restbench.analyse.audit import Evidence
from restbench.analyse.flags import FLAGS

#: 10 users, 50 ms each: 200 completions a second.
SOUND = Evidence(
    users=10,
    window_s=2.0,
    correct=400,
    errors=0,
    wrong_answers=0,
    completed=400,
    mean_of_all_ms=50.0,
    load_cpu_ms=200.0,
    answered_in_load=700,
    service_requests=700.0,
    told_stages=True,
    steal_pct=0.0,
    foreign_pct=1.0,
)


def test_a_sound_measurement_has_no_flag() -> None:
    assert audit.noticed(SOUND) == ()


@pytest.mark.parametrize(
    ("change", "flag"),
    [
        ({"errors": 1}, "errors"),
        ({"wrong_answers": 1}, "wrong-answers"),
        ({"correct": 29}, "few-completions"),
        ({"steal_pct": 1.01}, "steal"),
        ({"steal_pct": None}, "no-sar"),
        ({"foreign_pct": 5.01}, "foreign-load"),
        ({"told_stages": False}, "no-server-timing"),
        ({"service_requests": 711.0}, "count-mismatch"),
        ({"service_requests": 689.0}, "count-mismatch"),
        # The same 2 s in ten parts: their twenty ends explain 25 % more, 27 % in all.
        ({"mean_of_all_ms": 70.0, "parts": 10}, "littles-law"),
        # X R / N = 200 x R / 10; 2 % + R/T of 50 ms in 2 s allow 4.5 %: R from 47.8 to 52.3 ms.
        ({"mean_of_all_ms": 47.7}, "littles-law"),
        ({"mean_of_all_ms": 52.4}, "littles-law"),
        # 1 000 completions in 2 s are a cycle of 20 ms: 17 ms waiting, 3 ms not. JMeter's CPU
        # time of 0.8 ms a request explains up to 3.2 ms of it, 0.7 ms up to 2.8 ms.
        ({"mean_of_all_ms": 17.0, "completed": 1_000, "load_cpu_ms": 800.0}, "generator-time"),
        ({"mean_of_all_ms": 17.0, "completed": 1_000, "load_cpu_ms": 700.0}, "littles-law"),
        ({"mean_of_all_ms": 17.0, "completed": 1_000, "load_cpu_ms": None}, "littles-law"),
        # More in flight than there are users: no generator's time explains that.
        ({"mean_of_all_ms": 23.0, "completed": 1_000, "load_cpu_ms": 800.0}, "littles-law"),
        ({"mean_of_all_ms": 9.9, "completed": 2020}, "coarse-clock"),
        # 200/s are over a fifth of 999/s; 3.3 s of CPU time are over 80 % of two cores for 2 s.
        ({"ceiling_per_s": 999.0}, "generator-bound"),
        ({"load_cpu_ms": 3_300.0, "load_cores": 2}, "generator-bound"),
        # Over a fifth of two cores for 2 s; with a ceiling it is the ceiling that tells.
        ({"load_cpu_ms": 801.0, "load_cores": 2}, "generator-busy"),
        ({"percentiles_ms": (50.0, 90.0, 89.0, 120.0)}, "percentile-order"),
        ({"bytes_spread": 65}, "bytes-vary"),
        ({"warmed_s": 0.4, "planned_warmup_s": 1.0}, "duration"),
        ({"planned_window_s": (2.1, 5.0)}, "duration"),
        ({"planned_window_s": (-5.0, -1.1)}, "duration"),
        ({"cores_used": frozenset({0, 1}), "cores_given": frozenset({0})}, "off-cores"),
        ({"foreign_before_pct": 5.01}, "foreign-load-before"),
        ({"compilers_pct": 5.01}, "compiling"),
        ({"steadiness": ("not-steady",)}, "not-steady"),
    ],
)
def test_each_check_raises_its_flag(change: dict[str, Any], flag: str) -> None:
    assert audit.noticed(replace(SOUND, **change)) == (flag,)


@pytest.mark.parametrize(
    "change",
    [
        {"correct": 30},
        {"steal_pct": 1.0},
        {"foreign_pct": 5.0},
        {"service_requests": 710.0},
        {"service_requests": None},
        {"mean_of_all_ms": 47.9},
        {"mean_of_all_ms": 52.2},
        {"mean_of_all_ms": 10.0, "completed": 2000},
        {"foreign_pct": None},
        {"ceiling_per_s": 1_000.0},
        {"load_cpu_ms": 3_200.0, "load_cores": 2, "ceiling_per_s": 1_000.0},
        {"load_cpu_ms": 800.0, "load_cores": 2},
        {"percentiles_ms": (50.0, 50.0, 120.0)},
        {"bytes_spread": 64},
        {"warmed_s": 0.5, "planned_warmup_s": 1.0},
        {"planned_window_s": (2.0, 5.0)},
        {"planned_window_s": (0.0, 0.0)},
        {"cores_used": frozenset({0}), "cores_given": frozenset({0, 1})},
        {"cores_used": frozenset({1}), "cores_given": None},
        {"cores_used": frozenset(), "cores_given": frozenset({0})},
        {"foreign_before_pct": 5.0},
        {"compilers_pct": 5.0},
        {"compilers_pct": None},
    ],
)
def test_what_is_at_the_limit_or_unknown_raises_none(change: dict[str, Any]) -> None:
    assert audit.noticed(replace(SOUND, **change)) == ()


def test_every_flag_is_one_sentence_and_what_is_unknown_is_doubtful() -> None:
    for flag in FLAGS.values():
        assert flag.explanation[0].isupper()
        assert flag.explanation.endswith(".")
    assert "Unknown" in audit.explain("from-the-future")
    assert audit.is_doubtful(("shared-cores", "from-the-future"))
    assert not audit.is_doubtful(("shared-cores", "capped", "coarse-clock"))
    assert audit.is_doubtful(("shared-cores", "steal"))
