"""The command lines of the services under test."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from zipfile import ZipFile

from restbench import ROOT
from restbench.experiment.cell import DEFAULT_FRAMEWORKS, Cell, Framework, ServiceName
from restbench.experiment.selection import Where
from restbench.failures import BadConfiguration, EnvironmentProblem
from restbench.machine import jvm

JAR = ROOT / "java-service" / "target" / "restbench-java.jar"
PYTHON_SERVICE = ROOT / "python-service"

NO_SETTINGS: Mapping[str, str] = {}
#: The Java version that a framework needs, where the service itself needs an older one.
NEEDS_JAVA = {"helidon": 21}
#: Variables that may not be set in the environment of a run: they are factors of its cells.
_FACTORS = ("RESTBENCH_WORKERS", "RESTBENCH_HANDOFF")
#: A program that prints which packages each framework lacks, by the table of the Python service.
_ASK_FRAMEWORKS = """
import json
from importlib.util import find_spec
from restbench_service.frameworks import FRAMEWORKS
lack = lambda of: [each for each in of.packages if not find_spec(each)]
print(json.dumps({name: lack(of) for name, of in FRAMEWORKS.items()}))
"""


def java_command(settings: Mapping[str, str] = NO_SETTINGS, jar: Path = JAR) -> list[str]:
    """The command line of the Java service, or of another jar. EnvironmentProblem without it."""
    if not jar.exists():
        raise EnvironmentProblem(f"{jar} is missing: run 'make setup'")
    return [*jvm.command(settings), "-jar", str(jar)]


def python_program(*arguments: str, folders: Sequence[Path] = (PYTHON_SERVICE,)) -> list[str]:
    """The command line of a Python program with modules of `folders`, in this environment."""
    path = ":".join(map(str, folders))
    return ["env", f"PYTHONPATH={path}", sys.executable, *arguments]


def why_unavailable(name: ServiceName, framework: Framework) -> str:
    """Why a service cannot run in a framework here, with the fix; empty where it can."""
    if framework == DEFAULT_FRAMEWORKS[name]:
        return ""
    if name == "java":
        needed, found = NEEDS_JAVA.get(framework, 0), jvm.version()
        if found < needed:
            return f"{framework}: needs Java {needed}, this is {found}"
        if needed and JAR.exists():  # a missing jar is reported elsewhere
            with ZipFile(JAR) as jar:
                if not any(framework in each for each in jar.namelist()):
                    return f"{framework}: the service was built with a Java below {needed}"
        return ""
    packages = _missing_packages().get(framework)
    if packages is None:
        return f"{framework}: this checkout's Python service does not have it"
    named = ", ".join(packages)
    return f"{framework}: not installed ({named}): make frameworks" if packages else ""


def require_frameworks(cells: Sequence[Cell], selection: Where) -> None:
    """BadConfiguration where the environment sets a framework or another factor of a run, or a
    framework that was selected by its name is not available here."""
    if given := [name for name in _FACTORS if cells and os.environ.get(name)]:
        raise BadConfiguration(f"{given[0]}: is a factor of a run's cells: unset the variable")
    wanted = dict.fromkeys((each.service, each.framework) for each in cells)
    for name in dict.fromkeys(name for name, _ in wanted):
        variable = f"{name.upper()}_FRAMEWORK"
        if (value := os.environ.get(variable)) not in (None, "", DEFAULT_FRAMEWORKS[name]):
            raise BadConfiguration(
                f"{variable}={value}: the framework is a factor of a run's cells: write "
                f'framework = "{value}" into [[cells]] of an experiment\'s file, or take '
                f"EXPERIMENT=frameworks with --cells 'framework={value}'"
            )
    for name, framework in wanted:
        named = framework in (selection.framework or ())
        if named and (lack := why_unavailable(name, framework)):
            raise BadConfiguration(f"CELLS: framework: {lack}")


@functools.cache
def _missing_packages() -> dict[str, list[str]]:
    line = python_program("-c", _ASK_FRAMEWORKS)
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode:
        said = done.stderr.strip().rpartition("\n")[2]
        raise EnvironmentProblem(f"{PYTHON_SERVICE}: its table of frameworks: {said}")
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


COMMANDS: dict[ServiceName, Callable[[Mapping[str, str]], list[str]]] = {
    "java": java_command,
    "python": lambda _settings: python_program("-m", "restbench_service"),
}
