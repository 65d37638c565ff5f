"""The installed JMeter: where it is, and whether it can run."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from restbench import ROOT
from restbench.failures import EnvironmentProblem

PLANS = ROOT / "jmeter-plans"
LAUNCHER = PLANS / "jmeter.sh"
HOME = PLANS / "target" / "apache-jmeter"
#: The sampler of trials, and the program that makes many dashboards in one JVM.
PROGRAMS = HOME / "lib" / "ext" / "restbench-programs.jar"


def require_jmeter() -> None:
    """EnvironmentProblem when JMeter has not been set up, or has no Java to run on."""
    if not _jars():
        raise EnvironmentProblem("JMeter is not set up: run 'make setup'")
    java = str(Path(os.environ.get("JAVA_HOME", ""), "bin", "java"))
    if shutil.which(java if "JAVA_HOME" in os.environ else "java") is None:
        raise EnvironmentProblem(
            "JMeter's Java is missing: apt-get install openjdk-17-jdk-headless, or set JAVA_HOME"
        )


def version() -> str:
    """JMeter's version, from the name of its jar; `none` where it is not installed."""
    jars = _jars()
    return jars[0].stem.rpartition("-")[2] if jars else "none"


def _jars() -> list[Path]:
    return sorted(HOME.glob("bin/ApacheJMeter-*.jar"))
