"""What a web framework costs, from a run's trials to its page: from which size on it is nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from shown_run import findings, page_of, part_of, picture_of, printed
from synthetic_rows import row, with_facts
from trial_run import EXPERIMENT, build

from restbench.analyse.frameworks import Load, loads
from restbench.analyse.measures import Row
from restbench.experiment.cell import Framework
from restbench.show.document import words
from restbench.show.kinds import frameworks as shown
from restbench.store.store import Run

#: Relative, of five blocks: about 0.2 %.
NOISE = (1.0, 1.002, 0.999, 1.001, 0.998)
TURNED = (0.999, 1.0, 1.001, 0.998, 1.002)


def framework_row(
    framework: Framework, complexity: str, cpu_ms: float | None, noise: Sequence[float] = NOISE
) -> Row:
    values = [] if cpu_ms is None else [cpu_ms * each for each in noise]
    name = f"python serial {complexity} 20 framework={framework}"
    return row(name, [100.0] * len(values), cpu_ms_per_request=values)


def load_of(cpu_ms: Mapping[str, tuple[float, float | None, float]], blocks: int = 5) -> Load:
    """Of flask, fastapi and rsgi at each size."""
    rows = [
        framework_row(name, size, value, noise[:blocks])
        for size, values in cpu_ms.items()
        for name, value, noise in zip(
            ("flask", "fastapi", "rsgi"), values, (NOISE, TURNED, NOISE[::-1]), strict=True
        )
    ]
    (found,) = loads(rows)
    return found


def test_each_is_held_against_the_default_and_the_cheapest() -> None:
    (size,) = load_of({"low": (0.25, 0.10, 0.05)}).sizes
    assert [each.row.cell.framework for each in size.costs] == ["rsgi", "fastapi", "flask"]
    assert size.work_ms == pytest.approx(0.05)
    assert [each.over_default().estimate for each in size.costs] == pytest.approx([0.2, 0.4, 1.0])
    assert [each.to_best.estimate for each in size.costs] == pytest.approx([1, 2, 5])
    assert [each.is_tied for each in size.costs] == [True, False, False]


def test_one_that_runs_requests_in_its_loop_is_a_row_of_its_own() -> None:
    rows = [framework_row(name, "low", value) for name, value in (("flask", 0.2), ("rsgi", 0.1))]
    in_loop = "python serial low 20 framework=rsgi handoff=loop"
    rows.append(row(in_loop, [100.0] * 5, cpu_ms_per_request=[0.05 * each for each in NOISE]))
    (found,) = loads(rows)
    names = [each.row.cell.framework_text for each in found.sizes[0].costs]
    assert names == ["rsgi, loop", "rsgi", "flask"]
    (chart,) = shown.charts([found])
    assert "rsgi, loop" in str(chart)


def test_it_no_longer_matters_from_the_smallest_size_on_at_which_all_are_within_the_margin() -> (
    None
):
    sizes = {
        "high": (20.2, 20.1, 20.0),
        "low": (0.25, 0.1, 0.05),
        "medium": (4.1, 4.05, 4.0),
    }
    found = load_of(sizes)
    assert [each.complexity for each in found.sizes] == ["low", "medium", "high"]
    assert found.from_size is not None
    assert found.from_size.complexity == "medium"
    assert "from medium on (4.00 ms of CPU time in rsgi) the framework no longer" in shown.outcome(
        found
    )


def test_a_size_at_which_it_matters_again_begins_anew() -> None:
    sizes = {"low": (0.0505, 0.05, 0.05), "medium": (4.4, 4.0, 4.0), "high": (20.2, 20.1, 20.0)}
    found = load_of(sizes)
    assert [each.is_alike for each in found.sizes] == [True, False, True]
    assert found.from_size is not None
    assert found.from_size.complexity == "high"


def test_where_the_interval_reaches_beyond_the_margin_it_is_not_reached() -> None:
    wide = (1.0, 1.06, 0.94, 1.05, 0.95)
    rows = [framework_row("flask", "low", 1.0, wide), framework_row("rsgi", "low", 1.0, TURNED)]
    (found,) = loads(rows)
    assert found.from_size is None
    assert "irrelevant. At low, the largest size" in shown.outcome(found)


def test_without_an_interval_or_a_number_nothing_is_said_to_be_reached() -> None:
    one = load_of({"low": (1.0, 1.0, 1.0)}, blocks=1)
    assert one.from_size is None
    assert "one block has no interval" in shown.outcome(one)
    lacking = load_of({"low": (1.0, None, 1.0)})
    assert lacking.from_size is None
    assert "there is no number for fastapi" in shown.outcome(lacking)
    alone = load_of({"low": (1.0, 1.0, 1.0), "medium": (4.0, None, None)})
    assert alone.sizes[0].is_alike
    assert alone.from_size is None, "of two at medium nothing is known"
    assert "a low request" in shown.sentence([alone])


def test_what_wrk_measured_stands_next_to_what_the_load_generator_did() -> None:
    rows = [
        with_facts(
            framework_row(name, "low", cpu_ms),
            extras=[
                {"wrk_per_s": per_s, "wrk_cpu_ms_per_request": under_wrk_ms * each}
                for each in noise
            ],
        )
        for name, cpu_ms, per_s, under_wrk_ms, noise in (
            ("flask", 0.2, 500.0, 0.1, NOISE),
            ("rsgi", 0.1, 1500.0, 0.3, TURNED),
        )
    ]
    table = shown.table_of("python", loads([*rows, framework_row("fastapi", "low", 0.3)]))
    heads = [each.heading for each in table.columns]
    lines = {words(line[0]): [words(each) for each in line] for line in table.rows}
    at = heads.index("wrk /s")
    assert heads[at - 2 : at + 2] == ["Requests/s", "/ default [95 %]", "wrk /s", heads[at - 1]]
    assert lines["rsgi"][at] == "1500"
    assert lines["rsgi"][at + 1].startswith("3.00")
    assert lines["fastapi"][at : at + 2] == ["", ""]
    at = heads.index("wrk: CPU ms [95 %]")
    assert heads[at - 2 : at + 2] == [
        "/ default [95 %]",
        "/ cheapest [95 %]",
        "wrk: CPU ms [95 %]",
        "/ default [95 %]",
    ]
    assert lines["rsgi"][at - 2].startswith("0.500"), "cheaper under JMeter"
    assert lines["rsgi"][at].startswith("0.300 [0.299, ")
    assert lines["rsgi"][at + 1].startswith("3.00 [2.9"), "and dearer under wrk"
    assert lines["fastapi"][at : at + 2] == ["", ""]
    assert "its ratio depends on the load generator; both are shown" in shown.HOW_TO_READ


def test_p95_stands_with_its_ratio_where_a_p99_has_too_few_responses() -> None:
    rows = [
        with_facts(framework_row(name, "low", 0.1), p95_ms=p95_ms)
        for name, p95_ms in (
            ("flask", 4.0),
            ("fastapi", [2.0, 2.1, 1.9, 2.0, 2.0]),
            ("rsgi", [2.0, 2.1, 1.9, None, None]),
        )
    ]
    table = shown.table_of("python", loads(rows))
    heads = [each.heading for each in table.columns]
    at = heads.index("p95 ms")
    assert heads[at + 1 : at + 3] == ["/ default [95 %]", "p99 ms"]
    lines = {words(line[0]): [words(each) for each in line] for line in table.rows}
    assert lines["flask (default)"][at : at + 3] == ["4.00", "1.00 [1.00, 1.00]", ""]
    assert lines["fastapi"][at : at + 3] == ["2.00", "0.500 [0.478, 0.522]", ""]
    assert lines["rsgi"][at : at + 2] == ["", ""], "not every block has one"


def test_one_framework_alone_is_no_comparison() -> None:
    assert loads([framework_row("flask", "low", 1.0)]) == []


FILE = (
    EXPERIMENT.replace('claims = "claims.toml"\n', 'views = ["study", "frameworks"]\n')
    .replace('service = "java"', 'service = "python"')
    .replace('["serial", "pinned"]', '"serial"\nframework = ["flask", "fastapi", "rsgi"]')
)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """1500 ms of CPU time in each trial, so CPU time a request is as 1 / throughput: flask takes
    twice as much as rsgi at low with either number of users."""
    per_s = {
        f"python serial low {users} framework={name}": [level * each for each in noise]
        for users in (10, 30)
        for name, level, noise in (
            ("flask", 500.0, NOISE),
            ("fastapi", 800.0, TURNED),
            ("rsgi", 1000.0, NOISE[::-1]),
        )
    }
    return build(tmp_path / "run", per_s, experiment=FILE)


def test_the_page_has_the_ratios_the_threshold_and_the_framework_that_is_gone(run: Run) -> None:
    page = page_of(run)
    part = part_of(page, "frameworks")
    assert (
        "Python, 10 users: no size is shown to make the framework irrelevant. At low, the" in part
    )
    assert "flask takes 2.00 [" in part
    assert "times the CPU time of the cheapest" in part
    assert "fastapi" in part
    assert "japronto" in part
    assert "not measured: no release since 2018; rsgi is the nearest maintained framework" in part
    assert "not for exposure" in part and "contract/deviations.toml" in part
    assert "fastapi unfinished-head silent uvicorn has no limit of time for a head;" in part
    assert "Vert.x has no limit" not in part, "of what was measured alone"
    assert (
        "In Python with 30 users a low request costs 2.00 times as much CPU time in flask" in page
    )
    assert picture_of(page) == "frameworks-python-30"


def test_the_terminal_has_a_line_a_framework(run: Run) -> None:
    text = printed(run)
    assert "Python, 30 users" in text
    lines = {line.split()[0]: line for line in text.splitlines() if line.strip()}
    assert "1.00" in lines["flask"]
    assert "≈ 1.00" in lines["rsgi"]
    assert "Python, 10 users: no size is shown to make the framework irrelevant." in text


def test_two_strategies_have_a_chart_and_a_part_of_the_sentence_each(tmp_path: Path) -> None:
    per_s = {
        f"python {strategy} low 10 framework={name}": [level * each for each in NOISE]
        for strategy, ratio in (("serial", 1), ("process-per-request", 2))
        for name, level in (("flask", 500.0), ("fastapi", 500.0 * (1 + ratio)))
    }
    text = FILE.replace('"serial"\n', '["serial", "process-per-request"]\n')
    found = findings(build(tmp_path / "run", per_s, experiment=text))
    drawn = [each for each in found.charts.values() if each.name.startswith("frameworks-")]
    assert len({each.name for each in drawn}) == 2
    assert [each.title.partition(": ")[2] for each in drawn] == [
        "Python process-per-request, 10 users",
        "Python, 10 users",
    ]
    assert found.run.answer is not None
    said = found.run.answer.sentence
    assert said.startswith("In Python with 10 users a low request costs 2.00 times as much")
    assert "; in Python process-per-request with 10 users a low request costs 3.00 times" in said


def test_the_overview_never_puts_two_frameworks_into_one_place(tmp_path: Path) -> None:
    text = FILE.replace('views = ["study", "frameworks"]\n', "")
    text = text.replace('"serial"\n', '["serial", "process-per-request"]\n')
    per_s = {
        f"python {strategy} low 10 framework={name}": [100.0, 101.0, 102.0]
        for strategy in ("serial", "process-per-request")
        for name in ("flask", "fastapi")
    }
    page = page_of(build(tmp_path / "run", per_s, experiment=text))
    assert "Python, fastapi" in page
