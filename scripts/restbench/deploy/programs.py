"""The command lines of the services under test."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from restbench import ROOT
from restbench.experiment.cell import ServiceName
from restbench.failures import EnvironmentProblem
from restbench.machine import jvm

JAR = ROOT / "java-service" / "target" / "restbench-java.jar"
PYTHON_SERVICE = ROOT / "python-service"

NO_SETTINGS: Mapping[str, str] = {}


def java_command(settings: Mapping[str, str] = NO_SETTINGS) -> list[str]:
    """The Java service's command line."""
    if not JAR.exists():
        raise EnvironmentProblem(f"{JAR} is missing: run 'make setup'")
    return [*jvm.command(settings), "-jar", str(JAR)]


def python_command(settings: Mapping[str, str] = NO_SETTINGS) -> list[str]:  # noqa: ARG001 - as Java's
    """The Python service's command line, in this virtual environment."""
    return ["env", f"PYTHONPATH={PYTHON_SERVICE}", sys.executable, "-m", "restbench_service"]


COMMANDS: dict[ServiceName, Callable[[Mapping[str, str]], list[str]]] = {
    "java": java_command,
    "python": python_command,
}
