"""What a plan is said to write bounds what it writes, on rates that were measured."""

from __future__ import annotations

import pytest

from restbench.experiment import experiment, plan
from restbench.experiment.selection import Where
from restbench.schedule import volume
from restbench.store import store

#: Answers per second of the smallest request on two cores, shared with who asks: to JMeter (the
#: Java service, results/reference), and to wrk, which takes less of them (the Python service).
MEASURED_PER_S = {"java": 3642, "python": 2199}


@pytest.mark.parametrize("service", MEASURED_PER_S)
def test_no_service_answers_faster_than_the_bound_of_its_samples(
    service: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(volume, "allowed_cores", lambda: (0, 1))
    study = experiment.load(store.experiment_file("thesis"))
    profile = study.profile("full")
    where = Where(service=[service], strategy=["serial"], complexity=["low"], users=[10])
    planned = plan.plan(study, profile, where)
    seconds = profile.warmup_s + profile.window_min_s
    written = volume.SAMPLE_BYTES * MEASURED_PER_S[service] * seconds
    assert written < volume.of(planned, study, profile).largest_file < 10 * written
