"""What serves and what sends the load, as fingerprints: a run that goes on must do so with both as
they were, or its numbers were of two things."""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from restbench import ROOT
from restbench.deploy.migrations import CONTRACT
from restbench.deploy.programs import JAR, PYTHON_SERVICE
from restbench.drive.load import PLANS, PROGRAMS
from restbench.experiment.cell import Build
from restbench.machine import guardian, machine_lock, watch

#: So many hexadecimal digits tell any two states of a part apart.
DIGITS = 16
ABSENT = "absent"
#: Flags of the two JVMs, of gunicorn, of every process, and the web frameworks.
_FLAGS = (
    "JAVA_OPTIONS",
    "JMETER_JVM_ARGS",
    "JDK_JAVA_OPTIONS",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "GUNICORN_CMD_ARGS",
    "JAVA_FRAMEWORK",
    "PYTHON_FRAMEWORK",
    "LD_PRELOAD",
)
_PREFIXES = ("RESTBENCH_", "MALLOC_")
_PLANS = ("*.jmx", "*.properties", "*.sh", "log4j2.xml")
_PYTHON = ("restbench_service/**/*.py", "*.py", "requirements.txt", "apache/*.conf")
#: Of the harness itself: another in every process.
_NOT_SETTINGS = (guardian.VARIABLE, watch.GUARDS, machine_lock.VARIABLE)


def fingerprints(builds: Mapping[Build, Path] | None = None) -> dict[str, str]:
    """Each part that measurements depend on, with what it is made of; `absent` where it is not.
    `builds` are the checkouts whose services are compared, where this one's are not measured."""
    plans = [path for each in _PLANS for path in PLANS.glob(each)]
    roots = {f" of {name}": root for name, root in (builds or {}).items()} or {"": ROOT}
    services = {}
    for of, root in roots.items():
        services[f"java service{of}"] = of_jar(root / JAR.relative_to(ROOT), "BOOT-INF/")
        folder = root / PYTHON_SERVICE.relative_to(ROOT)
        python = [path for each in _PYTHON for path in folder.glob(each)]
        services[f"python service{of}"] = of_files(python, root)
    return {
        **services,
        "load plans": of_files(plans),
        "load programs": of_jar(PROGRAMS, "restbench/"),
        "database": of_files([*CONTRACT.glob("**/*.sql"), *CONTRACT.glob("*.conf")]),
    }


def settings() -> dict[str, str]:
    """What the environment tells the services and JMeter beyond that."""
    return {
        name: value
        for name, value in sorted(os.environ.items())
        if name in _FLAGS or (name.startswith(_PREFIXES) and name not in _NOT_SETTINGS)
    }


def of_jar(jar: Path, inside: str) -> str:
    """Of its classes and libraries, which are in this folder of it: a build puts its time and its
    commit next to them."""
    if not jar.exists():
        return ABSENT
    with zipfile.ZipFile(jar) as archive:
        parts = [
            f"{each.filename} {each.CRC}"
            for each in archive.infolist()
            if each.filename.startswith(inside)
        ]
    return _digest(sorted(parts))


def of_files(paths: Iterable[Path], root: Path = ROOT) -> str:
    """Of their names within the checkout and their contents."""
    parts = [
        f"{path.relative_to(root)} {hashlib.sha256(path.read_bytes()).hexdigest()}"
        for path in sorted(paths)
    ]
    return _digest(parts) if parts else ABSENT


def _digest(parts: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:DIGITS]
