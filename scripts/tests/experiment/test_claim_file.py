"""The claims file: what it may say, and how it is refused."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from fixture_run import cell

from restbench.experiment import claim_file, experiment, toml_file
from restbench.experiment.cell import STRATEGIES
from restbench.experiment.claim_file import Part
from restbench.failures import BadConfiguration
from restbench.store import store

THESIS = store.experiment_file("claims/thesis")
SERIAL = {"service": "java", "strategy": "serial", "complexity": "low"}

SMALL = """
title = "A claim"
margin = 0.05

[[claims]]
id = "J9"
text = "60 users are slower than 10"
reading = "as it says"

[[claims.parts]]
metric = "mean_ms"
expect = "greater"
cells = { service = "java", strategy = "serial", complexity = "low" }
numerator = { users = 60 }
denominator = { users = 10 }
"""


def part(**given: object) -> Part:
    return Part.model_validate({"metric": "throughput_per_s", "expect": "less"} | given)


def sides(found: Part) -> list[tuple[str, str]]:
    return [
        (question.numerator.candidates[0].id, question.denominator.candidates[0].id)
        for question in found.questions()
    ]


def test_every_claim_of_the_study_is_there() -> None:
    ids = [claim.id for claim in claim_file.load(THESIS).claims]
    wanted = [*(f"J{n}" for n in range(1, 7)), *(f"P{n}" for n in range(1, 10)), "F1", "F2"]
    assert [each for each in ids if not each.endswith("-published")] == wanted
    assert [each for each in ids if each.endswith("-published")] == ["J1-published", "J3-published"]


@pytest.mark.parametrize(
    ("file", "id"), [("workers", "G2"), ("workers", "G3"), ("instances", "G5-K1")]
)
def test_the_margin_of_a_claim_of_095_is_095(file: str, id: str) -> None:
    """A margin of 0.05 has 0.952 as its lower limit."""
    claims = {each.id: each for each in claim_file.load(THESIS.parent / f"{file}.toml").claims}
    for each in claims[id].parts:
        assert 1 / (1 + (each.margin or 0.05)) == pytest.approx(0.95, abs=1e-4)


def test_no_claim_needs_a_legend_of_the_studys_letters() -> None:
    letters = {key for keys in STRATEGIES.values() for key in keys.values() if key} - {"F1"}
    assert len(letters) == 7
    for path in THESIS.parent.glob("*.toml"):
        for claim in claim_file.load(path).claims:
            words = {*re.findall(r"\w+", f"{claim.text} {claim.reading}")}
            assert not words & letters, claim.id


def test_the_claim_on_frameworks_says_what_its_pictures_leave_open() -> None:
    (claim,) = claim_file.load(THESIS.with_name("frameworks.toml")).claims
    open_there = claim.reading.partition("Open or wrong there:")[2]
    for each in ("one run a cell, no interval", "names FastAPI and Japronto, Flask", "the fourth"):
        assert each in open_there


def test_only_the_two_published_ratios_stand_in_the_file() -> None:
    claims = claim_file.load(THESIS).claims
    values = {(claim.id, part.study_value) for claim in claims for part in claim.parts}
    assert {each for each in values if each[1]} == {("P6", 2.17), ("P7", 0.54)}
    assert round(37.47 / 17.27, 2) == 2.17
    assert round(9.37 / 17.27, 2) == 0.54


@pytest.mark.parametrize("name", sorted(path.stem for path in THESIS.parent.glob("*.toml")))
def test_claims_name_cells_of_their_experiment(name: str) -> None:
    definition = experiment.load(store.experiment_file(name))
    assert definition.claims == f"claims/{name}.toml"
    claims = claim_file.load(THESIS.with_name(f"{name}.toml"))
    named = {each for claim in claims.claims for each in claim.cells}
    assert {each.id for each in named - {*definition.all_cells()}} == set()
    claim_file.check_complexities(claims, definition.levels, definition.claims)


def test_steps_compare_each_level_with_the_one_before() -> None:
    found = part(cells=SERIAL, steps={"users": [10, 30, 60]})
    assert sides(found) == [
        ("java-serial-unbound-low-30u", "java-serial-unbound-low-10u"),
        ("java-serial-unbound-low-60u", "java-serial-unbound-low-30u"),
    ]


def test_each_multiplies_the_questions() -> None:
    found = part(
        cells={"service": "python", "complexity": "low"},
        numerator={"placement": "core0"},
        each={"strategy": ["serial", "process-per-element"], "users": [10, 30]},
    )
    assert sides(found)[1] == ("python-serial-core0-low-30u", "python-serial-unbound-low-30u")
    assert len(sides(found)) == 4


def test_what_a_side_says_is_the_same_in_each_question() -> None:
    found = part(
        cells={"service": "java", "complexity": "low"},
        denominator={"strategy": "serial", "users": 1},
        each={"strategy": ["pinned", "thread-pool"], "users": [10, 30]},
    )
    assert {denominator for _, denominator in sides(found)} == {"java-serial-unbound-low-1u"}
    assert [numerator for numerator, _ in sides(found)][::3] == [
        "java-pinned-unbound-low-10u",
        "java-thread-pool-unbound-low-30u",
    ]


def test_a_side_can_be_a_difference_a_quotient_or_the_best_of_several() -> None:
    other = {"complexity": "medium"}
    (minus,) = part(cells=SERIAL | {"users": 10}, minus=other).questions()
    assert minus.numerator.minus == cell("java serial medium 10")
    (per,) = part(cells=SERIAL | {"users": 10}, per={"strategy": "pinned"}).questions()
    assert per.denominator.per == cell("java pinned low 10")
    levels = {"strategy": ["serial", "pinned"]}
    (best,) = part(cells=SERIAL | {"users": 10}, numerator_best=levels).questions()
    assert best.numerator.candidates == (cell("java serial low 10"), cell("java pinned low 10"))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("numerator", "numerater", "claims.J9.parts.0.numerater: unknown key"),
        ("users = 60", "user = 60", "claims.J9.parts.0.numerator.user: unknown key"),
        ("users = 60", "", "claims.J9.parts.0: a side names no users, but must be one cell"),
        ('"java"', '"go"', "claims.J9.parts.0.cells.service.0: Input should be 'java' or 'python'"),
        ('"serial"', '"pined"', "claims.J9.parts.0: strategy: 'pined' is not one of the java serv"),
        ('"greater"', '"more"', "claims.J9.parts.0.expect: Input should be 'greater'"),
        ('"mean_ms"', '"p50_ms"', "claims.J9.parts.0.metric: Input should be"),
        ("margin = 0.05", "margin = 5", "margin: Input should be less than or equal to 1"),
        ('text = "60', 'experiment = "x"\ntext = "60', "claims.J9: needs exactly one of parts"),
        ("users = 10 }", "users = 10 }\ndecides = false", "claims.J9: needs a part that decides"),
        (
            "users = 10 }",
            "users = 10 }\nsteps = { users = 10 }",
            "steps: needs one factor with two",
        ),
        ("title =", "title", "mine: not TOML"),
    ],
)
def test_a_wrong_file_is_refused_by_claim_and_key(old: str, new: str, expected: str) -> None:
    with pytest.raises(BadConfiguration) as refused:
        toml_file.parse(SMALL.replace(old, new, 1).encode(), claim_file.Claims, "mine")
    assert str(refused.value).startswith("mine: ")
    assert expected in str(refused.value)


def test_an_id_that_is_there_twice_is_refused() -> None:
    twice = SMALL + SMALL[SMALL.index("[[claims]]") :]
    assert len(tomllib.loads(twice)["claims"]) == 2
    with pytest.raises(BadConfiguration, match="id 'J9' appears twice"):
        toml_file.parse(twice.encode(), claim_file.Claims, "mine")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadConfiguration, match=r"none\.toml: cannot be read"):
        claim_file.load(tmp_path / "none.toml")


def test_a_complexity_that_the_experiment_does_not_define_is_refused() -> None:
    claims = toml_file.parse(SMALL.encode(), claim_file.Claims, "mine")
    with pytest.raises(BadConfiguration, match=r"claims\.J9: complexity: 'low' is not one of"):
        claim_file.check_complexities(claims, ["small", "large"], "mine")
