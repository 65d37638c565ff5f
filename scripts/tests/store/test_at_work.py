"""Who measures a run has it alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from other_process import beside, line_of

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
    with beside(HOLDER, str(run.path)) as holder:
        assert line_of(holder) == "held"
        with (
            pytest.raises(EnvironmentProblem, match="another process is measuring this run"),
            at_work.held(run),
        ):
            pass
    with at_work.held(run) as is_held:
        assert is_held
