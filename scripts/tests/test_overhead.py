"""What looking on costs: the judgement, and the plan without it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest

from restbench.calibrate import overhead
from restbench.calibrate.overhead import FAST, MANY_THREADS
from restbench.calibrate.probe import new_probe
from restbench.deploy.service import Service
from restbench.drive import load


def costs(share: float, spread: float) -> list[overhead.Pair]:
    bare = np.random.default_rng(3).normal(1_000, 1, size=8)
    shift = np.linspace(-spread, spread, 8)
    return [(float(b * (1 - share + s)), float(b)) for b, s in zip(bare, shift, strict=True)]


def test_collectors_that_cost_little_pass_and_those_that_cost_5_percent_fail() -> None:
    assert overhead.judge(costs(0.003, 0.004), FAST).passed
    dear = overhead.judge(costs(0.05, 0.004), FAST)
    assert not dear.passed
    assert dear.values["cost"] == pytest.approx(0.05, abs=0.005)
    assert "a real cost" in dear.measured


def test_an_overhead_that_is_not_known_to_2_percent_fails() -> None:
    check = overhead.judge(costs(0.0, 0.1), FAST)
    assert not check.passed
    assert "too uncertain" in check.measured


def test_with_many_threads_a_wide_spread_passes_and_a_third_lost_does_not() -> None:
    assert overhead.judge(costs(0.2, 0.1), MANY_THREADS).passed
    assert not overhead.judge(costs(0.35, 0.1), MANY_THREADS).passed
    collapsed = overhead.judge(costs(0.9, 0.01), MANY_THREADS)
    assert not collapsed.passed
    assert "a real cost" in collapsed.measured
    assert MANY_THREADS.name != FAST.name


@pytest.mark.parametrize(
    "lost", [[], [(0.0, 900.0)]], ids=["not idle after a load", "no request ended while looked at"]
)
def test_a_service_that_cannot_bear_it_fails_the_check_and_not_the_calibration(
    lost: list[overhead.Pair],
) -> None:
    pairs = costs(0.0, 0.004)[: FAST.pairs - 1]
    check = overhead.judge([*pairs, *lost], FAST)
    assert not check.passed
    assert f"{FAST.pairs - 1} of {FAST.pairs} pairs" in check.measured


def test_a_service_that_stays_busy_ends_its_pairs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told: list[str] = []
    idle = iter([True, True, True, False])  # warm-up, the first pair, then half of the second
    target = SimpleNamespace(correct_ms=SimpleNamespace(size=3))
    monkeypatch.setattr(overhead, "drained", lambda _: next(idle))
    monkeypatch.setattr(overhead.load, "start", lambda *_: Mock())
    monkeypatch.setattr(overhead.jtl, "read", lambda *_: target)
    monkeypatch.setattr(overhead, "WARMUP_S", 0.01)
    chain = new_probe(tmp_path)
    measured = Mock(numbers=Mock(throughput_per_s=2.0))
    monkeypatch.setattr(chain, "measure", lambda *_, **__: measured)
    service = Service("java", "http://127.0.0.1:9", [], "", tmp_path / "log")
    assert len(overhead.measure(chain, told.append, service, FAST, window_s=0.01)) == 1
    assert "nobody waits for" in told[-1]


def test_the_bare_plan_lacks_the_stage_times_and_nothing_else(tmp_path: Path) -> None:
    whole = load.PLAN.read_text().splitlines()
    bare = overhead.bare_plan(tmp_path / "bare.jmx").read_text().splitlines()
    changed = [line for line, other in zip(whole, bare, strict=True) if line != other]
    assert len(changed) == 1
    assert "RegexExtractor" in changed[0]
