"""The large file is for `make bench-analysis`; here a small one goes the same way."""

import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from restbench.analyse import measures
from restbench.drive import load
from restbench.experiment.records import CellRun
from restbench.failures import EnvironmentProblem
from restbench.store.cell_folder import CellFolder
from restbench.store.store import read_model
from restbench.tools import analysis_bench

ROWS = 50_000


def test_the_file_is_analysed_whole(tmp_path: Path) -> None:
    folder = CellFolder(tmp_path)
    analysis_bench.lay_down(folder, ROWS)
    found = measures.measurement(read_model(folder.record, CellRun), folder)
    assert found.samples is not None
    assert found.errors is not None
    assert found.samples + found.errors == pytest.approx(0.8 * ROWS, rel=0.05)
    assert found.errors == pytest.approx(0.001 * found.samples, rel=0.1)
    assert found.timeline is not None
    # Four thousand requests a second, of a generator of which no ceiling is known.
    assert set(found.flags) <= {"errors", "no-sar", "generator-busy"}


@pytest.mark.live
def test_both_analyses_are_timed_on_the_same_file(tmp_path: Path) -> None:
    timed = list(analysis_bench.compare(CellFolder(tmp_path), ROWS))
    assert [each.name.partition(" ")[0] for each in timed] == ["restbench", "JMeter", "JMeter"]
    assert all(each.seconds > 0 and each.peak_mib > 10 for each in timed)
    for dashboard in ("as-shipped", "all-samples"):
        assert (tmp_path / dashboard / "index.html").exists()


def test_a_generator_that_fails_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "LAUNCHER", Path("false"))
    monkeypatch.setattr(load, "require_jmeter", lambda: None)
    with pytest.raises(EnvironmentProblem, match="JMeter dashboard, as shipped: ended with 1"):
        list(analysis_bench.compare(CellFolder(tmp_path), 1_000))


def test_what_is_timed_does_not_outlive_us() -> None:
    code = "from restbench.tools import analysis_bench as bench; "
    code += "bench._run('a sleep', ['sleep', '300'])"
    with subprocess.Popen([sys.executable, "-c", code]) as timing:
        while not (children := psutil.Process(timing.pid).children()):
            time.sleep(0.05)
        timing.kill()
    gone, alive = psutil.wait_procs(children, timeout=60)
    assert gone
    assert not alive
