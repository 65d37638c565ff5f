"""Whole NPB runs against stubs: a fresh process takes twice the time of a warm one."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from command_line import restbench
from stub_bench import Bench, Ran
from stub_kernel import FRESH_S, GENERATE_S, REFUSAL, WARM_S

from restbench.analyse import measures, npb
from restbench.commands.results import keep_run
from restbench.store import exported, store
from restbench.store.store import Run

pytestmark = pytest.mark.live

EXPERIMENT = """
driver = "npb"
views = ["npb"]
name = "stubbed-npb"
title = "Kernels against stubs"
seed = 3
claims = "claims/npb.toml"

[settings.java]
JAVA_OPTIONS = "-Xmx64m"

[npb]
run_max_s = 10

[npb.runs]
p = {{ S = {{ runs = 3, kept = 2 }} }}
{clients}
[npb.published]
source = "Nobody"
machine = "none"

[npb.published.rows]
CG-S = [0.042, 1587.0, 0.042, 1627.0]

[profiles.p]
minutes = 2
blocks = {blocks}
warm_max_s = {{ java = 0.0, python = 0.0 }}

[[cells]]
name = "Java"
service = "java"
strategy = {strategies}
complexity = ["CG-S", "IS-S"]
users = 1

[[cells]]
name = "Java on so many cores"
service = "java"
strategy = "shared-pool"
complexity = "CG-S-on-*"
users = 1
"""


CLIENTS = """
[npb.clients]
names = ["java-rest", "java-soap", "python-rest", "python-soap"]
where = { service = "java", strategy = "serial" }
"""


def experiment(strategies: Sequence[str] = ("serial",), blocks: int = 1, clients: str = "") -> str:
    return EXPERIMENT.format(strategies=json.dumps(strategies), blocks=blocks, clients=clients)


def run_kernels(
    folder: Path,
    text: str,
    *options: str,
    faults: dict[str, str] | None = None,
    **environment: str,
) -> Ran:
    shutil.copytree(store.EXPERIMENTS / "claims", folder / "claims")
    return Bench(folder).run_of(text, *options, faults=faults, **environment)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return run_kernels(tmp_path_factory.mktemp("npb"), experiment(blocks=2))


def table(run: Run) -> list[dict[str, str]]:
    with run.npb_csv.open() as lines:
        return list(csv.DictReader(lines))


def test_each_cell_has_its_four_times(ran: Ran) -> None:
    assert ran.code == 0, ran.told
    rows = [row for row in table(ran.run) if not row["cores"]]
    assert [(row["kernel"], row["class"]) for row in rows] == [("IS", "S"), ("CG", "S")]
    for row in rows:
        assert row["verified"] == "yes"
        found = [float(row[name]) for name in ("fresh_s", "warm_s", "service_s", "warm_total_s")]
        assert found == [FRESH_S, WARM_S, WARM_S, WARM_S + GENERATE_S]
        assert float(row["client_s"]) > 0
        assert float(row["service_per_fresh"]) == pytest.approx(WARM_S / FRESH_S)
        assert float(row["service_per_warm"]) == pytest.approx(1)
    assert ran.bench.left_running() == []


def test_the_claim_is_decided_both_ways(ran: Ran) -> None:
    page = ran.run.report.read_text()
    assert "N1" in ran.told
    decided = {each.id: each for each in exported.read(ran.run.exported_file).claims}
    assert "is not in this run" in decided["N1"].why, "the other classes of the claim"
    assert "time S CG-S 1u service / fresh = 0.500" in page or "0.500 = warm" in page
    assert "0.500 = warm / fresh 0.500" in page
    assert "service / warm 1.000" in page


def test_numbers_of_cores_are_looked_at_without_a_service(ran: Ran) -> None:
    scaled = [row for row in measures.rows(ran.run) if npb.work(row).cores]
    assert npb.work(scaled[0]).cores == 1
    for each in (block.extras for row in scaled for block in row.measured):
        assert (each["fresh_s"], each["warm_s"]) == (FRESH_S, WARM_S)
        assert "service_s" not in each
    assert ran.run.named_figure("npb-speed-up").read_text().startswith("<svg")


def test_the_report_can_be_made_again_to_the_byte(ran: Ran) -> None:
    run = ran.run
    made = [
        run.npb_csv,
        run.named_figure("npb-time"),
        run.named_figure("npb-speed-up"),
    ]
    first = [path.read_bytes() for path in made]
    for path in made:
        path.unlink()
    assert restbench("report", str(run.path)).returncode == 0
    assert [path.read_bytes() for path in made] == first


def test_the_runs_file_has_the_times_of_cells_and_blocks(ran: Ran) -> None:
    told = exported.read(ran.run.exported_file)
    cell = next(each for each in told.cells if each.id == "java-serial-unbound-CG-S-1u")
    assert cell.extras["fresh_s"].value == pytest.approx(FRESH_S)
    assert (cell.extras["fresh_s"].low, cell.blocks, cell.trials) == (None, 2, 2)
    assert cell.throughput_per_s is not None
    assert {each.block for each in told.blocks if each.cell == cell.id} == {1, 2}


def test_two_runs_are_compared_by_the_time_in_the_service(ran: Ran) -> None:
    done = restbench("compare", str(ran.run.path), str(ran.run.path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "service_s" in done.stdout
    assert "java-serial-unbound-CG-S-1u" in done.stdout
    other = restbench("compare", *[str(ran.run.path)] * 2, "--metric", "speed")
    assert "choose one of throughput_per_s" in other.stderr
    assert "client_s" in other.stderr


def test_no_cell_of_it_has_a_dashboard(ran: Ran) -> None:
    done = restbench("dashboard", str(ran.run.path), "a-cell")
    assert done.returncode == 2
    assert "no long window of 'a-cell'" in done.stderr


def test_a_kept_run_has_what_was_found_and_what_it_was_held_against_and_nothing_raw(
    ran: Ran, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, kept = ran.run, Run(tmp_path / "kept")
    monkeypatch.setattr(store, "RESULTS", tmp_path)
    keep_run(str(run.path), "kept")
    for file in ("npb_csv", "exported_file"):
        assert getattr(kept, file).read_bytes() == getattr(run, file).read_bytes()
    recorded = exported.read(kept.exported_file)
    assert recorded.experiment.claims_toml == run.claims_file.read_text()
    assert "npb-time" in kept.report.read_text()
    assert not list(kept.path.rglob("*.svg"))
    assert not kept.has_raw_data


def test_clients_call_the_service_after_the_harness_and_end_with_their_block(
    tmp_path: Path,
) -> None:
    ran = run_kernels(tmp_path, experiment(clients=CLIENTS), "--cells", "complexity=CG-S,IS-S")
    assert ran.code == 0, ran.told
    for row in table(ran.run):
        names = ("java_rest_s", "java_soap_s", "python_rest_s", "python_soap_s")
        assert [row[name] for name in names] == ["0.01"] * 4
        assert float(row["python_soap_call_ms"]) == pytest.approx(10)
        assert (row["clients_asked"], row["clients_same"]) == ("4.0", "4.0")
    assert "SOAP adds 0.00 ms to a call of the Java client" in ran.told
    assert "4 of 4" in ran.run.report.read_text()
    assert ran.bench.left_running() == []


def test_a_client_that_does_not_start_is_told_before_the_first_cell(tmp_path: Path) -> None:
    ran = run_kernels(tmp_path, experiment(clients=CLIENTS), STUB_CLIENT="false")
    assert ran.code == 3
    assert "the java client ended" in ran.done.stderr
    assert ran.run.trials.trials() == []
    assert ran.bench.left_running() == []


def test_what_goes_wrong_costs_its_cells_and_is_never_a_time(tmp_path: Path) -> None:
    """A service that dies, a class without memory, and what is not verified, in the service and in
    the program without HTTP."""
    faults = {"pinned": "die-proving", "pipeline": "refused"}
    faults |= {"thread-pool": "unverified", "fork-join": "unverified-direct"}
    text = experiment(strategies=("serial", *faults))
    ran = run_kernels(tmp_path, text, "--cells", "complexity=CG-S", faults=faults)
    assert ran.code == 5, ran.told
    found = {row["strategy"]: row for row in table(ran.run)}
    page = ran.run.report.read_text()
    assert found["serial"]["service_s"] == str(WARM_S)
    for strategy, verified in (("thread-pool", "NO"), ("fork-join", "NO"), ("pipeline", "refused")):
        row = found[strategy]
        assert (row["verified"], row["fresh_s"], row["service_s"]) == (verified, "", "")
    assert "not verified: 8.4, the reference is 8.5" in page
    assert REFUSAL in page
    assert "1 cell failed: java-pinned" in ran.told, "what is refused has not failed"
    assert "java-pinned-unbound-CG-S-1u: second attempt: " in ran.told
    assert found["pinned"]["service_s"] == ""
    events = {each.kind: each.text for each in ran.run.trials.events()}
    assert set(events) == {"retried", "failed", "refused", "wrong"}
    assert "stub: out of memory, giving up" in events["failed"]
    assert "413" in events["refused"]
    assert "java-pinned-unbound-CG-S-1u, block 1: failed" in page
    assert ran.bench.left_running() == []


def test_a_finished_run_is_extended_by_a_block(ran: Ran, tmp_path: Path) -> None:
    bench = Bench(tmp_path / "npb")
    shutil.copytree(ran.bench.folder, bench.folder, symlinks=True)
    first = bench.began_ms(block=1)
    done = bench.restbench("extend", str(bench.latest.path.resolve()), "--minutes", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert bench.began_ms(block=1) == first != []
    assert min(int(row["blocks"]) for row in table(bench.latest)) >= 3
