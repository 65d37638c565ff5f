"""What the driver of traces makes of the load generator's records."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from closed_driver import FAST, answers
from made_blocks import block_of

from restbench.drive.generator import CORRECT, ERROR, RECORD, WRONG
from restbench.failures import EnvironmentProblem
from restbench.schedule import reduction, trace
from restbench.schedule.pace import PlannedTrial, TrialGroup
from restbench.schedule.trace import TraceDriver, codes

ASKED = SimpleNamespace(duration_s={"p": 3}, warm_s=0.0, rate_per_s=None, fault=None)


def traced(folder: Path, **service: Any) -> tuple[Any, TraceDriver]:
    """A block of one trace, on a service like that."""
    table = SimpleNamespace(run_of=lambda _: ASKED)
    experiment = SimpleNamespace(table=lambda _: table, size=lambda *_: None)
    running = SimpleNamespace(service=SimpleNamespace(pids=tuple, front_pids=tuple, **service))
    up = SimpleNamespace(running=lambda _: running)
    order = SimpleNamespace(experiment=experiment, profile_name="p")
    here = block_of(folder, order, [TrialGroup("all", (FAST,))], up=up)
    here.load.trial = lambda *_: answers([0.1] * 10)
    return here, TraceDriver(here)


def test_a_service_that_ends_in_a_trace_leaves_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some answers were right before."""
    here, driver = traced(tmp_path, alive=lambda: False, ending=lambda: "it died")
    monkeypatch.setattr(trace, "renewed", lambda *_: None)
    monkeypatch.setattr(reduction, "_helpers_ms", lambda _: (0.0, 0.0))
    with pytest.raises(EnvironmentProblem, match="it died"):
        driver.trial(PlannedTrial(1, FAST))
    assert not list(here.run.trace(1, FAST.id).iterdir())


def test_a_trace_asks_for_a_service_that_serves_before_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have ended in the trace of another cell."""
    here, driver = traced(tmp_path)
    monkeypatch.setattr(trace, "renewed", lambda *_: "no fresh one comes up")
    with pytest.raises(EnvironmentProblem, match="no fresh one comes up"):
        driver.trial(PlannedTrial(1, FAST))
    assert not here.sent


def test_a_failed_request_is_told_by_its_code_else_by_its_status() -> None:
    records = np.zeros(5, RECORD)
    records["outcome"] = [CORRECT, ERROR, ERROR, ERROR, WRONG]
    records["status"] = [200, 503, 503, 0, 200]
    records["code"] = [0, 15, 0, 0, 0]
    assert codes(records).tolist() == ["", "015", "503", "none", "wrong"]
