"""The command lines of the services under test and of the front server."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from restbench import machine
from restbench.cell import ServiceName
from restbench.failures import EnvironmentProblem
from restbench.store import ROOT

JAR = ROOT / "java-service" / "target" / "restbench-java.jar"
PYTHON_SERVICE = ROOT / "python-service"

#: A fixed heap keeps resizing out of the windows, and one that was touched at the start keeps page
#: faults out of the first ones, until it is first filled; anything may be added with JAVA_OPTIONS.
JAVA_HEAP = ["-Xms1g", "-Xmx1g", "-XX:+AlwaysPreTouch"]
NO_SETTINGS: Mapping[str, str] = {}


def java_command(settings: Mapping[str, str] = NO_SETTINGS) -> list[str]:
    """The Java service's command line; JAVA_HOME chooses the JVM, JAVA_OPTIONS adds flags: those of
    the settings, then those of our own environment, which so have the last word."""
    if not JAR.exists():
        raise EnvironmentProblem(f"{JAR} is missing: run 'make setup'")
    given = [told.get("JAVA_OPTIONS", "") for told in (settings, os.environ)]
    options = shlex.split(" ".join(given))
    return [machine.java(), *JAVA_HEAP, *options, "-jar", str(JAR)]


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


def apache_command() -> list[str]:
    """The front server's command line."""
    found = next((path for path in ("/usr/sbin/apache2",) if Path(path).exists()), None)
    if found is None:
        raise EnvironmentProblem("apache2 is missing: apt-get install apache2-bin")
    return [found, "-f", str(PYTHON_SERVICE / "apache" / "httpd.conf"), "-DFOREGROUND"]
