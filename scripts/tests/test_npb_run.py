"""Whole NPB runs against stubs: a fresh process takes twice the time of a warm one."""

from __future__ import annotations

import csv
import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from stub_bench import Bench
from stub_kernel import FRESH_S, GENERATE_S, WARM_S

from restbench.analyse.npb_results import results
from restbench.commands.results import keep_run
from restbench.store import store
from restbench.store.store import Run

pytestmark = pytest.mark.live

EXPERIMENT = """
kind = "npb"
name = "stubbed-npb"
title = "Kernels against stubs"
seed = 3
claims = "claims/npb.toml"
published = "published/npb.toml"

[profiles.p]
service_process = "{process}"
java_heap_mib = 64
run_max_s = 10

[profiles.p.classes]
S = {{ rounds = {rounds}, runs = 3, kept = 2 }}

[profiles.p.scaling]
class = "S"
kernel = ["CG"]
rounds = 1

[[cells]]
name = "Java"
service = "java"
strategy = {strategies}
kernel = ["CG", "IS"]

[[scaling]]
name = "Java"
service = "java"
strategy = "shared-pool"
kernel = "CG"
"""


@dataclass(frozen=True)
class Ran:
    """A bench after one run."""

    bench: Bench
    code: int
    told: str

    @property
    def run(self) -> Run:
        return self.bench.latest


def in_folder(
    folder: Path, strategies: tuple[str, ...] = ("serial",), rounds: int = 1, process: str = "round"
) -> Bench:
    shutil.copytree(store.EXPERIMENTS / "claims", folder / "claims")
    shutil.copytree(store.EXPERIMENTS / "published", folder / "published")
    text = EXPERIMENT.format(strategies=json.dumps(strategies), rounds=rounds, process=process)
    (folder / "npb.toml").write_text(text)
    return Bench(folder)


def run_kernels(bench: Bench, *options: str, **faults: str) -> Ran:
    arguments = ("run", str(bench.folder / "npb.toml"), "--profile", "p", *options)
    done = bench.restbench(*arguments, faults=faults)
    return Ran(bench, done.returncode, done.stdout + done.stderr)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return run_kernels(in_folder(tmp_path_factory.mktemp("npb"), rounds=2))


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
    page = ran.run.npb_markdown.read_text()
    assert "N1" in ran.told
    assert "2 of 2 parts hold" in page
    assert "0.500 = warm / fresh 0.500" in page
    assert "service / warm 1.000" in page


def test_numbers_of_cores_are_looked_at_without_a_service(ran: Ran) -> None:
    scaled = [row for row in results(ran.run) if row.work.cores]
    assert scaled[0].work.cores == 1
    assert all(not each.served and each.direct for row in scaled for each in row.rounds)
    assert [len(row.rounds[0].cores) for row in scaled] == [row.work.cores for row in scaled]
    assert ran.run.npb_figure("speed-up").read_text().startswith("<svg")


def test_the_report_can_be_made_again_to_the_byte(ran: Ran) -> None:
    run = ran.run
    made = [run.npb_markdown, run.npb_csv, run.npb_figure("time"), run.npb_figure("speed-up")]
    first = [path.read_bytes() for path in made]
    for path in made:
        path.unlink()
    assert ran.bench.restbench("report", str(run.path)).returncode == 0
    assert [path.read_bytes() for path in made] == first


def test_other_commands_say_that_the_run_is_of_another_kind(ran: Ran) -> None:
    done = ran.bench.restbench("dashboard", str(ran.run.path), "a-cell")
    assert done.returncode == 2
    assert "a run of kind 'npb'" in done.stderr


def test_a_kept_run_has_what_was_found_and_what_it_was_held_against_and_nothing_raw(
    ran: Ran, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, kept = ran.run, Run(tmp_path / "kept")
    monkeypatch.setattr(store, "RESULTS", tmp_path)
    keep_run(str(run.path), "kept")
    for file in ("npb_csv", "npb_markdown", "claims_file", "published_file", "machine_file"):
        assert getattr(kept, file).read_bytes() == getattr(run, file).read_bytes()
    assert kept.npb_figure("time").read_bytes() == run.npb_figure("time").read_bytes()
    assert not kept.has_raw_data


@pytest.mark.parametrize("fault", ["unverified", "unverified-direct"])
def test_a_kernel_that_is_not_verified_is_a_failed_cell_and_never_a_time(
    tmp_path: Path, fault: str
) -> None:
    ran = run_kernels(in_folder(tmp_path), "--cells", "complexity=CG-S", serial=fault)
    assert ran.code == 5, ran.told
    (row,) = table(ran.run)
    assert (row["verified"], row["fresh_s"], row["service_s"]) == ("NO", "", "")
    assert "not verified: 8.4, the reference is 8.5" in ran.run.npb_markdown.read_text()


def test_a_class_without_memory_is_refused_and_the_page_says_how_much_it_needs(
    tmp_path: Path,
) -> None:
    ran = run_kernels(in_folder(tmp_path), "--cells", "complexity=CG-S", serial="refused")
    assert ran.code == 0, ran.told
    (row,) = table(ran.run)
    assert (row["verified"], row["fresh_s"]) == ("refused", "")
    assert "needs 9 MiB, the limit is 5 MiB" in ran.run.npb_markdown.read_text()


def test_a_service_that_dies_costs_its_cells_and_not_the_others(tmp_path: Path) -> None:
    bench = in_folder(tmp_path, strategies=("serial", "pinned"))
    ran = run_kernels(bench, "--cells", "complexity=CG-S", pinned="die-proving")
    assert ran.code == 4, ran.told
    assert "java-pinned-unbound-CG-S-1u: once more on a fresh service" in ran.told
    found = {row["strategy"]: row for row in table(ran.run)}
    assert found["serial"]["service_s"] == str(WARM_S)
    assert found["pinned"]["service_s"] == ""
    page = ran.run.npb_markdown.read_text()
    assert "not measured (part: java S IS-S service / fresh)" in page, "left out by --cells"
    assert bench.left_running() == []


def test_a_run_that_was_interrupted_goes_on_with_what_lacks(tmp_path: Path) -> None:
    ran = run_kernels(in_folder(tmp_path, process="cell"))
    run = ran.run
    first = run.manifest().plan[0]
    kept = {each.key: written(run, each.block, each.cell.id) for each in run.manifest().plan[1:]}
    run.npb_csv.unlink()
    run.cell(first.block, first.cell.id).npb_record.unlink()
    assert first.cell in {row.cell for row in results(run) if not row.rounds}
    interrupted = run.manifest().model_copy(update={"status": "interrupted"})
    run.manifest_file.write_text(interrupted.model_dump_json())
    again = run_kernels(ran.bench, "--resume")
    assert again.code == 0, again.told
    assert again.run.path.resolve() == run.path.resolve()
    assert f"in flight then and measured anew: raw/block-1/{first.cell.id}" in again.told
    assert {key: written(run, *key) for key in kept} == kept
    assert run.cell(first.block, first.cell.id).npb_record.exists()


def written(run: Run, block: int, cell_id: str) -> int:
    return run.cell(block, cell_id).npb_record.stat().st_mtime_ns


def test_the_plan_is_told_without_a_start(tmp_path: Path) -> None:
    bench = in_folder(tmp_path)
    done = bench.restbench("plan", str(tmp_path / "npb.toml"), "--profile", "p")
    assert "java-serial-unbound-IS-S-1u" in done.stdout
    assert "runs of a kernel" in done.stdout
    assert not list(tmp_path.glob("*/manifest.json"))
