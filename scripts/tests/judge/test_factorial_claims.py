"""M6, which compares two effects: from the throughputs of four corners, and from the kept run."""

from __future__ import annotations

from dataclasses import replace

import pytest
from synthetic_rows import around, row

from restbench.analyse import exported as entries
from restbench.experiment import claim_file, experiment
from restbench.judge import claims
from restbench.store import exported
from restbench.store.store import EXPERIMENTS, RESULTS

M6 = claim_file.load(EXPERIMENTS / "claims" / "messages-factorial.toml")
CORNERS = experiment.load(EXPERIMENTS / "messages-factorial.toml").corners()


@pytest.mark.parametrize(
    ("throughputs", "spread", "verdict"),
    [
        ((1000, 951, 802, 763), 0.01, "reproduced"),
        ((1000, 1051, 802, 853), 0.01, "reproduced"),
        ((1000, 701, 962, 683), 0.01, "contradicted"),
        ((1000, 851, 852, 723), 0.01, "no-effect"),
        ((1000, 951, 802, 763), 0.3, "too-imprecise"),
        ((1000, 851, 852, 723), 0.3, "too-imprecise"),
    ],
)
def test_of_two_effects_the_larger_is_named_where_their_intervals_tell_them_apart(
    throughputs: tuple[float, ...], spread: float, verdict: str
) -> None:
    """Throughputs of 1 and 2 instances of 20 threads, then of 60."""
    rows = [
        replace(row("java serial low 10", around(value, spread)), cell=cell)
        for cell, value in zip(CORNERS, throughputs, strict=True)
    ]
    (found,) = claims.decide(M6, rows, ())
    assert found.verdict == verdict
    assert {*found.cells} == {cell.id for cell in CORNERS}


def test_the_kept_run_which_is_older_than_the_claims_file_contradicts_it() -> None:
    run = exported.read(RESULTS / "messages-factorial" / "run.json")
    (found,) = claims.decide(M6, entries.rows_of(run), run.proofs)
    assert found.verdict == "contradicted"
