"""A run with a difference that is known, one without any, and a wrong answer: sentence, picture,
claims, page and terminal say so."""

from __future__ import annotations

from pathlib import Path

import pytest
from drawn import data_of
from fixture_run import PROOFS
from shown_run import findings, page_of, part_of, printed
from trial_run import EXPERIMENT, build

from restbench.store.store import Run
from restbench.store.writing import write_json

SIZES = EXPERIMENT.replace(
    'strategy = ["serial", "pinned"]', 'strategy = ["serial", "pinned", "thread-pool", "pipeline"]'
)
#: At 10 users serial is twice as fast as pinned; at 30 users they are the same.
PER_S = {
    "java serial low 10": [200.0, 204.0, 198.0, 201.0, 199.0],
    "java pinned low 10": [100.0, 102.5, 98.6, 100.7, 99.3],
    "java serial low 30": [200.0, 204.0, 198.0, 201.0, 199.0],
    "java pinned low 30": [200.4, 203.2, 198.5, 200.6, 199.5],
}
WRONG = "java pipeline low 10"


def claim(name: str, expect: str, users: int, numerator: str = "serial") -> str:
    return f"""
[[claims]]
id = "{name}"
text = "at {users} users {numerator} is {expect} than pinned"
reading = "Throughput of {numerator} over that of pinned."

[[claims.parts]]
metric = "throughput_per_s"
expect = "{expect}"
cells = {{ service = "java", complexity = "low", users = {users} }}
numerator = {{ strategy = "{numerator}" }}
denominator = {{ strategy = "pinned" }}
"""


CLAIMS = 'title = "What was planted"\nmargin = 0.05\n' + "".join(
    [
        claim("TWICE", "greater", 10),
        claim("NEVER", "less", 10),
        claim("NONE", "greater", 30),
        claim("SAME", "same", 30),
        claim("WRONG", "greater", 10, "pipeline"),
    ]
)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    per_s = PER_S | {WRONG: [900.0] * 5}
    made = build(tmp_path / "run", per_s, claims=CLAIMS, experiment=SIZES, wrong=[WRONG])
    write_json(made.proofs_file, [PROOFS[0].model_dump()])
    return made


def test_the_sentence_says_twofold_and_nothing_of_the_same_or_the_wrong(run: Run) -> None:
    answer = findings(run).run.answer
    assert answer is not None
    assert answer.sentence == (
        "In Java serial is fastest in 1 of 2 combinations of matrix size (30 rows) and users "
        "(10 to 30), 2.00 times as fast as pinned [1.99, 2.01]."
    )
    assert "WRONG" in answer.reasons[1] and "java-pipeline-unbound-low-10u" in answer.reasons[1]


def test_the_picture_has_half_the_same_and_a_wrong_answer(run: Run) -> None:
    figure = findings(run).first
    assert figure is not None
    tiles = {(each["place"], each["technique"]): each["text"] for each in data_of(figure.chart)}
    at_10, at_30 = (
        {name: text for (at, name), text in tiles.items() if at.endswith(users)}
        for users in ("10", "30")
    )
    assert (at_10["serial"], at_10["pinned"], at_10["pipeline"]) == ("best", "0.50", "wrong")
    assert {at_30["serial"].lstrip("≈ "), at_30["pinned"].lstrip("≈ ")} == {"best", "1.00"}


def test_each_claim_has_its_verdict_and_its_ratio(run: Run) -> None:
    known = {each.id: each for each in findings(run).run.claims}
    assert {name: each.verdict for name, each in known.items()} == {
        "TWICE": "reproduced",
        "NEVER": "contradicted",
        "NONE": "no-effect",
        "SAME": "reproduced",
        "WRONG": "not-measured",
    }
    (ratio,) = known["TWICE"].parts
    assert ratio.low is not None and ratio.ratio is not None and ratio.high is not None
    assert ratio.low < 2 < ratio.high
    assert ratio.ratio == pytest.approx(2, rel=0.01)
    assert known["WRONG"].parts[0].ratio is None


def test_page_and_terminal_tell_the_same(run: Run) -> None:
    page = page_of(run)
    shown = " ".join(printed(run).split())
    for text in (part_of(page, "answer"), shown):
        assert "serial is fastest in 1 of 2 combinations" in text
        assert "WRONG" in text
    assert "2 reproduced, 1 contradicted, 1 no effect" in part_of(page, "claims")
    assert "WRONG" in part_of(page, "undecided")
    for name in ("TWICE", "NEVER", "NONE", "SAME"):
        assert f" {name} at " in shown.replace("│", " ")
    assert "1 claim is not decided" in shown
