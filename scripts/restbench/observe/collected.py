"""Reads what collectors wrote within a window (method, rule 13): sar on the machine, pidstat on
single processes, and the service on itself. Each reader returns fields of a `WindowEntry` by their
names, none where its file is not there or has no sample in the window.

A sample of sar or pidstat stands for an interval. It is stamped with the interval's END, cut to the
whole second, so the true end lies up to a second later. It is taken as half a second later, and a
sample counts with the share of its interval that lies in the window.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

from restbench.experiment.records import Window
from restbench.failures import BadConfiguration
from restbench.grouping import grouped

_MIB_KIB = 1024
_TRUNCATION_MS = 500
_STATE = re.compile(r'^jvm_threads_states_threads\{.*state="([^"]+)"')


def machine_use(sar_json: Path, window: Window) -> dict[str, Any]:
    """The machine's use from the output of `sadf -j ... -- -u ALL -P ALL -q -r -w`: means weighted
    by time. Time that is idle, waiting for a disk or stolen by the hypervisor is no CPU time.
    BadConfiguration when it is no such output."""
    if not sar_json.exists() or not (text := sar_json.read_text(encoding="utf-8")).strip():
        return {}
    try:
        samples = json.loads(text)["sysstat"]["hosts"][0].get("statistics", [])
        weighted = [(_sar_weight(each, window), each) for each in samples]
        return _machine_mean([(weight, each) for weight, each in weighted if weight > 0])
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise BadConfiguration(f"{sar_json}: not sadf's JSON output: {error!r}") from error


def _machine_mean(weighted: list[tuple[float, Any]]) -> dict[str, Any]:
    if not weighted:
        return {}
    loads = [(w, {each["cpu"]: each for each in sample["cpu-load"]}) for w, sample in weighted]
    cores = sorted({name for _, load in loads for name in load if name != "all"}, key=int)
    return {
        "machine_cpu_pct": _mean_of((w, _busy_pct(load["all"])) for w, load in loads),
        "core_pct": tuple(
            _mean_of((w, _busy_pct(load[core])) for w, load in loads if core in load)
            for core in cores
        ),
        "steal_pct": _mean_of((w, load["all"]["steal"]) for w, load in loads),
        "memory_used_mib": _mean_of((w, it["memory"]["memused"] / _MIB_KIB) for w, it in weighted),
        "context_switches_per_s": _mean_of(
            (w, each["process-and-context-switch"]["cswch"]) for w, each in weighted
        ),
        "run_queue": _mean_of((w, each["queue"]["runq-sz"]) for w, each in weighted),
    }


def _busy_pct(core: dict[str, float]) -> float:
    return max(0.0, 100.0 - core["idle"] - core["iowait"] - core["steal"])


def _sar_weight(sample: Any, window: Window) -> float:
    stamp = sample["timestamp"]
    moment = datetime.fromisoformat(f"{stamp['date']}T{stamp['time']}").replace(tzinfo=UTC)
    return _weight_ms(moment.timestamp(), stamp["interval"], window)


def process_use(pidstat: Path, window: Window, pids: Iterable[int]) -> dict[str, Any]:
    """The use of the service's processes from the output of `pidstat -H -h -u -r -w -p ... 1`: the
    mean CPU time of all, and the highest sum of resident memory, in which pages that processes
    share count once a process."""
    if not pidstat.exists():
        return {}
    wanted = set(pids)
    known = _pidstat_lines(pidstat.read_text(encoding="utf-8"))
    ours = (line for line in known if int(line["PID"]) in wanted)
    moments = grouped(ours, lambda line: int(line["Time"]))
    weighted = [(_weight_ms(time_s, 1, window), lines) for time_s, lines in moments.items()]
    inside = [(weight, lines) for weight, lines in weighted if weight > 0]
    if not inside:
        return {}
    cpu_pct, rss_kib = (
        [(weight, sum(float(line[name]) for line in lines)) for weight, lines in inside]
        for name in ("%CPU", "RSS")
    )
    return {
        "service_cpu_pct": _mean_of(cpu_pct),
        "service_peak_rss_mib": max(kib for _, kib in rss_kib) / _MIB_KIB,
    }


def _pidstat_lines(text: str) -> Iterator[dict[str, str]]:
    """Each line of a process as header → value; a line cut off at the end is left out."""
    header: list[str] = []
    for line in text.splitlines():
        if line.startswith("#"):
            header = line[1:].split()
        elif header and line.strip():
            fields = line.split(maxsplit=len(header) - 1)
            if len(fields) == len(header):
                yield dict(zip(header, fields, strict=True))


def _weight_ms(stamp_s: float, interval_s: float, window: Window) -> float:
    """How many milliseconds of a sample's interval lie in the window."""
    end_ms = stamp_s * 1000 + _TRUNCATION_MS
    start_ms = end_ms - interval_s * 1000
    return max(0.0, min(end_ms, window.end_ms) - max(start_ms, window.start_ms))


def _mean_of(weighted: Iterable[tuple[float, float]]) -> float:
    pairs = list(weighted)
    return sum(weight * value for weight, value in pairs) / sum(weight for weight, _ in pairs)


def service_metrics(path: Path, window: Window) -> dict[str, Any]:
    """The metrics sampled in the window: peak of the heap, sum of the pauses between the first and
    the last sample, mean number of threads; None or empty where the service has no such thing."""
    samples = [values for t_ms, values in _samples(path) if window.start_ms <= t_ms < window.end_ms]
    if not samples:
        return {}
    heap = [_total(values, "jvm_memory_used_bytes", 'area="heap"') for values in samples]
    known = [value for value in heap if value is not None]
    pauses_s = [_total(values, "jvm_gc_pause_seconds_sum") or 0.0 for values in samples]
    return {
        "heap_peak_mib": max(known) / 2**20 if known else None,
        # A JVM that has not collected yet lacks the metric: 0.
        "gc_pause_ms": 1000 * (pauses_s[-1] - pauses_s[0]) if known else None,
        "threads_by_state": _threads(samples),
    }


def _samples(path: Path) -> Iterator[tuple[int, dict[str, float]]]:
    """Every whole line; the last one may be cut off when the sampler was stopped."""
    if not path.exists():
        return
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        if line.endswith("\n"):
            entry = json.loads(line)
            yield entry["t_ms"], entry["values"]


def _threads(samples: list[dict[str, float]]) -> dict[str, float]:
    sums = defaultdict[str, float](float)
    for series, value in chain.from_iterable(values.items() for values in samples):
        if state := _STATE.match(series):
            sums[state[1]] += value
    return {state: total / len(samples) for state, total in sorted(sums.items())}


def _total(values: dict[str, float], name: str, label: str = "") -> float | None:
    """The sum over the series with this name and label; None where there are none."""
    found = [n for each, n in values.items() if each.partition("{")[0] == name and label in each]
    return sum(found) if found else None
