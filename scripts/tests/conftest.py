"""What every test starts from: a machine of its own, as far as the lock of benchmarks goes."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from restbench.machine import machine_lock

#: No test is about speed: a JVM that touches no heap beforehand and compiles simply starts with a
#: third of the CPU time.
os.environ.setdefault("JAVA_OPTIONS", "-Xms64m -XX:TieredStopAtLevel=1")
os.environ[machine_lock.VARIABLE] = f"restbench-tests-{os.getpid()}"


@pytest.fixture(autouse=True)
def _lets_go_of_the_machine() -> Iterator[None]:
    yield
    while machine_lock._held:
        machine_lock._held.popitem()[1].close()
