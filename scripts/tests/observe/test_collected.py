"""What collectors saw in a window. The fixtures are real: `sadf -j` and `pidstat` of one busy
process on a machine of two cores."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from fixture_run import FIXTURES
from stub_service import Stub, serving
from waiting import await_true

from restbench.deploy import service
from restbench.deploy.service import Service
from restbench.drive import monitor
from restbench.experiment.records import Window
from restbench.failures import BadConfiguration
from restbench.observe import collected
from restbench.store.folders import CellFolder

SAR, PIDSTAT = FIXTURES / "sar.json", FIXTURES / "pidstat.txt"
#: The first sample's stamp; its interval is taken to end half a second later.
FIRST_STAMP_MS = int(datetime(2026, 11, 21, 1, 51, 7, tzinfo=UTC).timestamp() * 1000)
BUSY, SLEEPING = 14528, 14527


def window(first: float, last: float) -> Window:
    """From the start of the first to the end of the last sample, counted from 1."""
    start = FIRST_STAMP_MS + 500 + round((first - 2) * 1000)
    end = FIRST_STAMP_MS + 500 + round((last - 1) * 1000)
    return Window(start_ms=start, end_ms=end)


def test_the_machines_use_is_the_mean_of_the_samples_in_the_window() -> None:
    use = collected.machine_use(SAR, window(2, 3))
    assert use["machine_cpu_pct"] == pytest.approx((50.25 + 50.5) / 2)
    assert use["core_pct"] == pytest.approx((0.99, 100))
    assert use["context_switches_per_s"] == pytest.approx((161 + 171) / 2)
    assert use["memory_used_mib"] == pytest.approx((83224 + 83220) / 2 / 1024)
    assert (use["run_queue"], use["steal_pct"]) == (1, 0)


def test_a_sample_counts_with_its_share_of_the_window() -> None:
    # A quarter of sample 5 (run queue 1) and the whole of sample 6 (run queue 4).
    use = collected.machine_use(SAR, window(5.75, 6))
    assert use["run_queue"] == pytest.approx((0.25 * 1 + 1 * 4) / 1.25)


def test_steal_and_waiting_for_a_disk_are_not_work(tmp_path: Path) -> None:
    recorded = json.loads(SAR.read_text())
    for sample in recorded["sysstat"]["hosts"][0]["statistics"]:
        sample["cpu-load"][0] |= {"idle": 40.0, "iowait": 7.0, "steal": 3.0}
    path = tmp_path / "sar.json"
    path.write_text(json.dumps(recorded))
    use = collected.machine_use(path, window(1, 6))
    assert (use["machine_cpu_pct"], use["steal_pct"]) == pytest.approx((50, 3))


def test_no_sample_in_the_window_is_no_figure(tmp_path: Path) -> None:
    assert collected.machine_use(SAR, window(50, 51)) == {}
    assert collected.machine_use(tmp_path / "sar.json", window(1, 2)) == {}
    (tmp_path / "empty.json").write_text("")
    assert collected.machine_use(tmp_path / "empty.json", window(1, 2)) == {}


@pytest.mark.parametrize("text", ["{", "{}", '{"sysstat": {"hosts": []}}', "[]"])
def test_what_is_not_sadfs_output_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "sar.json"
    path.write_text(text)
    with pytest.raises(BadConfiguration, match=r"sar\.json: not sadf's JSON output"):
        collected.machine_use(path, window(1, 2))


def used(pidstat: Path, span: Window, pids: list[int]) -> tuple[float, float]:
    found = collected.process_use(pidstat, span, pids)
    return found["service_cpu_pct"], found["service_peak_rss_mib"]


def test_processes_are_summed_at_each_moment() -> None:
    assert used(PIDSTAT, window(1, 6), [BUSY, SLEEPING]) == (100, (13396 + 1684) / 1024)
    assert used(PIDSTAT, window(1, 6), [SLEEPING]) == (0, 1684 / 1024)


def test_the_peak_is_of_the_window_only(tmp_path: Path) -> None:
    text = PIDSTAT.read_text()
    first = text.index("13396")
    path = tmp_path / "pidstat.txt"
    path.write_text(text[:first] + "99999" + text[first + 5 :])
    assert used(path, window(1, 6), [BUSY]) == (100, 99999 / 1024)
    assert used(path, window(2, 6), [BUSY])[1] == 13396 / 1024


def test_processes_that_were_not_seen_have_no_figure(tmp_path: Path) -> None:
    assert collected.process_use(PIDSTAT, window(1, 6), [1]) == {}
    assert collected.process_use(PIDSTAT, window(50, 60), [BUSY]) == {}
    assert collected.process_use(tmp_path / "pidstat.txt", window(1, 6), [BUSY]) == {}


def test_a_pidstat_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "pidstat.txt"
    path.write_text(PIDSTAT.read_text() + "1795225873      0     14528  100.00    0.0")
    assert used(path, window(1, 9), [BUSY]) == (100, 13396 / 1024)


# --- the service's own metrics -------------------------------------------------------------------

WINDOW = Window(start_ms=1_000, end_ms=4_000)
HEAP = 'jvm_memory_used_bytes{area="heap",id="G1 Eden Space"}'
WAITING = 'jvm_threads_states_threads{application="x",state="timed-waiting"}'
PAUSES = 'jvm_gc_pause_seconds_sum{action="end of minor GC",cause="a \\"quoted\\" cause"}'


def written(tmp_path: Path, samples: list[tuple[int, dict[str, float]]], tail: str = "") -> Path:
    path = tmp_path / "metrics.jsonl"
    lines = [json.dumps({"t_ms": t_ms, "values": values}) + "\n" for t_ms, values in samples]
    path.write_text("".join(lines) + tail)
    return path


def test_only_the_window_counts(tmp_path: Path) -> None:
    samples = [
        (999, {HEAP: 90 * 2.0**20, PAUSES: 0.0}),
        (1_000, {HEAP: 10 * 2.0**20, PAUSES: 1.0, WAITING: 4.0}),
        (3_999, {HEAP: 20 * 2.0**20, PAUSES: 1.25, WAITING: 7.0}),
        (4_000, {HEAP: 90 * 2.0**20, PAUSES: 9.0}),
    ]
    told = collected.service_metrics(written(tmp_path, samples, tail='{"t_ms": 40'), WINDOW)
    assert (told["heap_peak_mib"], told["gc_pause_ms"]) == (20, pytest.approx(250))
    assert told["threads_by_state"] == {"timed-waiting": 5.5}


def test_the_first_collection_of_a_jvm_counts(tmp_path: Path) -> None:
    samples = [(1_000, {HEAP: 1.0}), (2_000, {HEAP: 1.0, PAUSES: 0.03})]
    told = collected.service_metrics(written(tmp_path, samples), WINDOW)
    assert told["gc_pause_ms"] == pytest.approx(30)


def test_a_service_without_a_jvm_has_neither_heap_nor_pauses(tmp_path: Path) -> None:
    samples = [(1_000, {"process_resident_memory_bytes": 5.0})]
    told = collected.service_metrics(written(tmp_path, samples), WINDOW)
    assert told == {"heap_peak_mib": None, "gc_pause_ms": None, "threads_by_state": {}}


def test_no_sample_of_the_window_is_no_figure(tmp_path: Path) -> None:
    assert collected.service_metrics(tmp_path / "metrics.jsonl", WINDOW) == {}
    assert collected.service_metrics(written(tmp_path, [(5_000, {HEAP: 1.0})]), WINDOW) == {}


# --- sar and pidstat beside a cell: one that ends too early is noticed ----------------------------


@pytest.fixture
def attached() -> Iterator[Service]:
    with serving(Stub("java", {})) as stub, service.attach("java", stub.url) as running:
        yield running


@pytest.mark.parametrize("killed", ["sar", "pidstat"])
def test_a_collector_that_was_killed_is_named(
    attached: Service, tmp_path: Path, killed: str
) -> None:
    with monitor.collectors(attached, os.getpid(), CellFolder(tmp_path)) as running:
        assert monitor.ended(running) == []
        os.kill(running[killed].pid, signal.SIGKILL)
        await_true(lambda: monitor.ended(running))
        assert monitor.ended(running) == [killed]


def test_what_sar_saw_until_the_end_is_read(attached: Service, tmp_path: Path) -> None:
    folder, sizes = CellFolder(tmp_path), set[int]()

    def has_grown_twice() -> bool:
        sizes.update({folder.sar_binary.stat().st_size} if folder.sar_binary.exists() else set())
        return len(sizes) > 2

    with monitor.collectors(attached, os.getpid(), folder):
        assert await_true(has_grown_twice), "by a sample each time"
    span = Window(start_ms=0, end_ms=round(time.time() * 1000) + 60_000)
    assert collected.machine_use(folder.sar_json, span)


def test_collectors_keep_off_the_services_cores(attached: Service, tmp_path: Path) -> None:
    last = max(os.sched_getaffinity(0))
    with monitor.collectors(attached, os.getpid(), CellFolder(tmp_path), str(last)) as running:
        for each in running.values():
            # A new process has ours until it is what it shall be.
            assert await_true(lambda pid=each.pid: os.sched_getaffinity(pid) == {last})
