"""A window goes on to sar's next sample, and no longer."""

from __future__ import annotations

from typing import cast

import pytest

from restbench.drive import cutting
from restbench.drive.cutting import SAMPLE_POLL_S, SAMPLE_TIMEOUT_S, Course


class Watched:
    """A course whose collector has written so many bytes at each look; time passes in its waits."""

    def __init__(self, *sizes: int | None) -> None:
        self.sizes = list(sizes)
        self.waits = list[float]()
        self.monitors = self

    def sampled_bytes(self) -> int | None:
        return self.sizes.pop(0) if len(self.sizes) > 1 else self.sizes[0]

    def wait(self, seconds: float, phase: str, _elapsed_s: float) -> None:
        assert phase == "window"
        self.waits.append(seconds)

    def now_s(self) -> float:
        return sum(self.waits)


def await_sample(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting.time, "monotonic", watched.now_s)
    cutting._await_sample(cast("Course", watched), 2.0)


def test_it_goes_on_until_something_was_written(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched(500, 500, 500, 500, 900)
    await_sample(watched, monkeypatch)
    assert watched.waits == [SAMPLE_POLL_S] * 3


def test_it_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched(500)
    await_sample(watched, monkeypatch)
    assert watched.now_s() == pytest.approx(SAMPLE_TIMEOUT_S, abs=SAMPLE_POLL_S)


def test_without_sar_it_ends_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched(None)
    await_sample(watched, monkeypatch)
    assert watched.waits == []
