"""What a load generator at its end, or of unknown means, lets be said of a claim."""

from __future__ import annotations

import pytest
from stated_claims import BASE, claim, decided, part, rows, times
from synthetic_rows import row


@pytest.mark.parametrize(
    ("expect", "factor", "verdict"),
    [
        ("same", 1.01, "not detected"),
        ("same", 1.5, "contradicted"),
        ("not greater", 0.8, "not detected"),
        ("not greater", 1.5, "contradicted"),
        ("greater", 1.5, "reproduced"),
        ("less", 1.5, "contradicted"),
    ],
)
def test_a_generator_at_its_end_shows_no_likeness_but_a_difference_stands(
    expect: str, factor: float, verdict: str
) -> None:
    measured = rows(times(factor), marks=("generator-bound",))
    found = decided(claim(part(expect)), measured)
    assert found.verdict == verdict
    assert ("the load generator was the limit" in found.why) == (verdict == "not detected")


@pytest.mark.parametrize("expect", ["same", "not greater", "not less"])
def test_a_likeness_is_none_where_what_the_generator_can_do_is_not_known(expect: str) -> None:
    busy = rows(times(1.0), marks=("generator-busy",))
    found = decided(claim(part(expect)), busy)
    assert found.verdict == "not detected"
    assert "may have been the limit" in found.why
    assert "make calibrate" in found.why
    assert decided(claim(part(expect)), rows(times(1.0))).verdict == "reproduced"
    assert decided(claim(part("greater")), rows(times(1.2), marks=("generator-busy",))).verdict == (
        "reproduced"
    )


@pytest.mark.parametrize("flag", ["generator-busy", "generator-bound"])
def test_cpu_time_per_request_is_not_made_alike_by_the_generator(flag: str) -> None:
    measured = [
        row("java serial low 10", BASE, (flag,), cpu_ms_per_request=times(1.0)),
        row("java pinned low 10", BASE, cpu_ms_per_request=BASE),
    ]
    file = claim(part("not greater").replace("throughput_per_s", "cpu_ms_per_request"))
    assert decided(file, measured).verdict == "reproduced"
