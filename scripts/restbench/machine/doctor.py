"""Properties of this machine that make measurements worse, why, and how to fix them. The checks
read files and need no root; as root, they also try whether the kernel can delay packets."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from restbench.machine import machine_cpu, namespaces
from restbench.machine.placement import CORES_FOR_OWN_LOAD_CORES, allowed_cores

State = Literal["good", "worse", "unknown"]

#: How long steal and other load are watched.
WATCH_S = 1.5
#: Half the margin of verdicts: a cell with more steal or other load has a warning (rule 10).
LIMIT_PCT = 2.5
_CPU = "sys/devices/system/cpu"


@dataclass(frozen=True)
class Finding:
    """The result of one check. `effect` and `mend` (the fix) are texts for the state `worse`."""

    name: str
    value: str
    state: State
    effect: str = ""
    mend: str = ""


@dataclass(frozen=True)
class Machine:
    """Where to look: the real machine, or a folder that stands for it in a test."""

    root: Path = Path("/")
    cores: tuple[int, ...] = field(default_factory=allowed_cores)
    pause: Callable[[float], None] = time.sleep
    has_netem: Callable[[], bool | None] = namespaces.has_netem

    def read(self, path: str) -> str | None:
        """A file's text without its end of line, None where it does not exist or cannot be read."""
        try:
            return (self.root / path).read_text(encoding="utf-8").strip()
        except OSError:
            return None


def examine(machine: Machine) -> list[Finding]:
    """Every finding, the most important first."""
    number, read = len(machine.cores), machine.read
    return [
        *_watched(machine),
        Finding(
            "usable cores",
            str(number),
            "good" if number >= CORES_FOR_OWN_LOAD_CORES else "worse",
            "JMeter shares the cores with the service: throughput differences shrink",
            f"{CORES_FOR_OWN_LOAD_CORES} cores or more; until then compare CPU time per request",
        ),
        _wanted(
            "frequency governor",
            read(f"{_CPU}/cpu{machine.cores[0]}/cpufreq/scaling_governor"),
            ("performance",),
            "the clock frequency follows the load: slow starts, false differences",
            "sudo cpupower frequency-set -g performance",
        ),
        _turbo(machine),
        _wanted(
            "transparent huge pages",
            _chosen(read("sys/kernel/mm/transparent_hugepage/enabled")),
            ("madvise", "never"),
            "the kernel merges pages at any time: pauses, and a new thread's stack may take "
            "megabytes",
            "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled",
        ),
        _wanted(
            "clock source",
            read("sys/devices/system/clocksource/clocksource0/current_clocksource"),
            ("tsc", "kvm-clock", "arm_arch_sys_counter", "hyperv_clocksource_tsc_page"),
            "reading the time needs a system call: every measured stage gets longer",
            "boot with clocksource=tsc where the processor allows it",
        ),
        _wanted(
            "swap in use",
            _swap(read("proc/meminfo")),
            ("0 MiB",),
            "reading pages back from disk adds latencies of milliseconds",
            "end the processes that fill the memory, then: sudo swapoff -a && sudo swapon -a",
        ),
        _wanted(
            "packet delay (netem)",
            {None: None, True: "there", False: "none"}[machine.has_netem()],
            ("there",),
            "cells with delay_ms go through a relay, which takes CPU time of the load generator",
            "use a kernel with sch_netem: modprobe sch_netem",
        ),
    ]


def _turbo(machine: Machine) -> Finding:
    path, off = f"{_CPU}/intel_pstate/no_turbo", "1"
    if machine.read(path) is None:
        path, off = f"{_CPU}/cpufreq/boost", "0"
    text = machine.read(path)
    return _wanted(
        "turbo",
        None if text is None else "off" if text == off else "on",
        ("off",),
        "one busy core runs faster than two: parallel techniques look worse than they are",
        f"echo {off} | sudo tee /{path}",
    )


def _chosen(text: str | None) -> str | None:
    """The option in brackets, such as that of `always [madvise] never`."""
    return text and text.partition("[")[2].partition("]")[0]


def _swap(text: str | None) -> str | None:
    if text is None:
        return None
    sizes = dict(line.split(":") for line in text.splitlines())
    total, free = (int(sizes[name].split()[0]) for name in ("SwapTotal", "SwapFree"))
    return f"{(total - free) // 1024} MiB"


def _watched(machine: Machine) -> list[Finding]:
    """CPU steal and the load of other processes, while this process sleeps for WATCH_S."""
    before = machine.read("proc/stat")
    machine.pause(WATCH_S)
    after = machine.read("proc/stat")
    if before is None or after is None:
        return [Finding("other load", "not visible", "unknown")]
    used = [machine_cpu.parsed(text, machine.cores) for text in (before, after)]
    spent = used[1].since(used[0])
    return [
        Finding(
            "CPU steal",
            f"{spent.steal_pct:.1f}%",
            "worse" if spent.steal_pct > LIMIT_PCT else "good",
            "other virtual machines take CPU time: a cell with more than 2.5 % has a warning",
            "use a dedicated machine, or a quieter hour",
        ),
        Finding(
            "other load",
            f"{spent.foreign_pct:.1f}%",
            "worse" if spent.foreign_pct > LIMIT_PCT else "good",
            "other processes take CPU time and cache: a cell with more than 2.5 % has a warning",
            "end them; 'top' shows them",
        ),
    ]


def _wanted(name: str, value: str | None, good: tuple[str, ...], effect: str, mend: str) -> Finding:
    if value is None:
        return Finding(name, "not visible", "unknown", effect)
    return Finding(name, value, "good" if value in good else "worse", effect, mend)
