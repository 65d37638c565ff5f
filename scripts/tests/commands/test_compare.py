"""Two runs that lie on disk, compared by the command as a user calls it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from fixture_run import MACHINE, Made, build, cell, steady_load
from synthetic_rows import row

from restbench.commands.compare import compare_runs
from restbench.failures import BadConfiguration, Regression
from restbench.judge.compare import _lines, compare
from restbench.store.store import RESULTS, Run
from restbench.store.writing import write_json

SERIAL, PINNED = "java serial low 10", "java pinned low 10"
#: Response times of 10 users by block: about 200 responses a second.
USUAL = (50, 49, 51)
SLOWER = (80, 79, 81)


def made(text: str, elapsed_ms: Sequence[int]) -> list[Made]:
    return [
        Made(cell(text), steady_load(users=10, elapsed_ms=each), block=block)
        for block, each in enumerate(elapsed_ms, start=1)
    ]


def run(path: Path, serial: Sequence[int], pinned: Sequence[int] = ()) -> Run:
    return build(path, [*made(SERIAL, serial), *made(PINNED, pinned)])


def on_machine(run: Run, **others: Any) -> Run:
    write_json(run.machine_file, MACHINE | others)
    return run


def flat(text: str) -> str:
    """What a table says, without its lines and breaks."""
    return " ".join(text.translate(str.maketrans("│┃", "  ")).split())


def printed(capsys: pytest.CaptureFixture[str], first: Run, second: Run, **options: Any) -> str:
    compare_runs(str(first.path), str(second.path), **options)
    return flat(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("metric", "change"),
    [("mops", "better"), ("elapsed_s", "worse"), ("client_threads", "changed")],
)
def test_more_of_what_a_driver_measures_is_better_worse_or_neither(
    metric: str, change: str
) -> None:
    few, many = (
        row(SERIAL, [1.0] * 3, extras=[{metric: value * part} for part in (1, 1.01, 0.99)])
        for value in (10.0, 20.0)
    )
    (line,) = _lines([(few, many)], metric, 0.05)
    assert (line.change, line.words) == (change, change)


def test_a_cell_that_became_slower_is_a_regression(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = run(tmp_path / "a", USUAL, USUAL), run(tmp_path / "b", SLOWER, USUAL)
    with pytest.raises(Regression, match="worse in b: java-serial-unbound-low-10u"):
        printed(capsys, first, second)
    assert Regression.exit_code == 6
    told = flat(capsys.readouterr().out)
    assert "worse" in told
    assert "the same" in told


def test_a_cell_that_became_faster_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = printed(capsys, run(tmp_path / "a", SLOWER), run(tmp_path / "b", USUAL))
    assert "better" in told
    assert "1.6" in told, "second over first"


def test_runs_of_two_blocks_show_ratios_and_no_verdict(tmp_path: Path) -> None:
    first, second = run(tmp_path / "a", (50, 51)), run(tmp_path / "b", (200, 201))
    (line,) = compare(first, second, "throughput_per_s", 0.05).lines
    assert (line.change, line.words) == ("unknown", "too imprecise (2 blocks, a verdict needs 3)")


def test_a_comparison_of_throughput_says_what_the_load_generator_takes() -> None:
    kept = Run(RESULTS / "reference")
    (note,) = compare(kept, kept, "throughput_per_s", 0.05).notes
    assert note.startswith("the load generator took up to ")
    assert compare(kept, kept, "cpu_ms_per_request", 0.05).notes == ()


def test_of_a_latency_more_is_worse(tmp_path: Path) -> None:
    first, second = run(tmp_path / "a", USUAL), run(tmp_path / "b", SLOWER)
    assert [line.change for line in compare(first, second, "mean_ms", 0.05).lines] == ["worse"]
    assert [line.change for line in compare(second, first, "mean_ms", 0.05).lines] == ["better"]


def test_a_wider_margin_forgives(tmp_path: Path) -> None:
    first, second = run(tmp_path / "a", USUAL), run(tmp_path / "b", SLOWER)
    assert not compare(first, second, "throughput_per_s", 0.9).regressions
    compare_runs(str(first.path), str(second.path), margin="90%")


def test_runs_of_one_block_show_ratios_and_no_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = printed(capsys, run(tmp_path / "a", (50,)), run(tmp_path / "b", (200,)))
    assert "0.250" in told
    assert "one block, so no interval" in told
    assert "worse" not in told


def test_cells_of_one_run_only_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = printed(capsys, run(tmp_path / "a", USUAL, USUAL), run(tmp_path / "b", USUAL))
    assert "only in the first run: java-pinned-unbound-low-10u" in told
    assert "only in the second" not in told


def test_of_many_cells_of_one_run_only_some_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    others = [each for users in range(10, 17) for each in made(f"java pinned low {users}", USUAL)]
    first = build(tmp_path / "a", [*made(SERIAL, USUAL), *others])
    told = printed(capsys, first, run(tmp_path / "b", USUAL))
    assert "java-pinned-unbound-low-14u and 2 more" in told
    assert "low-15u" not in told


def test_an_answer_that_became_wrong_is_a_regression(tmp_path: Path) -> None:
    spoilt = made(SERIAL, USUAL)
    spoilt[0].wrong = 1
    second = build(tmp_path / "b", [*spoilt, *made(PINNED, USUAL)])
    first = build(tmp_path / "a", [*made(SERIAL, USUAL), *made(PINNED, USUAL)])
    found = compare(first, second, "throughput_per_s", 0.05)
    assert [line.cell.id for line in found.regressions] == ["java-serial-unbound-low-10u"]
    assert [line.words for line in found.lines] == ["worse", "the same"]
    back = compare(second, first, "throughput_per_s", 0.05)
    assert not back.regressions


@pytest.mark.parametrize(
    "other", [{"processor": "Another"}, {"cores_online": 4}, {"cores_allowed": [0]}]
)
def test_runs_of_different_machines_are_refused_unless_told_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], other: dict[str, Any]
) -> None:
    first, second = run(tmp_path / "a", USUAL), on_machine(run(tmp_path / "b", USUAL), **other)
    with pytest.raises(BadConfiguration, match=rf"different machines \({next(iter(other))}"):
        printed(capsys, first, second)
    assert "different machine:" in printed(capsys, first, second, any_machine=True)


def test_machines_of_different_speed_are_told_by_rounded_numbers(tmp_path: Path) -> None:
    first, second = (
        on_machine(run(tmp_path / name, USUAL), speed={"integer_loops_per_s": loops})
        for name, loops in (("a", 2527.68), ("b", 1260.9465925577524))
    )
    with pytest.raises(BadConfiguration, match=r"\(integer_loops_per_s 2528 and 1261\)"):
        compare(first, second, "throughput_per_s", 0.05)


def test_other_versions_and_a_kernels_share_of_memory_are_said_not_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = run(tmp_path / "a", USUAL)
    second = on_machine(run(tmp_path / "b", USUAL), kernel="6.2.0", memory_mib=24_000)
    assert "different kernel: 6.1.0 and 6.2.0" in printed(capsys, first, second)
    tuned = [
        on_machine(run(tmp_path / collector, USUAL), java_flags={collector: "true", "Xmx": "1g"})
        for collector in ("UseG1GC", "UseZGC")
    ]
    told = printed(capsys, *tuned)
    assert "different java_flags: UseG1GC true and None; UseZGC None and true" in told
    limited = on_machine(run(tmp_path / "d", USUAL), settings={"MALLOC_ARENA_MAX": "2"})
    told = printed(capsys, first, limited)
    assert "different settings: None and {'MALLOC_ARENA_MAX': '2'}" in told
    half = on_machine(run(tmp_path / "c", USUAL), memory_mib=12_000)
    with pytest.raises(BadConfiguration, match="memory_mib"):
        printed(capsys, first, half)


def test_a_complexity_of_another_size_is_not_the_same_cell(tmp_path: Path) -> None:
    first, second = run(tmp_path / "a", USUAL, USUAL), run(tmp_path / "b", USUAL, USUAL)
    text = first.experiment_file.read_text()
    first.experiment_file.write_text(text.replace("low = { rows = 30", "low = { rows = 31"))
    with pytest.raises(BadConfiguration, match="no cell has throughput_per_s in both"):
        compare(first, second, "throughput_per_s", 0.05)


@pytest.mark.parametrize("margin", ["5", "0%", "100%", "five", "-1%"])
def test_a_margin_is_a_percentage(tmp_path: Path, margin: str) -> None:
    first = run(tmp_path / "a", (50,))
    with pytest.raises(BadConfiguration, match="--margin"):
        compare_runs(str(first.path), str(first.path), margin=margin)


def test_a_metric_that_is_neither_better_nor_worse_is_refused(tmp_path: Path) -> None:
    first = run(tmp_path / "a", (50,))
    with pytest.raises(BadConfiguration, match="choose one of throughput_per_s, mean_ms"):
        compare_runs(str(first.path), str(first.path), metric="machine_cpu_pct")


def test_a_run_whose_machine_is_not_recorded_is_refused(tmp_path: Path) -> None:
    first, second = run(tmp_path / "a", (50,)), run(tmp_path / "b", (50,))
    second.machine_file.unlink()
    with pytest.raises(BadConfiguration, match="machine is not known"):
        compare(first, second, "throughput_per_s", 0.05)


def test_a_run_differs_in_nothing_from_itself(tmp_path: Path) -> None:
    same = run(tmp_path / "a", USUAL)
    found = compare(same, same, "throughput_per_s", 0.05)
    assert found.notes == ()
    assert [line.comparison.estimate for line in found.lines] == [1.0]
    assert json.loads(same.machine_file.read_text()) == MACHINE
