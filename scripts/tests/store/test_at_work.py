"""Who measures a run has it alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from restbench.failures import EnvironmentProblem
from restbench.store import at_work
from restbench.store.store import Run

HOLDER = """
import sys, time
from pathlib import Path
from restbench.store.at_work import held
from restbench.store.store import Run
with held(Run(Path(sys.argv[1]))):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_run_that_another_process_measures_is_refused_until_that_is_killed(
    tmp_path: Path,
) -> None:
    run = Run(tmp_path)
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(run.path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with (
            pytest.raises(EnvironmentProblem, match="another process is measuring this run"),
            at_work.held(run),
        ):
            pass
    finally:
        holder.kill()
        holder.communicate()
    with at_work.held(run) as is_held:
        assert is_held
