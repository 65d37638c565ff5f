"""A mix as a level of complexity: its file, its order, what is sent, what is counted apart."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import pytest
from experiment_file import FIGURE, MIXED, loaded

from restbench.drive.payload import files_of, requests_of
from restbench.experiment import level
from restbench.experiment.experiment import Experiment
from restbench.experiment.order import plan
from restbench.experiment.selection import Where
from restbench.failures import BadConfiguration


@pytest.fixture
def mixed(tmp_path: Path) -> Experiment:
    return loaded(tmp_path, MIXED)


def test_every_round_has_each_kind_as_often_as_its_share_says() -> None:
    kinds = level.mixed_order({"low": 0.95, "huge": 0.05}, "1")
    rounds = [kinds[n : n + 100] for n in range(0, len(kinds), 100)]
    assert len(rounds) == level.ROUNDS
    assert all(Counter(each) == {"low": 95, "huge": 5} for each in rounds)
    assert len({each.index("huge") for each in rounds}) > 10, "a place of its own in each round"


def test_huge_requests_come_in_clumps_as_those_of_independent_users_do() -> None:
    kinds = level.mixed_order({"low": 0.95, "huge": 0.05}, "1")
    places = [place for place, kind in enumerate(kinds) if kind == "huge"]
    near = sum(two - one <= 2 for one, two in itertools.pairwise(places))
    assert 0.05 < near / len(places) < 0.15, "independent ones: 1 - 0.95² = 0.0975"


def test_the_same_seed_gives_the_same_order_and_another_seed_another() -> None:
    shares = {"a": 0.5, "b": 0.3, "c": 0.2}
    assert (
        level.mixed_order(shares, "1")
        == level.mixed_order(shares, "1")
        != level.mixed_order(shares, "2")
    )


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("huge = 0.05", "huge = 0.06", "mixes.both: shares of low, huge: they must add up to 1"),
        ("huge = 0.05", "hug = 0.05", "mixes.both: complexity: 'hug' is not defined; defined are"),
        ("both = {", "low = {", "mixes.low: a complexity has this name already"),
        ("low = 0.95, huge = 0.05", "low = 0.9999, huge = 0.0001", "only in 10000 requests"),
        ('"both"]', '"bot"]', "'bot' is not defined; defined are low, huge, both"),
    ],
)
def test_a_mix_that_cannot_be_is_refused_in_words(
    tmp_path: Path, old: str, new: str, expected: str
) -> None:
    assert old in MIXED
    with pytest.raises(BadConfiguration) as refused:
        loaded(tmp_path, MIXED.replace(old, new, 1))
    assert expected in str(refused.value)


def test_a_figure_against_rows_has_no_mix(tmp_path: Path) -> None:
    with pytest.raises(BadConfiguration, match="figure 1: a mix has no number of rows"):
        loaded(tmp_path, MIXED + FIGURE)


def test_a_mix_sends_the_payloads_of_its_kinds_in_its_order(mixed: Experiment) -> None:
    sent = files_of(mixed, "both", Path)
    alone = files_of(mixed, "low", Path)
    assert {str(path) for path in sent} == {
        "low/body-rest.json",
        "low/answer-rest.json",
        "huge/body-rest.json",
        "huge/answer-rest.json",
        "both/order.txt",
    }
    assert {path: sent[path] for path in alone} == alone, "the same bytes as alone"
    assert Counter(sent[Path("both/order.txt")].split()) == {"low": 9500, "huge": 500}
    assert list(requests_of(mixed, "both")) == ["low", "huge"]


def test_a_mix_is_planned_as_any_level_is(mixed: Experiment) -> None:
    profile = mixed.profile("quick")
    planned = plan(mixed, profile, Where(complexity=["both"]))
    assert {each.cell.id for each in planned} == {
        f"java-{strategy}-unbound-both-{users}u"
        for strategy in ("serial", "pinned")
        for users in (1, 2)
    }
