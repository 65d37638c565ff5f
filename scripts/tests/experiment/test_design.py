from __future__ import annotations

import math
import re
import tomllib

import pytest
from pydantic import ValidationError
from trial_run import EXPERIMENT

from restbench import ROOT
from restbench.experiment import experiment, statistics, toml_file
from restbench.experiment.design import Design
from restbench.experiment.experiment import Experiment

STUDY: dict[str, object] = {
    "fixed": {"service": "java"},
    "design": "2^k r",
    "factors": {"instances": [1, 2], "pool_threads": [20, 60]},
}


A_LEVEL = "a level is one finite number, a text, true or false"


def fraction(count: int, *generators: str) -> Design:
    factors = {f"f{letter}": [0, 1] for letter in "ABCDEFGH"[:count]}
    return Design.model_validate(
        {"design": "2^(k-p) r", "factors": factors, "generators": list(generators)}
    )


def aliases(design: Design) -> dict[str, tuple[str, ...]]:
    return {column.words[0]: column.words[1:] for column in design.columns()}


def test_cells_stand_in_yates_order_with_the_fixed_levels() -> None:
    assert Design.model_validate(STUDY).cells() == [
        {"service": "java", "instances": 1, "pool_threads": 20},
        {"service": "java", "instances": 2, "pool_threads": 20},
        {"service": "java", "instances": 1, "pool_threads": 60},
        {"service": "java", "instances": 2, "pool_threads": 60},
    ]


def test_a_column_of_the_sign_table_is_the_product_of_its_factors_columns() -> None:
    assert [(each.words, each.signs) for each in Design.model_validate(STUDY).columns()] == [
        (("A",), (-1, 1, -1, 1)),
        (("B",), (-1, -1, 1, 1)),
        (("AB",), (1, -1, -1, 1)),
    ]


def test_a_response_may_be_what_only_a_driver_measures() -> None:
    table = STUDY | {"response": "database_ms"}
    assert Design.model_validate(table).response == "database_ms"


def test_levels_keep_their_types() -> None:
    table = STUDY | {"factors": {"settings.X": [False, True], "users": [1, 60], "a": [0.5, "b"]}}
    assert Design.model_validate(table).cells()[-1] == {
        "service": "java",
        "settings.X": True,
        "users": 60,
        "a": "b",
    }


def test_cores_are_those_of_the_run() -> None:
    text = (ROOT / "scripts" / "experiments" / "factorial.toml").read_text("utf-8")
    text = text.replace("users = [10, 60]", 'users = ["cores+1", 60]')
    found = experiment.parse(text, ROOT / "mine.toml", range(3)).corners()
    assert {cell.users for cell in found} == {4, 60}


def test_the_example_of_the_documents_is_an_experiment_with_a_setting_as_a_factor() -> None:
    page = ROOT / "docs" / "factorial.md"
    (text,) = re.findall(r"^```toml\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    corners = experiment.parse(text, page).corners()
    assert [(cell.settings, cell.users) for cell in corners] == [
        (f"RESTBENCH_PROCESSES={processes}", users) for users in (2, 8) for processes in (1, 2)
    ]


@pytest.mark.parametrize(
    ("count", "generators", "relation", "resolution"),
    [
        (4, ["D=ABC"], ["ABCD"], 4),
        (4, ["D=AB"], ["ABD"], 3),
        (5, ["E=ABCD"], ["ABCDE"], 5),
        (5, ["D=AB", "E=AC"], ["ABD", "ACE", "BCDE"], 3),
    ],
)
def test_a_fraction_has_its_defining_relation_and_resolution(
    count: int, generators: list[str], relation: list[str], resolution: int
) -> None:
    design = fraction(count, *generators)
    assert list(design.defining_relation) == relation
    assert design.resolution == resolution


def test_a_full_design_has_no_aliases() -> None:
    design = Design.model_validate(STUDY)
    assert (design.defining_relation, design.resolution) == ((), None)
    assert aliases(design) == {"A": (), "B": (), "AB": ()}


def test_an_effects_aliases_are_its_products_with_the_defining_relation() -> None:
    found = aliases(fraction(4, "D=ABC"))
    assert (found["A"], found["AB"]) == (("BCD",), ("CD",))
    assert aliases(fraction(4, "D=AB"))["A"] == ("BD",)
    assert aliases(fraction(5, "D=AB", "E=AC"))["A"] == ("BD", "CE", "ABCDE")


def test_seven_factors_in_eight_cells_have_sixteen_words() -> None:
    design = fraction(7, "D=AB", "E=AC", "F=BC", "G=ABC")
    assert design.cell_count == 8
    assert len(design.defining_relation) + 1 == 16
    assert aliases(design)["A"][:5] == ("BD", "CE", "FG", "BCG", "BEF")
    levels = ([str(cell[f"f{letter}"]) for letter in "ABCDEFG"] for cell in design.cells())
    assert [*map("".join, levels)] == [
        "0001110",
        "1000011",
        "0100101",
        "1101000",
        "0011001",
        "1010100",
        "0110010",
        "1111111",
    ]


def test_the_plan_tells_in_names_what_is_estimated_together() -> None:
    table = {
        "design": "2^(k-p) r",
        "factors": {
            "service": ["java", "python"],
            "technique": ["statements", "skip-locked"],
            "users": [1, 60],
            "size": [200, 8000],
        },
    }
    assert Design.model_validate(table | {"generators": ["D=ABC"]}).plan() == [
        "2^(k-p) r: 4 factors, 8 cells a block",
        "A service: java → python",
        "B technique: statements → skip-locked",
        "C users: 1 → 60",
        "D size: 200 → 8000, by D=ABC",
        "I = service × technique × users × size (resolution 4)",
        "estimated together: service + technique × users × size",
        "estimated together: technique + service × users × size",
        "estimated together: service × technique + users × size",
        "estimated together: users + service × technique × size",
        "estimated together: service × users + technique × size",
        "estimated together: service × size + technique × users",
        "estimated together: size + service × technique × users",
    ]
    assert "warning: `technique` cannot be distinguished from users × size" in (
        Design.model_validate(table | {"generators": ["D=BC"]}).plan()
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"design": "3^k"}, r"\.design: Input should be '2\^k r' or '2\^\(k-p\) r'"),
        ({"model": "log"}, r"\.model: .*'auto', 'additive' or 'multiplicative'"),
        ({"blocks": "perhaps"}, r"\.blocks: .*boolean"),
        ({"reponse": "mean_ms"}, r"\.reponse: unknown key; allowed here are design, factors, gen"),
        ({"response": "men_ms"}, r"\.response: 'men_ms' is no column .*; allowed are thr"),
        ({"factors": {"users": [1, 2]}}, r"\.factors: 2 to 15 factors are allowed, there are 1"),
        ({"factors": {"a": [1, 2, 3], "b": [1, 2]}}, r"\.factors: a: two different levels .*low"),
        ({"factors": {"a": [1, 1], "b": [1, 2]}}, r"\.factors: a: two different levels"),
        ({"factors": {"a": [[1, 2], 3], "b": [1, 2]}}, rf"\.factors\.a\.0: {A_LEVEL}$"),
        ({"factors": {"a": [1, {"b": 2}], "b": [1, 2]}}, rf"\.factors\.a\.1: {A_LEVEL}$"),
        ({"factors": {"a": [1, math.inf], "b": [1, 2]}}, rf"\.factors\.a\.1: {A_LEVEL} .*inf"),
        ({"fixed": {"users": [1, 2]}}, rf"\.fixed\.users: {A_LEVEL}$"),
        ({"factors": {f"x{n}": [1, 2] for n in range(9)}}, r"512 cells, at most 256 .*fewer"),
        ({"fixed": {"instances": 1}}, r"fixed\.instances: is one of the factors"),
        ({"generators": ["B=A"]}, r'generators: need design = "2\^\(k-p\) r"'),
        ({"design": "2^(k-p) r"}, r"generators: .* needs one or more, such as \[\"D=ABC\"\]"),
    ],
)
def test_bad_input_is_told_with_its_key_and_what_is_allowed(
    change: dict[str, object], message: str
) -> None:
    table = tomllib.loads(EXPERIMENT) | {"factorial": STUDY | change}
    with pytest.raises(ValidationError) as refused:
        Experiment.model_validate(table)
    assert re.search(
        f"^factorial.*{message}", toml_file.first_problem(refused.value, Experiment, table)
    )


@pytest.mark.parametrize(
    ("count", "generators", "message"),
    [
        (4, ["D=-ABC"], "'D=-ABC': a letter of ABCD = a product of others, such as D=ABC"),
        (4, ["D"], "'D': a letter of ABCD"),
        (4, [""], "'': a letter of ABCD"),
        (4, ["H=AB"], "'H=AB': a letter of ABCD"),
        (4, ["D=AAB"], "'D=AAB': a letter of ABCD"),
        (4, ["D=BD"], "'D=BD': right of = only letters without a generator may stand: ABC"),
        (5, ["D=AB", "E=AD"], "'E=AD': right of = only letters without a generator may stand: ABC"),
        (5, ["D=AB", "D=AC"], "'D=AB': one generator per letter"),
        (4, ["D=A"], r"`fA` and `fD` share a column \(A = D\)"),
        (5, ["D=AB", "E=AB"], r"`fD` and `fE` share a column \(D = E\)"),
    ],
)
def test_a_generator_that_cannot_be_used_is_refused(
    count: int, generators: list[str], message: str
) -> None:
    with pytest.raises(ValidationError, match=message):
        fraction(count, *generators)


def test_holms_adjusted_p_values_never_fall() -> None:
    assert statistics.holm_adjusted([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert statistics.holm_adjusted([0.9, 0.8]) == [1, 1]
    assert statistics.holm_adjusted([]) == []
