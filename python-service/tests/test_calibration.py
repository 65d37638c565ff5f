"""What requests cost is measured, whatever disturbs a moment of it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from observed import Busy, Observed

from restbench_service.execution import calibration
from restbench_service.execution.calibration import Run, calibrate, timing_of
from restbench_service.execution.costs import KindCosts
from restbench_service.execution.pool.pool import ProcessPool
from restbench_service.execution.strategies import Start
from restbench_service.settings import Settings
from restbench_service.web import limits_of
from restbench_service.workloads import catalogue
from restbench_service.workloads.workload import Sample


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProcessPool]:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    found = Start(1, None, ()).requests_pool
    yield found
    found.close()


def test_an_operation_s_time_is_that_of_the_largest_sample(pool: ProcessPool) -> None:
    samples = [Sample(Busy(), str(units).encode()) for units in (1, 20)]
    kind = calibrate(pool, samples).costs.kinds["observed"]
    assert kind.ns_per_operation >= 2_000_000


def test_the_wait_for_a_core_is_no_cost(pool: ProcessPool) -> None:
    found = calibrate(pool, [Sample(Observed(unit_seconds=0.2), b"1")])
    assert found.costs.kinds["observed"].ns_per_operation < 200_000_000


def test_the_workloads_of_the_service_are_all_calibrated(pool: ProcessPool) -> None:
    found = calibrate(pool, catalogue.samples(limits_of(Settings())))
    kinds = found.costs.kinds
    npb = ["npb-is", "npb-cg", "npb-mg", "npb-ft"]
    assert list(kinds) == ["matrix loops", "matrix native", *npb]
    loops, native = (kinds[f"matrix {kernel}"].ns_per_operation for kernel in ("loops", "native"))
    assert loops > 10 * native > 0
    assert all(kinds[kind].ns_per_byte > 0 for kind in npb), "or a long body is read by anybody"
    assert found.costs.trip_ns > 0


def test_no_cost_is_negative(pool: ProcessPool) -> None:
    found = calibrate(pool, [Sample(Observed(), b" " * 100_000 + b"1"), Sample(Observed(), b"2")])
    kind = found.costs.kinds["observed"]
    assert min(kind.fixed_ns, kind.ns_per_byte, found.costs.trip_ns_per_byte) >= 0


def test_without_samples_nothing_is_known(pool: ProcessPool) -> None:
    assert calibrate(pool, []).costs.kinds == {}


def test_a_sample_that_takes_long_is_sent_again_all_the_same() -> None:
    long_ns = 10 * calibration.REPEAT_NS
    sent = [long_ns]
    while calibration.is_to_be_repeated(sent):
        sent.append(long_ns)
    assert len(sent) == 1 + calibration.LEAST_REPEATS, "the first, with cold memory, is not counted"


RIGHT = Run({"queue": 0, "parse": 100, "compute": 1000, "serialize": 50}, 70)
NOTHING = Run(dict.fromkeys(RIGHT.stages_ns, 0), 0)
STOLEN_AROUND = Run(RIGHT.stages_ns, -1150)
COLD = Run({stage: 9 * ns for stage, ns in RIGHT.stages_ns.items()}, 700)


@pytest.mark.parametrize("wrong", [NOTHING, STOLEN_AROUND, COLD])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_one_run_whose_clock_said_too_little_or_too_much_changes_nothing(
    wrong: Run, place: int
) -> None:
    runs = [RIGHT, RIGHT]
    runs.insert(place, wrong)
    found = timing_of(Sample(Observed(), b"5"), runs)
    assert (found.text_ns, found.compute_ns, found.trip_ns) == (150, 1000, 70)


def test_a_sample_whose_trips_took_no_time_does_not_make_all_trips_free(
    pool: ProcessPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = calibration._run

    def run(pool: ProcessPool, channel: Any, sample: Sample) -> Run:
        found = right(pool, channel, sample)
        return found._replace(around_ns=-1 if sample.body == b"1" else 70)

    monkeypatch.setattr(calibration, "_run", run)
    found = calibrate(pool, [Sample(Observed(), b"1"), Sample(Observed(), b"20")])
    assert found.costs.trip_ns == 70


def test_what_disturbs_one_burst_of_a_sample_makes_nothing_dear(
    pool: ProcessPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = b" " * 999 + b"1"
    sent: dict[bytes, int] = {}

    def run(_pool: ProcessPool, _channel: Any, sample: Sample) -> Run:
        sent[sample.body] = sent.get(sample.body, 0) + 1
        in_first_burst = sent[sample.body] <= 1 + calibration.MOST_REPEATS
        around_ns = 70 if sample.body == b"1" else 1070
        factor = 10 if in_first_burst else 1
        stages_ns = {stage: factor * ns for stage, ns in RIGHT.stages_ns.items()}
        return Run(stages_ns, factor * around_ns)

    monkeypatch.setattr(calibration, "_run", run)
    costs = calibrate(pool, [Sample(Observed(), body) for body in (b"1", long)]).costs
    assert (costs.trip_ns, costs.trip_ns_per_byte) == (70, 1)
    assert costs.kinds["observed"].fixed_ns == 150


def test_a_sample_that_takes_as_long_as_a_burst_is_sent_in_one_only(
    pool: ProcessPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[bytes] = []

    def run(_pool: ProcessPool, _channel: Any, sample: Sample) -> Run:
        sent.append(sample.body)
        compute_ns = calibration.REPEAT_NS if sample.body == b"20" else 1
        return Run({"queue": 0, "parse": 0, "compute": compute_ns, "serialize": 0}, 70)

    monkeypatch.setattr(calibration, "_run", run)
    calibrate(pool, [Sample(Observed(), b"1"), Sample(Observed(), b"20")])
    assert sent.count(b"20") == 1 + calibration.LEAST_REPEATS
    assert sent.count(b"1") == calibration.BURSTS * (1 + calibration.MOST_REPEATS)


def test_where_no_clock_counts_every_trip_is_free_and_no_cost_is_negative(
    pool: ProcessPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibration, "_run", lambda *_: NOTHING)
    found = calibrate(pool, [Sample(Observed(), b"1"), Sample(Observed(), b"20")])
    assert (found.costs.trip_ns, found.costs.trip_ns_per_byte) == (0, 0)
    assert found.costs.kinds["observed"] == KindCosts(0, 0, 0)
