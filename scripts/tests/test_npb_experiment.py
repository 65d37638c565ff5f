"""The file of an NPB experiment and what is planned from it."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest

from restbench.experiment import npb_experiment, npb_plan, npb_published
from restbench.experiment.cell import Cell
from restbench.experiment.npb_experiment import NpbExperiment, core_counts
from restbench.experiment.npb_work import CLASSES, Work, work_of
from restbench.experiment.records import PlannedCell
from restbench.experiment.selection import Where
from restbench.failures import BadConfiguration
from restbench.judge import npb
from restbench.store import store

SHIPPED = store.experiment_file("npb")


@pytest.fixture(scope="module")
def shipped() -> NpbExperiment:
    return npb_experiment.load(SHIPPED)


def planned(experiment: NpbExperiment, profile: str) -> tuple[PlannedCell, ...]:
    return npb_plan.plan(experiment, experiment.profile(profile), Where())


def test_the_shipped_experiment_says_what_it_is() -> None:
    assert npb_experiment.is_npb(SHIPPED)
    assert not npb_experiment.is_npb(store.experiment_file("open-load"))
    assert not npb_experiment.is_npb(store.experiment_file("thesis"))


def test_every_level_of_a_cell_tells_its_work_and_back() -> None:
    for kernel, classes in CLASSES.items():
        for npb_class, cores in itertools.product(classes, (None, 1, 16)):
            work = Work(kernel, npb_class, cores)
            assert work_of(work.level) == work


@pytest.mark.parametrize("level", ["low", "CG", "CG-Z", "CG-W30", "EP-A", "CG-A-on-"])
def test_what_is_no_kernel_with_its_class_is_no_level(level: str) -> None:
    with pytest.raises(ValueError, match="no kernel with its class"):
        work_of(level)


def test_each_round_has_the_cells_of_the_classes_that_go_so_far(shipped: NpbExperiment) -> None:
    profile = shipped.profile("full")
    of_round: dict[int, list[Cell]] = {}
    for each in planned(shipped, "full"):
        of_round.setdefault(each.block, []).append(each.cell)
    for number, cells in of_round.items():
        assert len(set(cells)) == len(cells)
        wanted = {name for name, runs in profile.classes.items() if runs.rounds >= number}
        served = [w for c in cells if (w := work_of(c.complexity)).cores is None]
        assert {work.npb_class for work in served} == wanted
    assert max(of_round) == max(runs.rounds for runs in profile.classes.values())


def test_every_kernel_and_technique_of_a_class_is_measured(shipped: NpbExperiment) -> None:
    cells = {each.cell for each in planned(shipped, "quick")}
    measured = {(c.service, c.strategy, c.complexity) for c in cells}
    for group, kernel in itertools.product(shipped.cells, CLASSES):
        for strategy, npb_class in itertools.product(group.strategy, ("S", "W", "A")):
            assert (group.service, strategy, f"{kernel}-{npb_class}") in measured
    assert ("java", "serial", "MG-W30") in measured
    assert not any(level.startswith("CG-W30") for _, _, level in measured)


def test_the_order_is_the_seeds_and_another_in_every_round(shipped: NpbExperiment) -> None:
    first, again = planned(shipped, "quick"), planned(shipped, "quick")
    assert first == again
    orders = [[e.cell for e in first if e.block == block] for block in (1, 2)]
    assert orders[0] != orders[1]
    assert set(orders[0]) == set(orders[1])
    other = shipped.model_copy(update={"seed": shipped.seed + 1})
    assert planned(other, "quick") != first


def test_cells_that_share_a_service_process_follow_each_other(shipped: NpbExperiment) -> None:
    for name, shared in (("smoke", True), ("quick", False)):
        profile = shipped.profile(name)
        keys = [npb_plan.group_of(each, profile) for each in planned(shipped, name)]
        groups = [key for key, _ in itertools.groupby(keys)]
        assert len(groups) == len(set(groups))
        served = [key for key in keys if key[2]]
        assert (len(set(served)) < len(served)) is shared


def test_numbers_of_cores_are_those_of_the_service_on_this_machine(
    shipped: NpbExperiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: set(range(4)))
    works = [work_of(each.cell.complexity) for each in planned(shipped, "smoke")]
    # Two of four cores would be the load generator's (`placement.own_load_cores`).
    assert {work.cores for work in works if work.cores} == {1, 2}
    assert {work.kernel for work in works if work.cores} == {"CG"}


@pytest.mark.parametrize(
    ("cores", "expected"),
    [
        (1, (1,)),
        (3, (1, 2, 3)),
        (8, tuple(range(1, 9))),
        (12, (*range(1, 9), 12)),
        (48, (*range(1, 9), 16, 32, 48)),
        (64, (*range(1, 9), 16, 32, 64)),
    ],
)
def test_few_cores_are_all_looked_at_and_many_in_powers_of_two(
    cores: int, expected: tuple[int, ...]
) -> None:
    assert core_counts(cores) == expected


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("runs = 3, kept = 1", "runs = 3, kept = 3", "need kept < runs"),
        ("S = { rounds = 1,", "Z = { rounds = 1,", "'Z' is no class of any kernel"),
        ('class = "S"', 'class = "B"', "its class must be one of the profile's"),
        ('"shared-pool"]', '"sharedpool"]', "'sharedpool' is none of java's"),
        ('"IS", "CG", "MG", "FT"', '"IS", "EP"', "'IS', 'CG', 'MG' or 'FT'"),
    ],
)
def test_a_wrong_file_is_refused_with_its_key(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    path = tmp_path / "npb.toml"
    text = SHIPPED.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(BadConfiguration, match=message):
        npb_experiment.load(path)


def test_an_unknown_profile_and_an_empty_selection_are_named(shipped: NpbExperiment) -> None:
    with pytest.raises(BadConfiguration, match="no profile 'long'; it has smoke, quick, full"):
        shipped.profile("long")
    with pytest.raises(BadConfiguration, match="no cell of experiment 'npb'"):
        npb_plan.plan(shipped, shipped.profile("smoke"), Where(complexity=["CG-A"]))


def test_the_claims_and_the_published_table_lie_beside_the_experiment(
    shipped: NpbExperiment,
) -> None:
    claims = npb.load(store.beside(SHIPPED, shipped.claims))
    assert [each.id for each in claims.claims] == ["N1", "N1-fair", "N1-client"]
    published = npb_published.load(store.beside(SHIPPED, shipped.published))
    levels = [f"{k}-{c}" for k in CLASSES for c in ("S", "W", "A", "B")]
    assert set(published.rows) == {each.replace("MG-W", "MG-W30") for each in levels}
    known = published.row("IS-W")
    assert known is not None
    assert (known.normal_s, known.service_s) == (0.022, 0.016)
    assert known.ratio == pytest.approx(0.016 / 0.022)
    assert published.row("MG-W") is None


def test_a_claim_on_a_column_that_is_none_is_refused(
    tmp_path: Path, shipped: NpbExperiment
) -> None:
    path = tmp_path / "claims.toml"
    text = store.beside(SHIPPED, shipped.claims).read_text()
    path.write_text(text.replace('numerator = "service_s"', 'numerator = "speed"', 1))
    with pytest.raises(BadConfiguration, match="'speed' is no column"):
        npb.load(path)
