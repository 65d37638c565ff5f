"""The JVM of the service, the kernels without HTTP and the microbenchmarks: which it is, its flags,
what it makes of them, and what its own threads take of its CPU time."""

from __future__ import annotations

import functools
import os
import re
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from restbench.machine import process

HEAP_GIB = 1
#: Garbage collector and heap are the same on any number of cores (a JVM of its own choice takes
#: another collector on one core than on two). A heap of one size that was touched at the start
#: keeps resizing and page faults out of the windows. Huge pages where the kernel gives them to who
#: asks: numpy asks by itself, and which process gets them else is chance.
FLAGS = (
    "-XX:+UseG1GC",
    f"-Xms{HEAP_GIB}g",
    f"-Xmx{HEAP_GIB}g",
    "-XX:+AlwaysPreTouch",
    "-XX:+UseTransparentHugePages",
)
OLDEST = 17
#: What the names of a JVM's own threads begin with, in HotSpot, Graal and OpenJ9; the kernel keeps
#: 15 characters of a name.
COMPILERS = ("C1 Compiler", "C2 Compiler", "JVMCI Compiler", "JIT Compilation")
COLLECTORS = ("GC Thread", "G1 ")
#: Where packages, installers and people put JDKs, a folder each.
FOLDERS = ("/usr/lib/jvm", "/usr/java", "/opt", "/opt/java", "~/.sdkman/candidates/java")
_COLLECTOR = re.compile(r"-XX:\+Use(?!Transparent)\w+GC")
#: A line of -XX:+PrintFlagsFinal, of a flag that somebody has set: we, or the JVM for this machine.
_SET_FLAG = re.compile(r"^ *\S+ (\S+) +:?= (\S*) .*\{(?:command line|ergonomic)\}$", re.MULTILINE)


def java() -> str:
    """The program: JAVA_HOME's, else that of the newest JDK installed, from 17 on, else PATH's."""
    if home := os.environ.get("JAVA_HOME"):
        return str(Path(home, "bin", "java"))
    return _newest()


def version() -> int:
    """Of the language: 17 or newer, 0 where it is not known."""
    program = shutil.which(java())
    return _version(Path(program).resolve().parent.parent)[0] if program else 0


def command(settings: Mapping[str, str] | None = None) -> list[str]:
    """`java` with its flags: ours, the settings' JAVA_OPTIONS, and those of our own environment,
    which so have the last word. A collector that is named there takes the place of ours."""
    given = [variables.get("JAVA_OPTIONS", "") for variables in (settings or {}, os.environ)]
    options = shlex.split(" ".join(given))
    other_collector = any(_COLLECTOR.fullmatch(each) for each in options)
    ours = [each for each in FLAGS if not (other_collector and _COLLECTOR.fullmatch(each))]
    return [java(), *ours, *options]


def described() -> dict[str, Any]:
    """Where it is, its version, and the flags that are not at their default, such as the collector
    and the heap."""
    output = process.output([*command(), "-XX:+PrintFlagsFinal", "-version"])
    version = re.search(r"^(?:openjdk|java) version .*", output, re.MULTILINE)
    flags = dict(_SET_FLAG.findall(output))
    flags.pop("PrintFlagsFinal", None)
    return {
        "java": version[0] if version else "unknown",
        "java_program": shutil.which(java()) or java(),
        "java_flags": flags,
    }


def compilers_cpu_ms(pids: tuple[int, ...]) -> float:
    """CPU time of the compilers of these processes so far, milliseconds; 0 where there are none."""
    return process.threads_cpu_ms(pids, COMPILERS)


def collectors_cpu_ms(pids: tuple[int, ...]) -> float:
    """The same of their garbage collectors."""
    return process.threads_cpu_ms(pids, COLLECTORS)


@functools.cache
def _newest() -> str:
    found = [
        (version, str(program))
        for folder in FOLDERS
        for program in Path(folder).expanduser().glob("*/bin/java")
        if (version := _version(program.parent.parent))[0] >= OLDEST
    ]
    return max(found)[1] if found else "java"


def _version(home: Path) -> tuple[int, ...]:
    """Such as (17, 0, 15), from the file that every JDK brings; (0,) without it."""
    try:
        release = (home / "release").read_text(encoding="utf-8")
    except OSError:
        return (0,)
    found = re.search(r'^JAVA_VERSION="([\d.]+)', release, re.MULTILINE)
    return tuple(int(part) for part in found[1].split(".") if part) if found else (0,)
