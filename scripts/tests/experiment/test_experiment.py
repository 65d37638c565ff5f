"""The experiment files, and what a wrong one says."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import pytest
from experiment_file import MINIMAL, loaded, refused

from restbench.experiment import experiment
from restbench.experiment.cell import Cell
from restbench.experiment.order import parse_filter, plan
from restbench.experiment.profile import MOST_BLOCKS, Profile
from restbench.experiment.selection import Where
from restbench.failures import BadConfiguration
from restbench.store import store

GROUP = '[[groups]]\nname = "all"\nwhere = { users = 1 }\n'


def thesis() -> experiment.Experiment:
    return experiment.load(store.experiment_file("thesis"))


def test_a_group_expands_into_every_combination_of_its_levels(tmp_path: Path) -> None:
    cells = loaded(tmp_path, MINIMAL).all_cells()
    assert [(cell.strategy, cell.users) for cell in cells] == [
        ("serial", 1),
        ("serial", 2),
        ("pinned", 1),
        ("pinned", 2),
    ]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("seed = 3", "sed = 3", "sed: unknown key; allowed here are name, title, seed"),
        (
            "blocks = 1",
            "block = 1",
            "profiles.quick.block: unknown key; allowed here are description",
        ),
        ('"pinned"', '"pined"', "'pined' is not one of the java service's: serial, "),
        ("users = [1, 2]", "users = [1000]", "users: the load generator has at most 999"),
        ("users = [1, 2]", "users = [-1]", "users.0: Input should be greater than or equal to 1"),
        ("users = [1, 2]", "users = []", "users: needs one level or more"),
        ('service = "java"', 'service = "java"\ninstances = []', "instances: needs one level or"),
        ('service = "java"', 'service = "jawa"', "Input should be 'java' or 'python'"),
        ('complexity = "low"', 'complexity = "lo"', "'lo' is not defined; defined are low"),
        ("blocks = 1", "blocks = 3\nblocks_max = 2", "need blocks <= blocks_max"),
        ("seed = 3", "seed = ", "not TOML"),
        ("seed = 3", "seed = -3", "seed: Input should be greater than or equal to 0"),
        ("seed = 3", "seed = 3\nelement_min = 51", "element_min: needs to be at most element_max"),
        ("seed = 3", f"seed = 3\nelement_max = {2**63}", "element_max: Input should be less than"),
        # Their plan alone would take all memory.
        ("blocks = 1", "blocks = 1000000000", "blocks: Input should be less than or equal to 1000"),
        ("rows = 2", "rows = 99999999", "complexities.low: rows x inner, inner x columns, rows x"),
        ("blocks = 1", "blocks = 1\nblocks_max = 1001", "blocks_max: Input should be less than"),
        ("java = 0, ", "java = inf, ", "warm_max_s.java: Input should be a finite number"),
        ("java = 0, ", "", "profiles.quick.warm_max_s: lacks 'java'"),
        ("[profiles.quick]", f"{2 * GROUP}[profiles.quick]", "groups: two groups are named 'all'"),
        # Its cells would have been measured in other rounds than their claim needs.
        (
            "[profiles.quick]",
            GROUP.replace("users = 1", 'strategy = "pined"') + "[profiles.quick]",
            "groups.0.where: selects no cell; there are such as java-serial-unbound-low-1u",
        ),
        ("blocks = 1", "blocks = 1\nonly = [{ users = 3 }]", "profiles.quick.only.0: selects no"),
    ],
)
def test_a_wrong_file_is_one_line_with_file_key_and_allowed_values(
    old: str, new: str, expected: str
) -> None:
    assert expected in refused(MINIMAL, old, new)


def test_only_drivers_of_http_loads_have_long_windows() -> None:
    text = store.experiment_file("npb").read_text()
    told = refused(text, "warm_max_s", "windows = [{ users = 1 }]\nwarm_max_s")
    assert ".windows: driver 'npb' has none" in told


def test_the_thesis_has_the_cells_of_the_study() -> None:
    cells = thesis().all_cells()
    java = [cell for cell in cells if cell.service == "java"]
    tables = [cell for cell in java if thesis().test_ids(cell)]
    sweep = [cell for cell in java if cell.complexity.startswith("rows-")]
    join = [cell for cell in java if cell.strategy == "thread-per-element"]
    python = [cell for cell in cells if cell.service == "python"]
    assert (len(tables), len(sweep), len(join), len(python)) == (27, 6, 4, 3 * 5 * 3 * 2)
    assert len(cells) == len(set(cells)) == 27 + 6 + 4 + 90


def test_t_d_falls_out_of_the_cells_of_serial_with_10_users() -> None:
    ids = {
        cell.complexity: thesis().test_ids(cell)
        for cell in thesis().all_cells()
        if (cell.service, cell.strategy, cell.users) == ("java", "serial", 10)
    }
    assert ids["low"] == ("T-A01", "T-D01")
    assert ids["medium"] == ("T-B01", "T-D02")
    assert ids["high"] == ("T-C01", "T-D03")
    assert thesis().test_ids(
        Cell(service="java", strategy="pinned", complexity="high", users=60)
    ) == ("T-C03",)


def test_every_figure_of_the_study_shows_cells_that_are_measured() -> None:
    loaded_thesis = thesis()
    numbers = [figure.number for figure in loaded_thesis.figures]
    assert numbers == [14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 26, 27]
    for figure in loaded_thesis.figures:
        assert [cell for cell in loaded_thesis.all_cells() if figure.where.matches(cell)]


def blocks(number: int) -> Profile:
    return thesis().profile("quick").model_copy(update={"blocks": number})


def test_a_plan_runs_every_cell_once_a_block_and_keeps_a_service_s_cells_together() -> None:
    planned = plan(thesis(), blocks(2), Where())
    assert len(planned) == 2 * 127
    assert len({(each.block, each.cell) for each in planned}) == 2 * 127
    runs = [(each.block, each.cell.service, each.cell.placement) for each in planned]
    changes = sum(a != b for a, b in pairwise(runs))
    assert changes == 2 * 3 - 1


def test_a_plan_is_shuffled_differently_in_each_block_but_the_same_from_one_seed() -> None:
    first, second = (plan(thesis(), blocks(2), Where()) for _ in range(2))
    assert first == second
    orders = [[each.cell.id for each in first if each.block == block] for block in (1, 2)]
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1])
    assert orders[0] != [cell.id for cell in thesis().all_cells()]


def test_a_selection_takes_part_of_the_cells() -> None:
    selection = parse_filter("service=java strategy=pinned,serial users=10", thesis())
    chosen = plan(thesis(), blocks(1), selection)
    assert {each.cell.strategy for each in chosen} == {"pinned", "serial"}
    assert {each.cell.users for each in chosen} == {10}
    assert len(chosen) == 3 + 5


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("strategie=pinned", "'strategie=pinned' is not FACTOR=LEVEL"),
        ("strategy", "'strategy' is not FACTOR=LEVEL"),
        ("users=10 users=30", "'users' appears twice: give users=LEVEL,LEVEL"),
        ("settings=A=1", "settings: 'A=1' is not in experiment 'thesis'; it has (empty)"),
        ("users=-10", "users: '-10' is not in experiment 'thesis'; it has 10, 30, 60"),
        ("strategy=pinnd", "strategy: 'pinnd' is not in experiment 'thesis'; it has serial"),
    ],
)
def test_a_wrong_selection_names_what_is_allowed(text: str, expected: str) -> None:
    with pytest.raises(BadConfiguration) as caught:
        parse_filter(text, thesis())
    assert expected in str(caught.value)


def test_a_selection_without_cells_is_an_error() -> None:
    with pytest.raises(BadConfiguration, match="no cell of experiment 'thesis' matches"):
        plan(thesis(), blocks(1), parse_filter("service=python strategy=thread-pool", thesis()))


def test_a_profile_that_may_go_on_is_planned_to_its_last_block() -> None:
    profile = thesis().profile("reference")
    planned = plan(thesis(), profile, Where(strategy=["pinned"]))
    assert {each.block for each in planned} == set(range(1, profile.most_blocks + 1))


def test_a_run_of_other_minutes_keeps_the_length_of_its_blocks() -> None:
    quick = thesis().profile("quick")
    long = quick.lasting(60)
    assert long.block_s == quick.block_s
    assert (long.blocks, long.most_blocks) == (5, 15)
    assert quick.lasting(120).most_blocks == 18
    assert (long.longest_round_s, quick.lasting(120).longest_round_s) == (60, 120)
    short = quick.lasting(6)
    assert (short.blocks, short.block_s) == (3, 120)
    tiny = quick.model_copy(update={"block_minutes": 1e-9})
    assert tiny.lasting(60).most_blocks == MOST_BLOCKS
    tenths = quick.model_copy(update={"blocks": 1, "minutes": 0.8})
    assert tenths.lasting(2.4).most_blocks == 3, "2.4 / 0.8 is a little less than 3"
    for none in (-1, math.nan, math.inf):
        with pytest.raises(BadConfiguration, match="above 0"):
            quick.lasting(none)
