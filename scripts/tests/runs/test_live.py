"""The whole chain on the real services: the smoke experiment, and what it leaves behind."""

from __future__ import annotations

import csv
from pathlib import Path

import psutil
import pytest
from command_line import started
from ports import free_port
from techniques_seen import seen_to_do
from waiting import await_true

from restbench.deploy import service
from restbench.experiment.cell import STRATEGIES
from restbench.machine import placement, ports
from restbench.store import store

pytestmark = pytest.mark.live
SMOKE = ["run", "smoke", "--profile", "smoke", "--minutes", "0.2"]
SMOKE += ["--cells", "strategy=pinned,process-per-request"]
MEASURED = {("java", "pinned"), ("python", "process-per-request")}


@pytest.fixture(scope="module", params=STRATEGIES)
def live(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    cores, folder = placement.core_list(placement.allowed_cores()), tmp_path_factory.mktemp("live")
    with service.start(request.param, "none", cores, folder, port=free_port()) as running:
        yield running


def test_every_strategy_does_what_its_name_says(live: service.Service) -> None:
    assert set(live.strategies()) <= set(STRATEGIES[live.name])
    verdicts = [seen_to_do(live, name) for name in live.strategies()]
    assert [each for each in verdicts if not each.does] == []


def test_the_smoke_experiment_leaves_tables_pages_and_nothing_running(tmp_path: Path) -> None:
    """A cell of each service: one whose technique is a thread's place, one with other processes."""
    mark = {"OF_THIS_TEST": str(tmp_path)}
    own_ports = {variable: str(free_port()) for variable in ports.PORT_VARIABLES.values()}
    done = started(*SMOKE, **own_ports, **mark)
    assert done.returncode == 0, done.stdout + done.stderr
    run = store.open_run("latest")
    check_table(run)
    check_block(run)
    assert run.report.exists()
    # What the proofs say is for a test of its own, which looks as often as it takes.
    assert {(each.service, each.strategy) for each in run.proofs()} == MEASURED
    assert all(each.does is not None and each.evidence for each in run.proofs())
    assert await_true(lambda: not left_of(mark)), left_of(mark)


def left_of(mark: dict[str, str]) -> list[list[str]]:
    """Processes with this in their environment; the guardian's end is told to nobody."""
    everything = psutil.process_iter(["cmdline", "environ"])
    ours = [p.info for p in everything if mark.items() <= (p.info["environ"] or {}).items()]
    return [each["cmdline"] for each in ours]


def check_table(run: store.Run) -> None:
    with run.test_matrix_csv.open() as table:
        rows = list(csv.DictReader(table))
    assert {(row["service"], row["strategy"]) for row in rows} == MEASURED
    for row in rows:
        assert float(row["throughput_per_s"]) > 0
        assert (row["errors"], row["wrong_answers"]) == ("0", "0")
        assert float(row["cpu_ms_per_request"]) > 0
        assert float(row["compute_ms"]) > 0


def check_block(run: store.Run) -> None:
    (block,) = run.trials.blocks()
    assert block.finished
    assert block.facts["load_cores"]
