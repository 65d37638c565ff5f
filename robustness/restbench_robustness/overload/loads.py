"""Loads as processes that this one starts, ends and never leaves behind."""

from __future__ import annotations

import contextlib
import itertools
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from restbench import process
from restbench.failures import EnvironmentProblem
from restbench_robustness.overload import outcome
from restbench_robustness.overload.load import Plan
from restbench_robustness.overload.outcome import Outcome

_PACKAGE_FOLDER = Path(__file__).parents[2]
_numbers = itertools.count(1)


@dataclass(frozen=True)
class RunningLoad:
    """A load that is being carried out."""

    plan: Plan
    process: subprocess.Popen[bytes]
    written: Path
    log: Path

    def finish(self) -> Outcome:
        """End the sending, wait for the answers that are due, tell what became of all."""
        self.process.terminate()
        return self._written_within(3 * self.plan.timeout_s)

    def result(self) -> Outcome:
        """Wait for the plan's end and for the answers that are due.

        EnvironmentProblem where the client itself failed.
        """
        return self._written_within(self.plan.seconds + 3 * self.plan.timeout_s)

    def _written_within(self, allowed_s: float) -> Outcome:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(allowed_s)
        if not self.written.exists():
            raise EnvironmentProblem(f"the load's client failed:\n{process.tail(self.log)}")
        return outcome.read(self.written)


@contextmanager
def running(plan: Plan, folder: Path) -> Iterator[RunningLoad]:
    """A load under way; killed if the block is left before its end. Call from the main thread."""
    name = f"load-{next(_numbers)}"
    told, written, log = (folder / f"{name}.{end}" for end in ("plan", "outcome", "log"))
    plan.write(told)
    command = [sys.executable, "-m", "restbench_robustness.overload.load", str(told), str(written)]
    environment = {"PYTHONPATH": str(_PACKAGE_FOLDER)}
    started = process.start(process.bound_to_us(command), log, environment)
    try:
        yield RunningLoad(plan, started, written, log)
    finally:
        process.stop(started)


def carried_out(plan: Plan, folder: Path) -> Outcome:
    """A whole load, from start to end."""
    with running(plan, folder) as load:
        return load.result()
