"""The tools' own files are read right; what they say is told, kept, and quoted where it holds."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from fixture_run import FIXTURES, Made, build, cell, steady_load
from shown_run import page_of, part_of

from restbench.experiment.cell import Shape
from restbench.experiment.records import BreakEven, Microbench, Score
from restbench.failures import BadConfiguration, EnvironmentProblem, Unreadable, WrongAnswers
from restbench.machine import machine
from restbench.show.microbench_text import beats_serial, made_of
from restbench.store import machine_findings
from restbench.store.store import Run
from restbench.store.writing import write_json, write_model
from tools.bench_microbench import document, keep
from tools.microbench_break_even import break_evens
from tools.microbench_jmh import read as read_jmh
from tools.microbench_plan import PROFILES, plan_of, shapes, write_bodies
from tools.microbench_program import run
from tools.microbench_pyperf import read as read_pyperf

LOW = {"low": Shape(rows=30, inner=20, columns=20)}
MACHINE = {"processor": "one", "cores_online": 2, "memory_mib": 1024, "virtualisation": "none"}


def recorded_jmh() -> list[Score]:
    return read_jmh(json.loads((FIXTURES / "jmh.json").read_text()))


def recorded_pyperf() -> list[Score]:
    return read_pyperf(json.loads((FIXTURES / "pyperf.json").read_text()))


def test_a_fork_of_jmh_is_a_run_with_the_mean_of_its_iterations() -> None:
    by_part = {each.part: each for each in recorded_jmh()}
    computed, empty, parsed = by_part["compute"], by_part["dispatch"], by_part["parse"]
    assert computed.runs_us == pytest.approx((68133.66344, 17107.28507))
    assert (computed.kernel, computed.shape, computed.strategy) == ("native", "low", "shared-pool")
    assert (empty.strategy, empty.rows, empty.shape) == ("shared-pool", 30, None)
    assert (parsed.shape, parsed.kernel, parsed.strategy) == ("low", None, None)
    assert {each.service for each in by_part.values()} == {"java"}


def test_another_unit_than_microseconds_is_not_taken_for_them() -> None:
    told = json.loads((FIXTURES / "jmh.json").read_text())
    told[0]["primaryMetric"]["scoreUnit"] = "ms/op"
    with pytest.raises(EnvironmentProblem, match="JMH reported ms/op"):
        read_jmh(told)


def test_a_worker_of_pyperf_is_a_run_with_the_mean_of_its_values() -> None:
    scores = recorded_pyperf()
    parsed = scores[0]
    assert (parsed.part, parsed.shape) == ("parse", "low")
    assert parsed.runs_us == pytest.approx((1653.58640, 722.58652))
    assert [each.part for each in scores] == [
        *("parse", "serialize", "compute", "compute", "compute", "compute"),
        *("dispatch", "dispatch"),
    ]
    assert (scores[-1].rows, scores[-1].strategy) == (30, "process-per-request")
    assert (scores[3].kernel, scores[3].strategy) == ("loops", "process-per-request")


def test_the_name_of_a_single_benchmark_stands_above_it() -> None:
    run = {"values": [2e-6, 4e-6]}
    calibrating = {"warmups": [[1, 0.1]]}
    told = {
        "metadata": {"name": "serialize/low"},
        "benchmarks": [{"runs": [calibrating, run]}],
    }
    (score,) = read_pyperf(told)
    assert (score.part, score.runs_us) == ("serialize", pytest.approx((3.0,)))


def made(when: str, processor: str = "one", *, whole: bool = True) -> Microbench:
    scores = recorded_pyperf()
    return Microbench(
        made=when,
        machine={**MACHINE, "processor": processor},
        described="One, 2 cores",
        git_commit="0123456789abcdef",
        profile="quick",
        whole=whole,
        foreign_pct=3.0,
        shapes=LOW,
        scores=tuple(scores),
        break_evens=tuple(break_evens(scores, LOW)),
    )


def test_what_is_kept_is_found_again_for_its_machine_alone(tmp_path: Path) -> None:
    older, newer = made("2026-11-20T10:00:00+00:00"), made("2026-11-21T10:00:00+00:00")
    for each in (newer, older, made("2026-11-22T10:00:00+00:00", "two")):
        assert keep(each, tmp_path).read_text() == document(each)
    assert machine_findings.newest_for(Microbench, MACHINE, tmp_path, pytest.fail) == newer


def test_a_part_is_kept_and_never_quoted(tmp_path: Path) -> None:
    assert keep(made("2026-11-20T10:00:00+00:00", whole=False), tmp_path).exists()
    assert machine_findings.newest_for(Microbench, MACHINE, tmp_path, pytest.fail) is None


@pytest.mark.parametrize("broken", ['{"schema_version": 2}', '{"schema_version": 99}', "{", ""])
def test_a_broken_one_is_named_with_the_mend_and_the_others_hold(
    tmp_path: Path, broken: str
) -> None:
    whole = made("2026-11-20T10:00:00+00:00")
    keep(whole, tmp_path)
    (tmp_path / "x.json").write_text(broken)
    notes: list[str] = []
    assert machine_findings.newest_for(Microbench, MACHINE, tmp_path, notes.append) == whole
    assert len(notes) == 1
    assert re.search(r"x\.json: .*(make another with 'make microbench'|read it with)", notes[0])


def test_one_from_before_anybody_looked_what_others_do_says_so(tmp_path: Path) -> None:
    older = made("2026-11-20T10:00:00+00:00").model_dump(exclude={"foreign_pct"}, mode="json")
    write_json(tmp_path / "older.json", older)
    found = machine_findings.newest_for(Microbench, MACHINE, tmp_path, pytest.fail)
    assert made_of(found).endswith("the CPU use of other processes is not known.")


@pytest.fixture
def a_run(tmp_path: Path) -> Run:
    return build(tmp_path / "run", [Made(cell("java serial low 10"), steady_load(10, 50))])


def test_the_report_quotes_the_microbenchmark_of_its_machine(a_run: Run, tmp_path: Path) -> None:
    here = {"machine": machine.identity(a_run.machine())}
    ours = made("2026-11-20T10:00:00+00:00").model_copy(update=here)
    keep(ours, tmp_path / "kept")
    machine_findings.adopt(Microbench, a_run, a_run.microbench_file, tmp_path / "kept", pytest.fail)
    page = page_of(a_run)
    part = part_of(page, "break-even")
    assert "From which size on does a technique pay off?" in part
    assert "process-per-request" in part
    assert "made 2026-11-20T10:00:00+00:00 with commit 0123456789ab" in part
    assert 'href="microbench.json"' in page


def test_without_one_nothing_is_said_of_sizes(a_run: Run) -> None:
    assert "From which size on" not in page_of(a_run)


def test_a_busy_machine_is_told_beside_its_numbers() -> None:
    quiet = made("2026-11-20T10:00:00+00:00")
    assert made_of(quiet).endswith("other processes used up to 3 % of the machine.")
    busy = quiet.model_copy(update={"foreign_pct": 90.0})
    assert made_of(busy).endswith("90 % of the machine, too much for reliable numbers.")


def break_even(**told: object) -> BreakEven:
    common = {
        "service": "java",
        "strategy": "shared-pool",
        "kernel": "native",
        "verdict": "from",
        "faster": 1.9,
        "faster_low": 1.8,
        "faster_high": 2.0,
        "why": "",
    }
    return BreakEven.model_validate(common | told)


def test_a_size_is_told_with_what_the_intervals_leave_open() -> None:
    found = break_even(rows=1234.5, rows_low=900.0, rows_high=2000.0)
    assert beats_serial(found) == "from 1,234 rows [900, 2,000]"
    assert beats_serial(break_even(rows=50.0, rows_low=1.0)) == "from 50 rows [1, never]"
    never = break_even(verdict="never", why="computes no faster than in order")
    assert beats_serial(never) == "never: computes no faster than in order"


def test_both_services_are_sent_the_same_right_bodies(tmp_path: Path) -> None:
    write_bodies(LOW, tmp_path)
    body = json.loads((tmp_path / "low.json").read_text())
    answer = json.loads((tmp_path / "low.answer.json").read_text())
    one, two = (
        [[int(value) for value in row["value"].split(",")] for row in body[name]["rows"]]
        for name in ("matrixOne", "matrixTwo")
    )
    product = [
        [sum(a * b for a, b in zip(row, column, strict=True)) for column in zip(*two, strict=True)]
        for row in one
    ]
    assert answer == {"requestId": str(body["requestId"]), "rows": product}


def test_the_sizes_are_the_studys_and_a_cube() -> None:
    sizes = shapes(PROFILES["quick"])
    assert sizes["high"] == Shape(rows=2000, inner=50, columns=20)
    assert sizes["cube-200"] == Shape(rows=200, inner=200, columns=200)


def test_only_a_whole_one_counts_as_such() -> None:
    assert plan_of("quick", "", "").is_whole
    for part in (("smoke", "", ""), ("quick", "java", ""), ("quick", "", "shared-pool")):
        assert not plan_of(*part).is_whole
    with pytest.raises(BadConfiguration, match="--profile: 'fast' is not one of smoke, quick"):
        plan_of("fast", "", "")


def test_of_what_is_offered_only_the_chosen_are_measured_beside_serial() -> None:
    chosen = plan_of("quick", "java", "pinned, virtual-threads").choice
    assert chosen.of(["serial", "thread-pool", "pinned"]) == ["serial", "pinned"]
    assert plan_of("quick", "", "").choice.of(["serial", "new"]) == ["serial", "new"]
    with pytest.raises(BadConfiguration, match="--strategies: 'no-such' is not one of serial, "):
        plan_of("quick", "", "no-such")


def test_a_program_that_met_a_wrong_answer_is_told_from_one_that_failed(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with pytest.raises(WrongAnswers, match="java: low: a wrong answer of 3 bytes"):
        run("java", ["sh", "-c", "echo low: a wrong answer of 3 bytes; exit 1"], log)
    with pytest.raises(EnvironmentProblem, match="java: ended with 3; it said:\nno memory"):
        run("java", ["sh", "-c", "echo no memory; exit 3"], log)
    assert run("java", ["echo", "serial"], log) == "serial\n"


def test_a_kept_run_has_its_microbenchmark(a_run: Run) -> None:
    write_model(a_run.microbench_file, made("2026-11-20T10:00:00+00:00"))
    assert a_run.microbench_file in a_run.identity_files()
    found = a_run.microbench()
    assert found is not None and found.profile == "quick"
    write_json(a_run.microbench_file, {"schema_version": 99, "git_commit": "abc"})
    with pytest.raises(Unreadable, match="of form 99"):
        a_run.microbench()
