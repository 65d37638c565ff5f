"""Reads what sar wrote of the machine, cut to the window (method, rule 12)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from restbench.experiment.records import Window
from restbench.failures import BadConfiguration
from restbench.observe.intervals import mean_of, weight_ms

_MIB_KIB = 1024


@dataclass(frozen=True)
class MachineUse:
    """What the whole machine did in the window; means weighted by time."""

    cpu_pct: float
    """Mean over all cores: 100 is every core at work. Neither idle, nor waiting for a disk, nor
    stolen by the hypervisor."""
    core_pct: tuple[float, ...]
    """The same for each core, in their order."""
    steal_pct: float
    memory_used_mib: float
    context_switches_per_s: float
    run_queue: float
    """Tasks running or ready to run, mean of the moments looked at."""


def machine_use(sar_json: Path, window: Window) -> MachineUse | None:
    """The machine's use from the output of `sadf -j ... -- -u ALL -P ALL -q -r -w`.

    None when the file is not there or has no sample in the window (`sar` is missing or was late);
    BadConfiguration when it is no such output.
    """
    samples = _sar_samples(sar_json)
    try:
        weighted = [(_sar_weight(sample, window), sample) for sample in samples]
        return _machine_mean([(weight, sample) for weight, sample in weighted if weight > 0])
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise _no_sadf(sar_json, error) from error


def _sar_samples(sar_json: Path) -> list[Any]:
    if not sar_json.exists() or not (text := sar_json.read_text(encoding="utf-8")).strip():
        return []
    try:
        samples: list[Any] = json.loads(text)["sysstat"]["hosts"][0].get("statistics", [])
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise _no_sadf(sar_json, error) from error
    return samples


def _no_sadf(sar_json: Path, error: Exception) -> BadConfiguration:
    return BadConfiguration(f"{sar_json}: not sadf's JSON output: {error!r}")


def _machine_mean(weighted: list[tuple[float, Any]]) -> MachineUse | None:
    if not weighted:
        return None
    cores = [
        [
            (weight, core)
            for weight, sample in weighted
            for core in _cores(sample)
            if core["cpu"] == n
        ]
        for n in _core_numbers(weighted)
    ]
    everything = [(weight, _all_cores(sample)) for weight, sample in weighted]
    return MachineUse(
        cpu_pct=mean_of((weight, _busy_pct(core)) for weight, core in everything),
        core_pct=tuple(
            mean_of((weight, _busy_pct(each)) for weight, each in core) for core in cores
        ),
        steal_pct=mean_of((weight, core["steal"]) for weight, core in everything),
        memory_used_mib=mean_of((w, each["memory"]["memused"] / _MIB_KIB) for w, each in weighted),
        context_switches_per_s=mean_of(
            (weight, sample["process-and-context-switch"]["cswch"]) for weight, sample in weighted
        ),
        run_queue=mean_of((weight, sample["queue"]["runq-sz"]) for weight, sample in weighted),
    )


def _core_numbers(weighted: list[tuple[float, Any]]) -> list[str]:
    return sorted({core["cpu"] for _, sample in weighted for core in _cores(sample)}, key=int)


def _cores(sample: Any) -> list[Any]:
    return [core for core in sample["cpu-load"] if core["cpu"] != "all"]


def _all_cores(sample: Any) -> Any:
    return next(core for core in sample["cpu-load"] if core["cpu"] == "all")


def _busy_pct(core: dict[str, float]) -> float:
    return max(0.0, 100.0 - core["idle"] - core["iowait"] - core["steal"])


def _sar_weight(sample: Any, window: Window) -> float:
    return weight_ms(_stamp_s(sample), sample["timestamp"]["interval"], window)


def _stamp_s(sample: Any) -> float:
    stamp = sample["timestamp"]
    moment = datetime.fromisoformat(f"{stamp['date']}T{stamp['time']}").replace(tzinfo=UTC)
    return moment.timestamp()
