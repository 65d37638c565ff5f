"""What several instances bring, from a run's trials to its page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from shown_run import findings, page_of, part_of, printed
from synthetic_rows import around, row, with_facts
from trial_run import EXPERIMENT, build

from restbench.analyse.instances import Load, loads
from restbench.analyse.measures import Row
from restbench.show.document import words
from restbench.show.kinds import instances as shown
from restbench.store.store import Run

SERIAL, SHARED = "java serial low 10 front=nginx", "java shared-pool low 10 front=nginx"
BOUND = " instances=2 placement=per-core"


def rows_of(*per_s: tuple[str, float]) -> list[Row]:
    return [
        row(text, around(value), cpu_ms_per_request=around(1000 / value)) for text, value in per_s
    ]


def one_load(*per_s: tuple[str, float]) -> Load:
    (found,) = loads(rows_of(*per_s))
    return found


def test_each_arrangement_is_held_against_one_instance_of_its_strategy_and_the_best_one() -> None:
    found = one_load((SERIAL, 100), (SHARED, 200), (SERIAL + BOUND, 300), (SHARED + BOUND, 100))
    by_name = {each.row.cell.id: each for each in found.arrangements}
    serial = by_name["java-serial-per-core-low-10u-nginx-2i"]
    assert serial.over_one("throughput_per_s").estimate == pytest.approx(3, rel=0.02)
    assert serial.to_best.estimate == pytest.approx(1.5, rel=0.02)
    assert serial.over_one("cpu_ms_per_request").estimate == pytest.approx(1 / 3, rel=0.02)
    assert found.bound == serial


def test_the_best_strategy_of_one_instance_is_picked_by_blocks_that_all_have() -> None:
    """A block of a better hour, which the others do not have, makes no strategy the best."""
    serial, shared = [100.0, 101.0, 99.0], [90.0, 91.0, 89.0, 300.0]
    (found,) = loads([row(SERIAL, serial), row(SHARED, shared), row(SERIAL + BOUND, serial)])
    assert {each.best.cell.strategy for each in found.arrangements} == {"serial"}


def test_unbound_instances_are_shown_and_do_not_stand_for_bound_ones() -> None:
    found = one_load((SERIAL, 100), (SERIAL + " instances=2", 200))
    assert len(found.arrangements) == 2
    assert found.bound is None
    assert shown.sentence([found]) == ""


def test_each_load_has_the_number_of_instances_of_its_own_best_arrangement() -> None:
    four = BOUND.replace("=2", "=4")
    low = ((SERIAL, 100), (SERIAL + BOUND, 190), (SERIAL + four, 150))
    medium = SERIAL.replace("low", "medium")
    more = ((medium, 100), (medium + BOUND, 190), (medium + four, 300))
    said = shown.sentence(loads(rows_of(*low, *more)))
    assert "in Java 2 single-core instances answer 1.90 [" in said
    assert "as many requests at low (serial); in Java 4 single-core instances answer 3.00" in said


def test_the_terminal_names_the_users_where_lines_differ_in_them() -> None:
    one = rows_of((SERIAL, 100), (SERIAL + BOUND, 200))
    more = [row(SERIAL.replace(" 10 ", " 60 ") + of, around(300)) for of in ("", BOUND)]
    (alone,), (both,) = (shown.terminal(loads(each)) for each in (one, one + more))
    assert "Users" not in [each.heading for each in alone.columns]
    at = [each.heading for each in both.columns].index("Users")
    assert [words(line[at]) for line in both.rows] == ["10", "10", "60", "60"]


def test_without_several_or_without_one_there_is_no_comparison() -> None:
    assert loads(rows_of((SERIAL, 100), (SHARED, 200))) == []
    assert loads(rows_of((SERIAL + BOUND, 100))) == []


def scaled(text: str, numbers: Sequence[int]) -> list[Row]:
    """Of a rate of 100, a contention of .05 and a coherency of .001."""
    return rows_of(
        *(
            (f"{text} instances={n}", 100 * n / (1 + 0.05 * (n - 1) + 0.001 * n * (n - 1)))
            for n in numbers
        )
    )


def test_growth_over_instances_has_a_law_for_each_strategy_and_placement() -> None:
    (load,) = loads(scaled(SERIAL, [1, 2, 3, 4, 6, 8]) + rows_of((SERIAL + BOUND, 300)))
    (line,) = shown.growth([load], cores=8)
    assert line.startswith(
        "Growth with instances, Java serial unbound, low, 10 users: the Universal Scalability Law "
        "has λ "
    )
    assert re.search(r"its peak at \d+\.\d instances; Amdahl's law over instances has λ ", line)
    (refused,) = shown.growth([load], cores=7)
    assert "the Universal Scalability Law is not fitted: N = 8 is above the number of" in refused


def test_where_nothing_can_be_fitted_over_instances_one_line_says_so() -> None:
    two = loads(scaled(SERIAL, [1, 2]) + scaled(SHARED, [1, 2]) + rows_of((SHARED + BOUND, 300)))
    assert shown.growth(two, cores=2) == [
        "Growth with instances, 2 series of cells: "
        "the Universal Scalability Law is not fitted: 2 levels, 6 are needed; "
        "Amdahl's law is not fitted: 2 levels, 6 are needed."
    ]


def test_the_fronts_part_of_the_cpu_time_has_a_column_of_its_own() -> None:
    rows = [
        with_facts(each, extras={"front_cpu_ms_per_request": 0.025})
        for each in rows_of((SERIAL, 100), (SERIAL + BOUND, 200))
    ]
    (table,) = shown.tables(loads(rows))
    at = [each.heading for each in table.columns].index("Front ms")
    assert [words(line[at]) for line in table.rows] == ["0.025", "0.025"]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    definition = EXPERIMENT.replace('claims = "claims.toml"\n', "").replace(
        '["serial", "pinned"]',
        '["serial", "shared-pool"]\nfront = "nginx"\ninstances = [1, 2]\n'
        'placement = ["unbound", "per-core"]',
    )
    per_s = {SERIAL: around(100), SHARED: around(80), SERIAL + BOUND: around(210)}
    per_s[SERIAL + " instances=2"] = around(150)
    return build(tmp_path / "run", per_s, experiment=definition)


def test_each_chart_of_the_run_is_on_its_page(run: Run) -> None:
    """A figure of each technique's place under several instances was drawn, and shown nowhere."""
    page = page_of(run)
    assert "instances-java" in findings(run).charts
    for name in findings(run).charts:
        assert f'id="chart-{name}"' in page, name


def test_page_and_terminal_begin_with_what_bound_instances_bring(run: Run) -> None:
    sentence = "Compared with one instance under its best strategy, in Java 2 single-core instances"
    page, text = page_of(run), printed(run)
    assert sentence in page
    assert sentence in " ".join(text.split())
    assert "instances-java" in page, "the chart"
    assert '["a core each","#' in page, "the name of a series, as in the lines"
    assert "serial, a core each" in page, "a line of its own, as values stand at the ends of lines"
    part = part_of(page, "instances")
    assert "2 per-core" in part
    assert "shared-pool" in part
    assert "Growth with instances, Java serial unbound, low, 10 users: the Universal Scalab" in part
    (line,) = [
        each for each in text.splitlines() if each.startswith("serial") and "per-core" in each
    ]
    assert "2.1" in line
