"""The JVM of the service, the kernels without HTTP and the microbenchmarks: its program, its flags,
the settings that result from them, and the CPU time of its own threads."""

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
#: Garbage collector and heap are the same on any number of cores (by default a JVM takes another
#: collector on one core than on two). A heap of fixed size that is touched at the start keeps
#: resizing and page faults out of the windows. Huge pages are requested, where the kernel gives
#: them on request: numpy requests them too, and otherwise it is chance which process gets them.
FLAGS = (
    "-XX:+UseG1GC",
    f"-Xms{HEAP_GIB}g",
    f"-Xmx{HEAP_GIB}g",
    "-XX:+AlwaysPreTouch",
    "-XX:+UseTransparentHugePages",
)
OLDEST = 17
#: How a JVM names its own threads (HotSpot, Graal, OpenJ9); the kernel keeps 15 characters.
COMPILERS = ("C1 Compiler", "C2 Compiler", "JVMCI Compiler", "JIT Compilation")
COLLECTORS = ("GC Thread", "G1 ")
#: Folders in which packages, installers and users put JDKs, each in a folder of its own.
FOLDERS = ("/usr/lib/jvm", "/usr/java", "/opt", "/opt/java", "~/.sdkman/candidates/java")
_COLLECTOR = re.compile(r"-XX:\+Use(?!Transparent)\w+GC")
#: A flag that was set by the command line or for this machine, as -XX:+PrintFlagsFinal prints it.
_SET_FLAG = re.compile(r"^ *\S+ (\S+) +:?= (\S*) .*\{(?:command line|ergonomic)\}$", re.MULTILINE)


def java() -> str:
    """The `java` of JAVA_HOME, else of the newest installed JDK from 17 on, else of PATH."""
    if home := os.environ.get("JAVA_HOME"):
        return str(Path(home, "bin", "java"))
    return _newest()


def version() -> int:
    """Major version of Java, such as 17; 0 where it is not known."""
    program = shutil.which(java())
    return _version(Path(program).resolve().parent.parent)[0] if program else 0


def command(settings: Mapping[str, str] | None = None) -> list[str]:
    """`java` with its flags: ours, then JAVA_OPTIONS of the settings, then of our environment.
    Later ones override earlier ones. A collector that is named in them replaces ours."""
    given = [variables.get("JAVA_OPTIONS", "") for variables in (settings or {}, os.environ)]
    options = shlex.split(" ".join(given))
    other_collector = any(_COLLECTOR.fullmatch(each) for each in options)
    ours = [each for each in FLAGS if not (other_collector and _COLLECTOR.fullmatch(each))]
    return [java(), *ours, *options]


def described(settings: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The path of `java`, its version, and the flags that are not at their default under these
    settings, such as the collector and the heap."""
    output = process.output([*command(settings), "-XX:+PrintFlagsFinal", "-version"])
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
    """CPU time of the garbage collectors of these processes so far, milliseconds."""
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
    """The version of a JDK, such as (17, 0, 15), from its file `release`; (0,) without it."""
    try:
        release = (home / "release").read_text(encoding="utf-8")
    except OSError:
        return (0,)
    found = re.search(r'^JAVA_VERSION="([\d.]+)', release, re.MULTILINE)
    return tuple(int(part) for part in found[1].split(".") if part) if found else (0,)
