"""What serves and what sends the load, as fingerprints: a run that goes on must do so with both as
they were, or its numbers were of two things."""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Iterable
from pathlib import Path

from restbench import ROOT
from restbench.deploy.programs import JAR, PYTHON_SERVICE
from restbench.drive.load import PLANS, PROGRAMS
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
#: Of the harness itself: another in every process.
_NOT_SETTINGS = (guardian.VARIABLE, watch.GUARDS, machine_lock.VARIABLE)


def fingerprints() -> dict[str, str]:
    """Each part that measurements depend on, with what it is made of; `absent` where it is not."""
    python = [
        *PYTHON_SERVICE.glob("restbench_service/**/*.py"),
        *PYTHON_SERVICE.glob("*.py"),
        *PYTHON_SERVICE.glob("requirements.txt"),
    ]
    plans = [
        *PLANS.glob("*.jmx"),
        *PLANS.glob("*.properties"),
        *PLANS.glob("*.sh"),
        *PLANS.glob("log4j2.xml"),
    ]
    return {
        "java service": of_jar(JAR, "BOOT-INF/"),
        "python service": of_files([*python, *PYTHON_SERVICE.glob("apache/*.conf")]),
        "load plans": of_files(plans),
        "load programs": of_jar(PROGRAMS, "restbench/"),
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
    commit beside them."""
    if not jar.exists():
        return ABSENT
    with zipfile.ZipFile(jar) as archive:
        parts = [
            f"{each.filename} {each.CRC}"
            for each in archive.infolist()
            if each.filename.startswith(inside)
        ]
    return _digest("\n".join(sorted(parts)).encode())


def of_files(paths: Iterable[Path]) -> str:
    """Of their names and contents."""
    parts = [
        f"{path.relative_to(ROOT)} {hashlib.sha256(path.read_bytes()).hexdigest()}"
        for path in sorted(paths)
    ]
    return _digest("\n".join(parts).encode()) if parts else ABSENT


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:DIGITS]
