"""The commands end to end in their shortest form: what comes out means nothing, that it does is
what is looked at."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import tool
from ports import free_port

from restbench.experiment.records import Microbench
from restbench.store import store

pytestmark = pytest.mark.live
#: No number means anything: the JVMs have one compiler, and touch no heap beforehand.
JVM = "-Xms64m -XX:-AlwaysPreTouch -XX:TieredStopAtLevel=1"


@pytest.mark.timeout(1800)
def test_both_services_parts_are_timed_and_kept() -> None:
    strategies = "shared-pool,process-per-request"
    chosen = ("--profile", "smoke", "--strategies", strategies)
    done = tool("bench_microbench", *chosen, _JAVA_OPTIONS=JVM)
    assert done.returncode == 0, done.stdout + done.stderr
    kept = next(line.split()[1] for line in done.stdout.splitlines() if line.startswith("kept"))
    markdown = Path(kept)
    try:
        made = store.read_model(markdown.with_suffix(".json"), Microbench)
        assert markdown.read_text().startswith("# The parts of a request")
    finally:
        for path in (markdown, markdown.with_suffix(".json")):
            path.unlink()
    assert not made.whole
    assert markdown.parent.name == "partial"
    assert {(each.service, each.strategy, each.kernel) for each in made.break_evens} == {
        (service, strategy, kernel)
        for service, strategy in (("java", "shared-pool"), ("python", "process-per-request"))
        for kernel in ("loops", "native")
    }
    parts = {(each.service, each.part) for each in made.scores}
    assert len(parts) == 10
    assert all(len(each.runs_us) == 2 and min(each.runs_us) > 0 for each in made.scores)


@pytest.mark.timeout(1800)
def test_growth_is_fitted_from_a_running_service() -> None:
    ports = {"PYTHON_PORT": str(free_port())}
    chosen = ("--service", "python", "--strategies", "serial")
    done = tool("bench_growth", "--profile", "smoke", *chosen, **ports)
    # whether noise looked like growth is nobody's business here
    assert done.returncode in (0, 6), done.stdout + done.stderr
    # By words: where a busy machine makes wide intervals the other columns are broken.
    words = set(done.stdout.split())
    told = {"parse,", "cubes", "serial", "processes", "users", "1-4"}
    assert told <= words, done.stdout
