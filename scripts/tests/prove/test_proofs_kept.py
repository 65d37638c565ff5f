"""However often a strategy was looked at, a run has one proof of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from restbench.experiment.records import Proof
from restbench.store.store import Run


def proof(*, does: bool | None, strategy: str = "serial") -> Proof:
    looked = {"strategy": strategy, "placement": "unbound", "claim": "", "evidence": ""}
    return Proof(service="java", does=does, **looked)


@pytest.mark.parametrize(
    ("looks", "kept"),
    [
        ([True, True], [True]),
        ([True, False], [False]),
        ([False, True], [False]),
        ([None, True], [True]),
    ],
)
def test_of_several_looks_the_one_that_denies_it_is_kept(
    tmp_path: Path, looks: list[bool | None], kept: list[bool]
) -> None:
    run = Run(tmp_path)
    for does in looks:
        run.keep_proof(proof(does=does))
    assert [each.does for each in run.proofs()] == kept


def test_every_strategy_has_its_own(tmp_path: Path) -> None:
    run = Run(tmp_path)
    for strategy in ("serial", "pinned", "serial"):
        run.keep_proof(proof(does=True, strategy=strategy))
    assert [each.strategy for each in run.proofs()] == ["serial", "pinned"]
