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
from restbench_robustness.overload.load import Plan, begun_file
from restbench_robustness.overload.outcome import Outcome
from restbench_robustness.overload.waiting import seconds_until

_PACKAGE_FOLDER = Path(__file__).parents[2]
#: For the bodies of the largest shapes, and a thousand connections to a busy service.
BEGIN_TIMEOUT_S = 60.0
_numbers = itertools.count(1)


@dataclass(frozen=True)
class RunningLoad:
    """A load that is being carried out."""

    plan: Plan
    process: subprocess.Popen[bytes]
    written: Path
    log: Path

    def await_begun(self) -> None:
        """It makes its bodies and connects first."""
        begun = begun_file(self.written)
        seconds_until(lambda: begun.exists() or self.process.poll() is not None, BEGIN_TIMEOUT_S)
        if not begun.exists():
            raise EnvironmentProblem(f"the load's client failed:\n{process.tail(self.log)}")

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
    """A load that sends already; killed if the block is left before its end.

    Call from the main thread. EnvironmentProblem where its client does not come up.
    """
    name = f"load-{next(_numbers)}"
    told, written, log = (folder / f"{name}.{end}" for end in ("plan", "outcome", "log"))
    plan.write(told)
    command = [sys.executable, "-m", "restbench_robustness.overload.load", str(told), str(written)]
    environment = {"PYTHONPATH": str(_PACKAGE_FOLDER)}
    started = process.start(process.bound_to_us(command), log, environment)
    load = RunningLoad(plan, started, written, log)
    try:
        load.await_begun()
        yield load
    finally:
        process.stop(started)


def carried_out(plan: Plan, folder: Path) -> Outcome:
    """A whole load, from start to end."""
    with running(plan, folder) as load:
        return load.result()
