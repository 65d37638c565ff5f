"""A profile whose strategies take turns: which rule holds for a cell, and what stands together."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_experiment import MINIMAL, loaded, thesis

from restbench.experiment.cell import Cell
from restbench.experiment.experiment import Experiment
from restbench.experiment.plan import plan
from restbench.experiment.selection import Where
from restbench.failures import BadConfiguration

TURNS = """
turns = [
  { users = 1, turn_s = 0.2, measured_s = 4 },
  { turn_s = 0.5, measured_s = 6 },
]
"""


def in_turns(tmp_path: Path, turns: str = TURNS, client: str = "streaming") -> Experiment:
    text = MINIMAL.replace("seed = 3", f'seed = 3\nclient = "{client}"')
    return loaded(
        tmp_path, text.replace("enough_completions = 10\n", f"enough_completions = 10{turns}")
    )


def test_the_first_rule_that_selects_a_cell_says_how_it_takes_turns(tmp_path: Path) -> None:
    profile = in_turns(tmp_path).profile("quick")
    cell = Cell(service="java", strategy="serial", complexity="low", users=1)
    found = [profile.turns_of(cell.model_copy(update={"users": users})) for users in (1, 2)]
    assert [each.turn_s for each in found if each] == [0.2, 0.5]
    assert found[0] is not None
    assert found[0].seconds == pytest.approx(4 / 0.8)
    assert thesis().profile("quick").turns_of(cell) is None


def test_cells_that_take_turns_stand_together_in_the_plan(tmp_path: Path) -> None:
    def users(experiment: Experiment) -> set[tuple[int, ...]]:
        orders = set()
        for seed in range(20):
            other = experiment.model_copy(update={"seed": seed})
            planned = plan(other, other.profile("quick"), Where())
            orders.add(tuple(each.cell.users for each in planned))
        return orders

    assert users(in_turns(tmp_path)) == {(1, 1, 2, 2), (2, 2, 1, 1)}
    assert (1, 2, 1, 2) in users(loaded(tmp_path, MINIMAL))


@pytest.mark.parametrize(
    ("turns", "client", "told"),
    [
        (TURNS, "http-sampler", 'profiles.quick.turns: only client = "streaming" takes turns'),
        (
            "\nturns = [{ users = 1, turn_s = 0.2, measured_s = 4 }]\n",
            "streaming",
            "profiles.quick.turns: none of them selects java-serial-unbound-low-2u",
        ),
    ],
)
def test_turns_that_cannot_be_taken_are_refused(
    tmp_path: Path, turns: str, client: str, told: str
) -> None:
    with pytest.raises(BadConfiguration, match=told):
        in_turns(tmp_path, turns, client)
