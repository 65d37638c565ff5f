"""The command lines of the services under test."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from restbench import jvm
from restbench.cell import ServiceName
from restbench.failures import EnvironmentProblem
from restbench.store import ROOT

JAR = ROOT / "java-service" / "target" / "restbench-java.jar"
PYTHON_SERVICE = ROOT / "python-service"

NO_SETTINGS: Mapping[str, str] = {}


def java_command(settings: Mapping[str, str] = NO_SETTINGS) -> list[str]:
    """The Java service's command line."""
    if not JAR.exists():
        raise EnvironmentProblem(f"{JAR} is missing: run 'make setup'")
    return [*jvm.command(settings), "-jar", str(JAR)]


def python_command(settings: Mapping[str, str] = NO_SETTINGS) -> list[str]:  # noqa: ARG001 - as Java's
    """The Python service's command line: gunicorn of this virtual environment."""
    configuration = str(PYTHON_SERVICE / "gunicorn.conf.py")
    # gunicorn reads its configuration, which imports the service, before it would change folder.
    path = f"PYTHONPATH={PYTHON_SERVICE}"
    return ["env", path, sys.executable, "-m", "gunicorn", "-c", configuration]


COMMANDS: dict[ServiceName, Callable[[Mapping[str, str]], list[str]]] = {
    "java": java_command,
    "python": python_command,
}
