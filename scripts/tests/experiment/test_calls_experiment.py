"""Experiments of calls: what their levels mean, what a profile has time for, what claims need."""

from __future__ import annotations

from dataclasses import replace

import pytest
from experiment_file import refused

from restbench.analyse import calls
from restbench.analyse.calls import OneCall
from restbench.experiment import claim_file, experiment
from restbench.experiment.calls import Calls, CallWork, work_of
from restbench.experiment.cell import Cell
from restbench.store import store

FILE = store.experiment_file("calls")


@pytest.fixture(scope="module")
def table() -> Calls:
    return experiment.load(FILE).table(Calls)


def test_a_level_says_client_transport_way_and_response_time() -> None:
    assert work_of("java-rest-task-pool-100ms") == CallWork("java", "rest", "task-pool", 100)
    expected = CallWork("java", "soap", "pipeline-async", 1000, 16)
    assert work_of("java-soap-pipeline-async-1000ms-of-16") == expected
    assert expected.level == "java-soap-pipeline-async-1000ms-of-16"
    for wrong in (
        "java-rest-none-1ms",
        "python-rest-pipeline-1ms",
        "python-soap-async-1ms",
        "CG-A",
    ):
        with pytest.raises(ValueError, match="is no batch of calls"):
            work_of(wrong)


def test_calls_in_turn_are_scaled_but_for_one_block_of_the_long_profiles(table: Calls) -> None:
    in_turn, pool = work_of("java-rest-sequential-1000ms"), work_of("java-rest-task-pool-1000ms")
    assert [table.made("full", block, in_turn) for block in (1, 2)] == [100, 10]
    longest = replace(in_turn, delay_ms=10_000)
    assert [table.made("seconds", 1, each) for each in (in_turn, longest)] == [10, 100]
    assert table.made("reference", 1, in_turn) == 10
    assert table.made("reference", 1, pool) == 100
    assert table.made("quick", 1, replace(in_turn, delay_ms=0)) == 2000
    assert table.made("full", 1, replace(in_turn, transport="soap")) == 10
    assert table.calls("full", work_of("java-rest-task-pool-1000ms-of-16")) == 16
    assert table.calls("quick", work_of("java-soap-document-0ms")) == 5
    assert table.calls("quick", work_of("java-soap-document-0ms-of-400")) == 5


def test_a_batch_has_the_calls_of_the_first_pattern_that_its_level_fits(table: Calls) -> None:
    counts = {
        "java-rest-async-0ms": 2000,
        "python-zeep-async-0ms": 500,
        "java-rest-async-100ms": 100,
    }
    for level, calls_of_it in counts.items():
        assert table.calls("reference", work_of(level)) == calls_of_it


def test_a_document_has_as_many_rows_as_its_level_says(table: Calls) -> None:
    shapes = [
        table.shape(work_of(level))
        for level in (
            "java-soap-document-0ms",
            "java-soap-document-0ms-of-400",
            "java-rest-async-0ms-of-16",
        )
    ]
    assert [(each.rows, each.columns) for each in shapes] == [(4000, 600), (400, 600), (200, 20)]


#: What a call takes alone, about, on the two cores of docs/calls.md.
ALONE_S = {
    ("java", "rest"): 0.001,
    ("java", "soap"): 0.003,
    ("python", "rest"): 0.003,
    ("python", "zeep"): 0.008,
}
DOCUMENTS_S = 6.0
#: Of a profile's time what is left goes to processes that start, and to warming up.
BATCHES = 0.85


@pytest.mark.parametrize("profile", experiment.load(FILE).profiles)
def test_the_batches_of_a_profile_fit_into_its_time(table: Calls, profile: str) -> None:
    definition = experiment.load(FILE)
    chosen = definition.profiles[profile]

    def least_s(of: Cell, block: int) -> float:
        work = work_of(of.complexity)
        one_s = ALONE_S[work.program]
        one = OneCall(0, one_s, work.delay_ms / 1000, 0, 0)
        made = table.made(profile, block, work)
        if work.strategy == "document":
            return DOCUMENTS_S
        return calls.least_s(work.strategy, of.users, made, one, cpu_s=one_s, cores=2)

    measured = [each for each in definition.all_cells() if chosen.measures(each)]
    blocks = range(1, chosen.blocks + 1)
    seconds = sum(least_s(each, block) for block in blocks for each in measured)
    assert seconds < BATCHES * 60 * chosen.minutes


PIPELINES, ALL = "users = [4, 5, 8, 16, 32, 64]", "users = [1, 2, 4, 5, 8, 16, 32, 64]"


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        (PIPELINES, "users = [3, 4]", "'java-rest-pipeline-0ms' needs 4 to 1024 threads"),
        (PIPELINES, "users = [4, 1025]", "'java-rest-pipeline-0ms' needs 4 to 1024 threads"),
        (ALL, "users = [0]", "users"),
        ("java-rest-async-10000ms", "java-rest-guess-10000ms", "guess-10000ms' is not"),
        ("java-rest-async-10000ms", "java-mail-async-10000ms", "mail-async-10000ms' is not"),
        ("java-rest-async-10000ms", "python-rest-adaptive-0ms", "adaptive-0ms' is not"),
        ("delays_ms = [0, ", "delays_ms = [-1, 0, ", "delays_ms"),
        ('"*" = 20', '"*" = 0', "number"),
    ],
)
def test_what_is_wrong_in_the_file_is_one_line(right: str, wrong: str, said: str) -> None:
    assert said in refused(FILE.read_text(), right, wrong)


SHORT = {"W1-W3-scaled", "W5-scaled", "W6", "W7", "W8", "W9"}


@pytest.mark.parametrize(
    ("profile", "decided"),
    [
        ("quick", SHORT | {"W4-scaled"}),
        ("reference", SHORT | {"W1", "W5"}),
        ("full", SHORT | {"W1", "W2", "W3", "W4", "W4-scaled", "W5"}),
    ],
)
def test_the_claims_that_a_profile_can_decide_have_their_cells_there(
    profile: str, decided: set[str]
) -> None:
    measures = experiment.load(FILE).profiles[profile].measures
    entries = claim_file.load(FILE.parent / "claims" / "calls.toml").claims
    lacking = {
        claim.id
        for claim in entries
        for part in claim.parts
        for asked in part.questions()
        for side in (asked.numerator, asked.denominator)
        if part.decides and not all(map(measures, side.cells))
    }
    assert {each.id for each in entries} - lacking == decided
