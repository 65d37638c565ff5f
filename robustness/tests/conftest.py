"""The properties hold on whatever machine: the same examples each time, and no clock."""

import os

from hypothesis import HealthCheck, settings

from restbench.machine import watch

settings.register_profile(
    "any machine", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")

#: A JVM that touches its heap beforehand takes seconds to start, and C2 as much again.
os.environ.setdefault("JAVA_OPTIONS", "-Xms64m -XX:TieredStopAtLevel=1")
os.environ[watch.MACHINE] = f"restbench-tests-{os.getpid()}"
