"""What is kept of a trial (method, rules 3 to 5)."""

from __future__ import annotations

import numpy as np
import pytest
from fixture_run import cell

from restbench.drive.generator import CORRECT, ERROR, RECORD, WRONG, LoadResult, Mark
from restbench.schedule.pace import PlannedTrial
from restbench.schedule.reduction import reduced

PLANNED = PlannedTrial(3, cell("java serial low 10"))
#: Requests of 100 ms each, by the millisecond in which each begins; 500 to 2 500 ms are kept.
REQUESTS = (
    (0, WRONG),
    (350, CORRECT),
    (450, CORRECT),
    (1_000, ERROR),
    (2_350, CORRECT),
    (2_450, CORRECT),
    (2_460, CORRECT),
)


def mark(at_ms: int, service_ms: int) -> Mark:
    return Mark(1_000_000 * at_ms, 1_795_000_000_000 + at_ms, service_ms, 0, 0, 0)


def test_rule_4_what_ends_while_it_is_kept_counts_and_a_wrong_answer_whenever_it_came() -> None:
    records = np.zeros(len(REQUESTS), RECORD)
    records["start_us"] = [1_000 * begun_ms for begun_ms, _ in REQUESTS]
    records["outcome"] = [outcome for _, outcome in REQUESTS]
    records["elapsed_us"] = 100_000
    sent = LoadResult(mark(0, 100), mark(500, 200), mark(2_500, 600), ("low",), "", records)
    found = reduced(7, PLANNED, sent, (1,), (50.0, 10.0))
    assert (found.block, found.round, found.cell) == (7, 3, "java-serial-unbound-low-10u")
    assert (found.completions, found.errors) == (2, 1), "of 450 and 2 350 ms; of 1 000 ms"
    assert found.wrong == 1, "in what is left out before, and void all the same (rule 5)"
    assert found.seconds == 2.0
    assert found.service_cpu_ms == 400.0
    # Of the service's 500 ms in all 400 are kept: so much of what compilers and collectors took.
    assert (found.compilers_ms, found.collector_ms) == pytest.approx((40.0, 8.0))
