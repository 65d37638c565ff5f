"""A benchmark program, run to its end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from restbench.failures import EnvironmentProblem, WrongAnswers
from restbench.machine import process

#: What both services' programs say of an answer that is not the product.
WRONG = "a wrong answer"
#: Far more than any of them takes.
TIMEOUT_S = 4 * 3600.0


def run(name: str, command: Sequence[str], log: Path) -> str:
    """Everything that it printed, which `log` keeps. Nothing of it is left running.

    WrongAnswers where it met one; EnvironmentProblem where it fails.
    """
    log.unlink(missing_ok=True)
    code = process.finished(process.bound_to_us(list(command)), log, TIMEOUT_S)
    if code is None:
        raise EnvironmentProblem(f"{name}: not done after {TIMEOUT_S / 3600:g} h")
    output = log.read_text(encoding="utf-8", errors="replace")
    if WRONG in output:
        line = next(each for each in output.splitlines() if WRONG in each)
        raise WrongAnswers(f"{name}: {line.strip()}")
    if code:
        raise EnvironmentProblem(f"{name}: ended with {code}; it said:\n{process.tail(log)}")
    return output
