"""An experiment of NAS kernels: its file, its cells, and what is planned from it."""

from __future__ import annotations

import itertools
import math
import os

import pytest
from experiment_file import refused
from npb_rows import SHIPPED, published

from restbench.commands import measuring
from restbench.experiment import experiment
from restbench.experiment.experiment import Experiment
from restbench.experiment.npb import CLASSES, PublishedTable, Work, core_counts, work_of
from restbench.experiment.order import parse_filter, plan
from restbench.experiment.selection import Where
from restbench.failures import BadConfiguration


@pytest.fixture(scope="module")
def shipped() -> Experiment:
    return experiment.load(SHIPPED)


def levels(experiment: Experiment, profile: str, selection: Where | None = None) -> set[str]:
    planned = plan(experiment, experiment.profile(profile), selection or Where())
    return {each.cell.complexity for each in planned}


def test_every_level_of_a_cell_tells_its_work_and_back() -> None:
    for kernel, classes in CLASSES.items():
        for npb_class, cores in itertools.product(classes, (None, 1, 16)):
            work = Work(kernel, npb_class, cores)
            assert work_of(work.level) == work


@pytest.mark.parametrize("level", ["low", "CG", "CG-Z", "CG-W30", "EP-A", "CG-A-on-"])
def test_what_is_no_kernel_with_its_class_is_no_level(level: str) -> None:
    with pytest.raises(ValueError, match="not a kernel with its class"):
        work_of(level)


def test_every_kernel_and_technique_of_a_class_is_measured(shipped: Experiment) -> None:
    planned = plan(shipped, shipped.profile("quick"), Where())
    measured = {(each.cell.service, each.cell.strategy, each.cell.complexity) for each in planned}
    techniques = [
        ("java", "serial"),
        ("java", "shared-pool"),
        ("python", "serial"),
        ("python", "process-per-element"),
    ]
    for technique, kernel, npb_class in itertools.product(techniques, CLASSES, ("S", "W", "A")):
        assert (*technique, f"{kernel}-{npb_class}") in measured
    assert ("java", "serial", "MG-W30") in measured
    assert not any("-B" in level or level.startswith("CG-W30") for _, _, level in measured)
    assert len(measured) == len(planned) / 3


def test_class_b_has_a_profile_of_its_own(shipped: Experiment) -> None:
    assert levels(shipped, "large") == {f"{kernel}-B" for kernel in CLASSES}


def test_numbers_of_cores_are_those_of_the_service_on_this_machine(
    shipped: Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: set(range(4)))
    works = [work_of(level) for level in levels(shipped, "smoke")]
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
        ("large = { B =", "large = { C =", "npb.runs.large: lacks the class of '"),
        ('complexity = ["CG-S-on-*"', 'complexity = ["EP-S-on-*"', "'EP-S-on-*' is not defined"),
        ("users = 1", "users = 10", "calls one at a time: users = 1"),
        ('driver = "npb"', 'driver = "closed-load"', "driver 'npb' needs a table"),
        ("IS-S = [0.007", "EP-S = [0.007", "'EP-S' is not a kernel with its class"),
    ],
)
def test_a_wrong_file_is_refused_with_its_key(old: str, new: str, message: str) -> None:
    assert message in refused(SHIPPED.read_text(), old, new)


def test_cells_are_chosen_by_a_class_or_a_kernel(shipped: Experiment) -> None:
    chosen = parse_filter("complexity=CG-*,IS-S service=java", shipped)
    assert levels(shipped, "quick", chosen) >= {"CG-S", "CG-W", "CG-A", "IS-S"}
    assert not any(level.startswith(("MG", "FT")) for level in levels(shipped, "quick", chosen))
    with pytest.raises(BadConfiguration, match=r"complexity: 'EP-\*' is not in experiment"):
        parse_filter("complexity=EP-*", shipped)


def test_the_claims_lie_next_to_the_experiment_and_are_on_its_levels() -> None:
    order = measuring.order_for("npb", "reference", "", [])
    assert order.claims_text is not None
    ids = ("N1", "N1-fair", "N1-soap", "N1-soap-fair", "N2")
    assert [order.claims_text.count(f'id = "{each}"') for each in ids] == [1] * len(ids)
    assert order.profile.most_blocks * order.profile.block_s <= 60 * order.profile.minutes


def test_the_published_table_is_of_every_kernel() -> None:
    expected = {f"{kernel}-{name}" for kernel in CLASSES for name in ("S", "W", "A", "B")}
    assert set(published().rows) == {each.replace("MG-W", "MG-W30") for each in expected}
    known = published().rows.get("IS-W")
    assert known is not None
    assert (known.normal_s, known.service_s) == (0.022, 0.016)
    assert known.ratio == pytest.approx(0.016 / 0.022)
    assert published().rows.get("MG-W") is None


#: Of the study's 32 pairs of seconds and Mop/s those that are no result of a run.
NO_RESULTS = {
    "normal": {"IS-B", "CG-W", "MG-A"},
    "service": {"CG-S", "CG-B", "MG-S", "MG-A", "MG-B", "FT-B"},
}


def test_exactly_nine_published_pairs_are_no_result_of_a_run() -> None:
    found: dict[str, set[str]] = {"normal": set(), "service": set()}
    for level in published().rows:
        known = published().rows.get(level)
        assert known is not None
        pairs = {
            "normal": (known.normal_s, known.normal_mops),
            "service": (known.service_s, known.service_mops),
        }
        for column, pair in pairs.items():
            if not published().is_result(level, *pair):
                found[column].add(level)
    assert found == NO_RESULTS
    assert sum(map(len, found.values())) == 9


def test_a_rate_that_differs_by_rounding_is_a_result_and_by_a_little_more_is_none() -> None:
    table = PublishedTable(source="", machine="", rows={}, mega_operations={"CG-S": 100.0})
    assert table.is_result("CG-S", 2.0, 50.0)
    assert table.is_result("CG-S", 2.0, 100 / 1.9995 * (1 + 0.9e-4))
    assert table.is_result("CG-S", 2.0, 100 / 2.0005 * (1 - 0.9e-4))
    assert not table.is_result("CG-S", 2.0, 100 / 1.9995 * (1 + 1.1e-4))
    assert not table.is_result("CG-S", 2.0, 100 / 2.0005 * (1 - 1.1e-4))
    assert table.is_result("CG-A", 2.0, 7.0), "its count is not known"


def test_the_counts_of_operations_are_those_of_the_kernels_formulas() -> None:
    """NPB 3.0's, which counts the points of MG with their edges."""
    counted = {
        f"IS-{name}": 10 * 2**bits for name, bits in {"S": 16, "W": 20, "A": 23, "B": 25}.items()
    }
    sizes = {"S": (1400, 7, 15), "W": (7000, 8, 15), "A": (14000, 11, 15), "B": (75000, 13, 75)}
    for name, (rows, entries, iterations) in sizes.items():
        pairs = entries * (entries + 1)
        counted[f"CG-{name}"] = 2 * iterations * rows * (3 + pairs + 25 * (5 + pairs) + 3)
    grids = {"S": (32, 4), "W30": (64, 40), "A": (256, 4), "B": (256, 20)}
    for name, (points, cycles) in grids.items():
        counted[f"MG-{name}"] = 58 * cycles * (points + 2) ** 3
    boxes = {"S": (2**18, 6), "W": (2**19, 6), "A": (2**23, 6), "B": (2**25, 20)}
    for name, (points, steps) in boxes.items():
        log = math.log(points)
        flops = 14.8157 + 7.19641 * log + (5.23518 + 7.21113 * log) * steps
        counted[f"FT-{name}"] = points * flops
    told = published().mega_operations
    assert set(told) == set(counted) == set(published().rows)
    for level, operations in counted.items():
        assert told[level] == pytest.approx(operations / 1e6, rel=1e-8)


def test_the_studys_screens_are_slower_than_its_own_normal_execution() -> None:
    slower = {
        level: seconds / known.normal_s
        for level, seconds in published().screens_s.items()
        if (known := published().rows.get(level))
    }
    assert {level: round(ratio, 3) for level, ratio in slower.items()} == {
        "IS-B": 1.168, "MG-W30": 1.018, "FT-A": 1.027, "CG-A": 1.035,
    }  # fmt: skip
