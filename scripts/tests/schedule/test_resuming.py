"""Which run goes on, when it may not, and what is kept of it."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stub_bench import Bench

from restbench.commands import measuring, results
from restbench.drive.payload import ANSWER_REST, BODY_REST
from restbench.experiment.order import Order
from restbench.failures import ChangedDuringRun, EnvironmentProblem, Interrupted, Unreadable
from restbench.schedule import begin, runner
from restbench.schedule.begin import finish
from restbench.store import store, writing
from restbench.store.store import Run
from restbench.store.trials import Trial
from restbench.store.writing import write_json, write_text


@pytest.fixture
def order(tmp_path: Path) -> Order:
    path = Bench(tmp_path).experiment({"java": ["serial", "pinned", "pipeline"]}, blocks=2)
    return measuring.order_for(path, "p", "", [])


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """A machine that stays as it is, unless a test changes it."""
    described: dict[str, object] = {
        "processor": "A processor",
        "memory_mib": 24_000,
        "load_average_before": [0.1, 0.2, 0.3],
        "packages": {"numpy": "2.4.6"},
        "measured": {"java service": "0123"},
        "speed": {"integer_loops_per_s": 2000.0, "copied_gib_per_s": 4.0},
    }
    monkeypatch.setattr(begin, "surroundings", lambda _order: dict(described))
    return described


@pytest.fixture
def run(tmp_path: Path, order: Order) -> Run:
    """Killed in its second block."""
    return killed_run(tmp_path / "results" / "first", order)


def killed_run(path: Path, order: Order) -> Run:
    run = Run(path)
    begin.begin(order, run, print)
    for block in (1, 2):
        run.trials.begin(block, "2026-11-24T01:00:00+00:00", {})
        elapsed = np.array([5_000])
        run.trials.add([Trial(block, 1, order.plan[0].cell.id, 2, block, 1.0, elapsed)])
    run.trials.finish(1, "2026-11-24T01:05:00+00:00")
    return run


def known(run: Run, order: Order, claims: str | None = None) -> dict[Run, tuple[str, ...]]:
    wanted = replace(order, claims_text=claims)
    return begin.unfinished(wanted, store.runs(run.path.parent), lambda _line: None)


def test_a_killed_run_of_the_same_order_can_go_on(run: Run, order: Order) -> None:
    assert known(run, order) == {run: ()}


def test_where_no_run_can_go_on_a_line_says_so_with_what_differs(run: Run, order: Order) -> None:
    told: list[str] = []
    runs = store.runs(run.path.parent)
    other = replace(order, experiment_text=order.experiment_text + "\n")
    assert begin.to_go_on_with(other, runs, told.append) is None
    assert told == [
        "nothing to resume: no unfinished run of stubbed with profile p; "
        "first differs in the experiment's file; a new run begins"
    ]
    assert begin.to_go_on_with(order, runs, told.append) == run
    assert len(told) == 1


def test_of_several_unfinished_runs_the_newest_goes_on(run: Run, order: Order) -> None:
    newer = killed_run(run.path.with_name("a-later-one"), order)
    manifest = newer.manifest().model_copy(update={"started": "2999-01-01T00:00:00+00:00"})
    writing.write_model(newer.manifest_file, manifest)
    assert [each.name for each in known(run, order)] == ["a-later-one", "first"]


def test_a_complete_run_goes_on_only_where_its_page_is_lacking(run: Run, order: Order) -> None:
    finish(run, run.manifest(), status="complete")
    assert known(run, order) == {run: ()}
    write_text(run.report, "<html>")
    assert known(run, order) == {}


def test_a_run_that_was_killed_before_its_page_was_made_is_not_said_to_be_extended(
    run: Run, order: Order
) -> None:
    finish(run, run.manifest(), status="complete")
    begin.go_on(order, run, print)
    assert [each.how for each in run.interruptions()] == ["killed"]


def test_a_kept_copy_does_not_go_on(run: Run, order: Order) -> None:
    shutil.rmtree(run.payloads)
    run.trials.path.unlink()
    assert known(run, order) == {}


def test_a_run_whose_clients_make_what_they_send_goes_on(tmp_path: Path) -> None:
    calls = measuring.order_for("calls", "smoke", "", [])
    run = killed_run(tmp_path / "results" / "calls", calls)
    assert [*run.payloads.iterdir()] == []
    assert known(run, replace(calls, claims_text=None), calls.claims_text) == {run: ()}
    assert not run.is_of_old_form


def test_a_run_interrupted_before_its_first_trial_is_no_kept_copy(
    tmp_path: Path, order: Order
) -> None:
    """It can be reported, as the message of the interruption promises, and no copy replaces it."""
    run = Run(tmp_path / "results" / "first")
    begin.begin(order, run, print)
    assert run.has_raw_data
    assert not run.is_kept
    results.build_report(str(run.path))
    assert run.report.exists()


def test_what_a_run_is_judged_by_is_copied_before_it_has_begun(
    tmp_path: Path, order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed in between, it went on as one whose machine nobody had calibrated."""
    run, known = Run(tmp_path / "results" / "first"), list[tuple[str, bool]]()

    def adopt(kind: type, of: Run, *_more: object) -> None:
        known.append((kind.__name__, of.manifest_file.exists()))

    monkeypatch.setattr(begin.machine_findings, "adopt", adopt)
    begin.begin(order, run, print)
    assert known == [("Calibration", False), ("Microbench", False)]


def test_what_was_ordered_otherwise_is_named(run: Run, order: Order) -> None:
    fewer = replace(order, plan=order.plan[:2])
    assert known(run, fewer)[run] == ("the cells or the minutes",)
    other = replace(order, experiment_text=order.experiment_text + "\n")
    assert known(run, other)[run] == ("the experiment's file",)
    assert known(run, order, "claims")[run] == ("the claims' file",)
    attached = replace(order, attached={"java": "http://127.0.0.1:1"})
    assert known(run, attached)[run] == ("the attached services",)


def test_a_run_that_cannot_be_read_is_named_and_keeps_no_other_from_going_on(
    run: Run, order: Order
) -> None:
    broken = killed_run(run.path.with_name("broken"), order)
    broken.manifest_file.write_text("{")
    told: list[str] = []
    found = begin.unfinished(order, store.runs(run.path.parent), told.append)
    assert [each.name for each in found] == ["first"]
    assert len(told) == 1
    assert re.match(r"left out: .*broken/manifest\.json: not a whole JSON document", told[0])


def test_a_run_without_its_experiments_file_is_of_another_one(run: Run, order: Order) -> None:
    run.experiment_file.unlink()
    assert known(run, order)[run] == ("the experiment's file",)


def test_what_is_built_anew_in_the_middle_of_a_run_ends_it_and_is_named(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(begin, "fingerprints", lambda _builds: {"java service": "0123"})
    begin.require_as_begun(run)
    monkeypatch.setattr(begin, "fingerprints", lambda _builds: {"java service": "4567"})
    with pytest.raises(
        ChangedDuringRun, match="java service: 0123 is now 4567: changed during first"
    ):
        begin.require_as_begun(run)


def test_each_interruption_is_noted_with_what_was_kept_and_lost(run: Run, order: Order) -> None:
    told: list[str] = []
    ahead_s = time.time() + 5  # as where the wall clock is set back during the run
    os.utime(run.manifest_file, (ahead_s, ahead_s))
    begin.go_on(order, run, told.append)
    finish(run, run.manifest(), status="interrupted")
    begin.go_on(order, run, told.append)
    killed, interrupted = run.interruptions()
    assert (killed.how, interrupted.how) == ("killed", "interrupted")
    assert (killed.kept, interrupted.kept) == (3, 3)
    assert killed.lost == ("block 2",)
    assert killed.ended <= killed.resumed
    # Of how many is not known: the plan has more blocks than a decided run measures.
    assert ": 3 measurements are kept" in told[-1]


def test_a_run_that_goes_on_is_the_run_that_was_begun(run: Run, order: Order) -> None:
    begun = run.manifest()
    going_on = begin.go_on(order, run, print)
    assert going_on == begun == run.manifest()


@pytest.mark.parametrize(("builds", "goes_on"), [({}, True), ({"A": None}, False)])
def test_an_interrupted_run_says_how_it_goes_on_unless_its_builds_are_gone(
    run: Run, order: Order, monkeypatch: pytest.MonkeyPatch, builds: Any, goes_on: bool
) -> None:
    def interrupted(*_given: object) -> None:
        raise Interrupted("interrupted")

    monkeypatch.setattr(measuring.environment, "check", lambda _order: ())
    monkeypatch.setattr(runner, "execute", interrupted)
    with pytest.raises(Interrupted, match="the measurements are kept") as stop:
        measuring.measured(replace(order, builds=builds), run)
    assert ("--resume" in str(stop.value)) == goes_on


def test_the_command_is_the_same_whether_the_run_goes_on_or_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        sys, "argv", ["restbench", "run", "smoke", "--resume", "--cells", "users=2"]
    )
    assert measuring.command_line() == "restbench run smoke --cells users=2"


def test_a_machine_of_another_speed_is_told_by_the_fastest_probe_and_goes_on(
    run: Run, order: Order, surroundings: dict[str, object]
) -> None:
    """It may be this one with a busy neighbour: a refusal would cost its user the run."""
    surroundings["speed"] = {"integer_loops_per_s": 4000.0, "copied_gib_per_s": 40.0}
    told: list[str] = []
    assert begin.go_on(order, run, told.append).status == "running"
    other = "note   integer loops per s: 2000.0 is now 4000.0: this is a different machine"
    assert told[0].startswith(other)
    run.trials.begin(3, "now", {"speed": {"integer_loops_per_s": 3000.0, "copied_gib_per_s": 4.0}})
    begin.go_on(order, run, told.append)
    assert len([each for each in told if each.startswith("note")]) == 1


def test_another_load_average_is_no_other_machine(
    run: Run, order: Order, surroundings: dict[str, object]
) -> None:
    surroundings["load_average_before"] = [9.0, 9.0, 9.0]
    surroundings["memory_mib"] = 24_001
    assert begin.go_on(order, run, print).status == "running"


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("processor", "Another", "processor: A processor is now Another"),
        ("memory_mib", 12_000, "memory mib: 24000 is now 12000"),
        ("measured", {"java service": "4567"}, "measured: .*0123.* is now .*4567"),
        ("packages", {}, "packages: .*2.4.6.* is now {}"),
    ],
)
def test_what_is_not_as_it_was_is_refused_with_its_name(
    request: pytest.FixtureRequest, order: Order, name: str, value: object, said: str
) -> None:
    run: Run = request.getfixturevalue("run")
    request.getfixturevalue("surroundings")[name] = value
    with pytest.raises(EnvironmentProblem, match=said):
        begin.go_on(order, run, print)
    assert run.interruptions() == []


def break_proofs(run: Run) -> Path:
    run.proofs_file.write_text('[{"service": ')
    return run.proofs_file


def change_a_body(run: Run) -> Path:
    path = run.payload("tiny") / BODY_REST
    path.write_text(path.read_text().replace("1", "2"))
    return path


def lose_the_answers(run: Run) -> Path:
    path = run.payload("tiny") / ANSWER_REST
    path.unlink()
    return path


@pytest.mark.parametrize("spoil", [break_proofs, change_a_body, lose_the_answers])
def test_a_broken_file_is_named_with_a_mend_before_anything_is_taken_away(
    order: Order, run: Run, spoil: Callable[[Run], Path]
) -> None:
    """A run that went on with it would fail every cell that is left, for ever."""
    path = spoil(run)
    with pytest.raises(Unreadable, match=f"{path.name}: .*: restore it from a copy, or "):
        begin.go_on(order, run, print)
    assert [each.block for each in run.trials.blocks()] == [1, 2]
    assert run.interruptions() == []


def test_a_file_is_called_by_its_name_when_it_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.json"
    write_json(path, {"old": True})

    def killed(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", killed)
    with pytest.raises(KeyboardInterrupt):
        write_json(path, {"new": True})
    assert json.loads(path.read_text()) == {"old": True}
    assert list(tmp_path.iterdir()) == [path]
