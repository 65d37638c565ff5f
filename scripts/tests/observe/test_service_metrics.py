import json
from pathlib import Path

import pytest

from restbench.experiment.records import Window
from restbench.observe import service_metrics

WINDOW = Window(start_ms=1_000, end_ms=4_000)
HEAP = 'jvm_memory_used_bytes{area="heap",id="G1 Eden Space"}'
PAUSES = 'jvm_gc_pause_seconds_sum{action="end of minor GC",cause="a \\"quoted\\" cause"}'


def written(tmp_path: Path, samples: list[tuple[int, dict[str, float]]], tail: str = "") -> Path:
    path = tmp_path / "metrics.jsonl"
    lines = [json.dumps({"t_ms": t_ms, "values": values}) + "\n" for t_ms, values in samples]
    path.write_text("".join(lines) + tail)
    return path


def test_only_the_window_counts(tmp_path: Path) -> None:
    samples = [
        (999, {HEAP: 90 * 2.0**20, PAUSES: 0.0}),
        (1_000, {HEAP: 10 * 2.0**20, PAUSES: 1.0}),
        (3_999, {HEAP: 20 * 2.0**20, PAUSES: 1.25}),
        (4_000, {HEAP: 90 * 2.0**20, PAUSES: 9.0}),
    ]
    told = service_metrics.read(written(tmp_path, samples, tail='{"t_ms": 40'), WINDOW)
    assert told is not None
    assert (told.heap_peak_mib, told.gc_pause_ms) == (20, pytest.approx(250))


def test_the_first_collection_of_a_jvm_counts(tmp_path: Path) -> None:
    samples = [(1_000, {HEAP: 1.0}), (2_000, {HEAP: 1.0, PAUSES: 0.03})]
    told = service_metrics.read(written(tmp_path, samples), WINDOW)
    assert told is not None
    assert told.gc_pause_ms == pytest.approx(30)


def test_a_service_without_a_jvm_has_neither_heap_nor_pauses(tmp_path: Path) -> None:
    samples = [(1_000, {"process_resident_memory_bytes": 5.0})]
    told = service_metrics.read(written(tmp_path, samples), WINDOW)
    assert told == service_metrics.ServiceMetrics(None, None, {})


def test_no_sample_of_the_window_is_no_figure(tmp_path: Path) -> None:
    assert service_metrics.read(tmp_path / "metrics.jsonl", WINDOW) is None
    assert service_metrics.read(written(tmp_path, [(5_000, {HEAP: 1.0})]), WINDOW) is None
