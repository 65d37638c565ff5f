"""Who comes first in each group, from rows whose order is known."""

from __future__ import annotations

from collections.abc import Sequence

from stated_claims import times
from synthetic_rows import row, with_facts

from restbench.analyse.measures import Row
from restbench.judge.answer import answer
from restbench.judge.leader import Leader, leaders


def cpu(throughputs: Sequence[float]) -> list[float]:
    return [1_000 / value for value in throughputs]


def timed(text: str, throughputs: Sequence[float], flags: Sequence[str] = ()) -> Row:
    return row(text, throughputs, flags, cpu_ms_per_request=cpu(throughputs))


def only(found: list[Leader]) -> Leader:
    (leader,) = found
    return leader


def test_both_services_are_compared_by_their_best() -> None:
    rows = [
        timed("java serial low 10", times(1.0)),
        timed("java pinned low 10", times(0.9)),
        timed("python serial low 10", times(0.5, 0.02)),
        timed("python process-per-request low 10", times(0.4)),
    ]
    leader = only(leaders(rows, "both", "throughput_per_s"))
    assert leader.cells == ("java-serial-unbound-low-10u", "python-serial-unbound-low-10u")
    assert (leader.best.key, leader.text) == ("S", "best")
    rows[2] = row("python serial low 10")
    rows[3] = row("python process-per-request low 10")
    without = only(leaders(rows, "both", "throughput_per_s"))
    assert (without.text, len(without.missing)) == ("only one", 2)


def test_the_cheapest_in_cpu_time_may_be_another() -> None:
    rows = [
        row("java serial low 10", times(1.2), cpu_ms_per_request=times(3.0)),
        row("java pinned low 10", times(1.0), cpu_ms_per_request=times(2.0, 0.01)),
    ]
    found = answer(rows)
    (cheapest,) = found.by_cpu_time
    assert cheapest.best.key == "AF"
    assert cheapest.comparison is not None and cheapest.comparison.estimate is not None
    assert 1.4 < cheapest.comparison.estimate < 1.6, "how many times better, above 1"
    assert "By CPU time per request another technique leads in 1 of 1." in found.sure


def test_the_best_must_be_better_than_every_other_not_only_the_next() -> None:
    # M is far behind on average, but too unsteady to be told from S.
    rows = [
        timed("java serial low 10", times(1.2)),
        timed("java pinned low 10", times(1.0)),
        timed("java thread-pool low 10", times(0.9, 0.8)),
    ]
    leader = only(leaders(rows, "java", "throughput_per_s"))
    assert leader.verdict == "too-imprecise"
    assert [each.key for each in leader.tied] == ["M"]
    assert only(leaders(rows[:2], "java", "throughput_per_s")).verdict == "reproduced"


def test_a_sure_lead_within_the_margin_is_no_best() -> None:
    rows = [timed("java serial low 10", times(1.04)), timed("java pinned low 10", times(1.0))]
    assert only(leaders(rows, "java", "throughput_per_s")).verdict == "smaller-than-margin"


def test_holm_counts_the_groups() -> None:
    shaky = [
        timed("java serial low 10", times(1.2, 0.15)),
        timed("java pinned low 10", times(1.0, 0.0)),
    ]
    assert only(leaders(shaky, "java", "throughput_per_s")).verdict == "reproduced"
    noise = [
        timed(f"java {name} low {users}", times(1.0, spread))
        for users in range(11, 20)
        for name, spread in (("serial", 0.2), ("pinned", 0.0))
    ]
    assert leaders([*shaky, *noise], "java", "throughput_per_s")[0].verdict != "reproduced"
    alone = [each for each in noise if each.cell.strategy == "serial"]
    assert leaders([*shaky, *alone], "java", "throughput_per_s")[0].verdict == "reproduced"


def test_cells_with_warnings_and_missing_ones_are_said() -> None:
    rows = [
        with_facts(timed("java serial low 10", times(1.2), ["service-restarted"]), steal_pct=5.0),
        timed("java pinned low 10", times(1.0)),
        timed("java thread-pool low 10", times(1.0), ["wrong-answers"]),
        row("java pipeline low 10"),
    ]
    found = answer(rows)
    leader = found.by_throughput[0]
    assert leader.warned == ("java-serial-unbound-low-10u: steal ≤ 5.3 %",)
    assert leader.missing == ("java-thread-pool-unbound-low-10u", "java-pipeline-unbound-low-10u")


def test_bound_services_and_web_servers_are_not_mixed_in() -> None:
    rows = [
        timed("python serial low 10 core0", times(9.0)),
        timed("python serial low 10", times(1.2)),
        timed("python process-per-request low 10", times(1.0)),
    ]
    leader = only(leaders(rows, "python", "throughput_per_s"))
    assert leader.best.placement == "unbound"
    assert leader.cells == (
        "python-serial-unbound-low-10u",
        "python-process-per-request-unbound-low-10u",
    )
    assert leaders(rows, "both", "throughput_per_s") == []
