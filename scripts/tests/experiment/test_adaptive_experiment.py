"""The experiment on the endpoint that chooses: what it measures, and the claims that it decides."""

from __future__ import annotations

import pytest

from restbench.experiment import claim_file, experiment
from restbench.experiment.cell import STRATEGIES
from restbench.experiment.experiment import Experiment
from restbench.experiment.order import plan
from restbench.experiment.selection import Where
from restbench.store.store import EXPERIMENTS

USERS = {1, 2, 10, 60}
#: What cannot serve a matrix of 1000 x 1000 in any time that one would wait.
SENSELESS = {("java", "thread-per-element"), ("python", "process-per-element")}
#: Came after the claims were fixed: each is one of those that are compared, on another pool.
LATER = {
    ("java", "fork-join"),
    ("java", "worker-pool"),
    ("java", "virtual-thread-per-request"),
    ("python", "worker-pool"),
    ("python", "executor-per-element"),
    ("python", "executor-per-request"),
}


@pytest.fixture(scope="module")
def adaptive() -> Experiment:
    return experiment.load(EXPERIMENTS / "adaptive.toml")


def test_every_strategy_that_can_serve_all_sizes_does_so_with_every_number_of_users(
    adaptive: Experiment,
) -> None:
    cells = adaptive.all_cells()
    everything = {
        (service, strategy, level, users)
        for service, strategies in STRATEGIES.items()
        for strategy in strategies
        if (service, strategy) not in SENSELESS | LATER
        for level in adaptive.levels
        for users in USERS
    }
    found = {(each.service, each.strategy, each.complexity, each.users) for each in cells}
    assert everything <= found, "a strategy that is new belongs to LATER"
    assert {(service, strategy) for service, strategy, _, _ in found - everything} == {
        ("python", "process-per-element")
    }
    assert {cell.kernel for cell in cells} == {"native"}


def test_f1_is_decided_against_every_fixed_strategy_in_every_cell(adaptive: Experiment) -> None:
    claims = claim_file.load(EXPERIMENTS / "claims" / "adaptive.toml")
    (f1,) = (each for each in claims.claims if each.id == "F1")
    questions = [q for part in f1.parts if part.decides for q in part.questions()]
    chosen = [question.numerator.candidates[0] for question in questions]
    cells = adaptive.all_cells()
    assert sorted(each.id for each in chosen) == sorted(
        each.id for each in cells if each.strategy == "adaptive"
    )
    for question, choosing in zip(questions, chosen, strict=True):
        beside = {
            each
            for each in cells
            if each != choosing and each.model_copy(update={"strategy": "adaptive"}) == choosing
        }
        assert set(question.denominator.candidates) == beside


def test_as_good_is_at_least_0_97_and_not_stuck_is_at_most_twice(adaptive: Experiment) -> None:
    """Of the fixed strategies it stands beside, for as many cells as there are."""
    claims = claim_file.load(EXPERIMENTS / "claims" / "adaptive.toml")
    assert claims.margin == pytest.approx(1 / 0.97 - 1, abs=5e-5)
    (stuck,) = (each for each in claims.claims if each.id == "F1-stuck")
    assert {part.margin for part in stuck.parts} == {1.0}
    mixes = {each for each in adaptive.all_cells() if each.complexity == "mix"}
    asked = {
        cell: part.decides
        for part in stuck.parts
        for question in part.questions()
        for cell in question.numerator.candidates
    }
    assert asked == {each: each.strategy == "adaptive" for each in mixes}


def test_the_quick_profile_has_the_mix_with_every_number_of_users(adaptive: Experiment) -> None:
    quick = plan(adaptive, adaptive.profile("quick"), Where())
    mixes = {each.cell.users for each in quick if each.cell.complexity == "mix"}
    assert mixes == USERS
    smoke = plan(adaptive, adaptive.profile("smoke"), Where())
    quick_cells = {each.cell for each in quick}
    assert len(smoke) < len(quick_cells) < len(adaptive.all_cells())
    assert {each.cell.service for each in smoke} == {"java", "python"}
