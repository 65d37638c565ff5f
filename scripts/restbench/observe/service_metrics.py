"""The service's own metrics in the window: JVM heap, garbage collection, threads by state."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from restbench.experiment.records import Window

_STATE = re.compile(r'^jvm_threads_states_threads\{.*state="([^"]+)"')
_MIB = 2**20


@dataclass(frozen=True)
class ServiceMetrics:
    """What the service said of itself; `None` or empty where it has no such thing (Python)."""

    heap_peak_mib: float | None
    gc_pause_ms: float | None
    """Garbage collection pauses between the first and the last sample of the window, summed."""
    threads_by_state: dict[str, float]
    """Mean number of JVM threads in each state, by its name."""


def read(path: Path, window: Window) -> ServiceMetrics | None:
    """The metrics sampled in the window; None when there is no sample of it."""
    samples = [values for t_ms, values in _samples(path) if window.start_ms <= t_ms < window.end_ms]
    if not samples:
        return None
    heap = [_total(values, "jvm_memory_used_bytes", 'area="heap"') for values in samples]
    known = [value for value in heap if value is not None]
    pauses_s = [_total(values, "jvm_gc_pause_seconds_sum") or 0.0 for values in samples]
    return ServiceMetrics(
        heap_peak_mib=max(known) / _MIB if known else None,
        # A JVM that has not collected yet lacks the metric: 0.
        gc_pause_ms=1000 * (pauses_s[-1] - pauses_s[0]) if known else None,
        threads_by_state=_threads(samples),
    )


def _samples(path: Path) -> Iterator[tuple[int, dict[str, float]]]:
    """Every whole line; the last one may be cut off when the sampler was stopped."""
    if not path.exists():
        return
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        if line.endswith("\n"):
            entry = json.loads(line)
            yield entry["t_ms"], entry["values"]


def _threads(samples: list[dict[str, float]]) -> dict[str, float]:
    sums: dict[str, float] = {}
    for values in samples:
        for series, value in values.items():
            if state := _STATE.match(series):
                sums[state[1]] = sums.get(state[1], 0) + value
    return {state: total / len(samples) for state, total in sorted(sums.items())}


def _total(values: dict[str, float], name: str, label: str = "") -> float | None:
    """The sum over the series with this name and label; None where there are none."""
    found = [n for each, n in values.items() if each.partition("{")[0] == name and label in each]
    return sum(found) if found else None
