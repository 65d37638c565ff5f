"""Another Python process beside a test."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

SLEEPS = "import time; time.sleep(600)"


@contextmanager
def beside(
    program: str = SLEEPS, *arguments: str, **environment: str
) -> Iterator[subprocess.Popen[str]]:
    """It has pipes to be asked and to answer, and is killed at the end."""
    with subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=os.environ | environment,
    ) as started:
        try:
            yield started
        finally:
            started.kill()


def line_of(started: subprocess.Popen[str]) -> str:
    """The next that it prints, which is waited for."""
    assert started.stdout is not None
    return started.stdout.readline().rstrip("\n")
