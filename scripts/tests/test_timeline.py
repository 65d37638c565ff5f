"""Every expected value is computed by hand from the samples that the fixture lays down."""

from pathlib import Path

import numpy as np
import pytest
from fixture_run import START, Made, build, cell, steady_load
from jtl_lines import Sample, error

from restbench.analyse import counted, timeline
from restbench.analyse.measures import measurement
from restbench.analyse.timeline import Timeline

SERIAL = cell("java serial low 10")
LOAD = steady_load(users=10, elapsed_ms=50)


def drawn(tmp_path: Path, made: Made) -> Timeline | None:
    run = build(tmp_path / "run", [made])
    ((record, folder),) = run.cell_runs()
    return measurement(record, folder).timeline


def line_of(tmp_path: Path, made: Made) -> Timeline:
    found = drawn(tmp_path, made)
    assert found is not None
    return found


def test_a_failed_measurement_has_no_timeline(tmp_path: Path) -> None:
    assert drawn(tmp_path, Made(SERIAL, failed="the service died")) is None


def test_a_load_without_a_sample_has_no_timeline(tmp_path: Path) -> None:
    assert drawn(tmp_path, Made(SERIAL, [])) is None


def test_bins_end_with_the_window_and_warm_up_is_negative(tmp_path: Path) -> None:
    found = line_of(tmp_path, Made(SERIAL, LOAD))
    # 600 completions in 3.05 s: a fortieth of it is 76 ms, and 40 of those are 3.04 s.
    assert (found.block, found.window_s, found.bin_s) == (1, 2.0, 0.076)
    assert len(found.second_s) == 40
    assert found.second_s[-1] == pytest.approx(2 - 0.038)
    assert found.second_s[0] == pytest.approx(2 - 3.04 + 0.038)


def test_each_bin_has_its_own_completions(tmp_path: Path) -> None:
    found = line_of(tmp_path, Made(SERIAL, LOAD))
    counts = [rate * found.bin_s for rate in found.throughput_per_s]
    ends = np.array([sample.end_ms for sample in LOAD])
    first_ms = START + 2_000 - 40 * 76
    expected = [
        ((ends >= first_ms + 76 * n) & (ends < first_ms + 76 * (n + 1))).sum() for n in range(40)
    ]
    assert counts == pytest.approx(expected)
    assert set(found.mean_ms) == {50.0}


def test_errors_are_no_throughput_and_a_bin_without_an_answer_has_no_mean(tmp_path: Path) -> None:
    late = [Sample(START + 1_000 + n, 5) for n in range(200)]
    failures = [error(START - 500), error(START + 1), error(START + 2)]
    found = line_of(tmp_path, Made(SERIAL, failures + late))
    assert sum(found.errors_per_s) * found.bin_s == pytest.approx(2)
    assert sum(found.throughput_per_s) * found.bin_s == pytest.approx(200)
    empty = [n for n, rate in enumerate(found.throughput_per_s) if not rate]
    assert empty
    assert all(found.mean_ms[n] is None for n in empty)


def test_the_machines_samples_are_placed_in_the_middle_of_their_interval(tmp_path: Path) -> None:
    found = line_of(tmp_path, Made(SERIAL, LOAD))
    # The window is the 2nd and 3rd sample; the load begins in the middle of the first.
    assert found.core_second_s == pytest.approx([-0.5, 0.5, 1.5])
    assert [len(core) for core in found.core_pct] == [3, 3]
    assert found.core_pct[1] == pytest.approx([100, 100, 100])
    assert found.core_pct[0] == pytest.approx([0.99, 0, 1.98])
    assert found.memory_second_s == pytest.approx([-0.5, 0.5, 1.5])
    assert found.memory_mib == pytest.approx([13_396 / 1024] * 3)
    assert found.service_cpu_pct[0] == pytest.approx(100)


def test_without_collectors_the_machine_is_left_out(tmp_path: Path) -> None:
    run = build(tmp_path / "run", [Made(SERIAL, LOAD)])
    ((record, folder),) = run.cell_runs()
    folder.sar_json.unlink()
    folder.pidstat.unlink()
    found = measurement(record, folder).timeline
    assert found is not None
    assert (found.core_pct, found.core_second_s) == ([], [])
    assert (found.memory_mib, found.service_cpu_pct) == ([], [])


def test_a_warm_up_is_cut_where_it_ends(tmp_path: Path) -> None:
    warm_up = [Sample(START - 1_000 + n, 1) for n in range(0, 500, 25)]  # 40/s for half a second
    steady = [Sample(START - 500 + n, 1) for n in range(0, 2_500, 4)]  # then 250/s
    found = line_of(tmp_path, Made(SERIAL, warm_up + steady))
    assert found.steady is True
    assert found.cut_s == pytest.approx(-0.5, abs=2 * found.bin_s)


def test_percentiles_are_those_that_the_count_supports() -> None:
    found = timeline.distribution(counted.of(range(1, 1_001)))
    assert found.percents == [10, 25, 50, 75, 90, 95, 100]
    assert found.percentile_ms == [100, 250, 500, 750, 900, 950, 1_000]
    assert timeline.distribution(counted.of([1] * 29)).percents == [100]
    assert timeline.distribution(counted.of([1] * 100_000)).percents[-2:] == [99.9, 100]
    assert timeline.distribution(counted.of([])).percents == []


@pytest.mark.parametrize(("smallest", "largest"), [(0, 0), (0, 3), (1, 1), (7, 7), (1, 90_000)])
def test_the_histogram_holds_every_completion_once(smallest: int, largest: int) -> None:
    values = np.unique(np.linspace(smallest, largest, 5_000).astype(np.int64))
    found = timeline.distribution(counted.of(values))
    assert sum(found.histogram_counts) == values.size
    assert len(found.histogram_ms) == len(found.histogram_counts) + 1
    assert found.histogram_ms == sorted(set(found.histogram_ms))
    assert all(edge % 1 == 0.5 for edge in found.histogram_ms), "between whole milliseconds"
    assert len(found.histogram_counts) <= 61
