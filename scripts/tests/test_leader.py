"""The answer in words and as a table, from rows whose order is known."""

from __future__ import annotations

from collections.abc import Sequence

from synthetic_rows import row, with_facts

from restbench.analyse.measures import Row
from restbench.judge.leader import Answer, Leader, answer, leaders

X = "\N{MULTIPLICATION SIGN}"
BASE = [100.0, 102.0, 98.0, 101.0, 99.0]


def times(factor: float, spread: float = 0.004) -> list[float]:
    steps = (1, -1, 0.5, -0.5, 0)
    return [value * factor * (1 + spread * step) for value, step in zip(BASE, steps, strict=True)]


def cpu(throughputs: Sequence[float]) -> list[float]:
    return [1_000 / value for value in throughputs]


def timed(text: str, throughputs: Sequence[float], flags: Sequence[str] = ()) -> Row:
    return row(text, throughputs, flags, cpu_ms_per_request=cpu(throughputs))


def full() -> list[Row]:
    """S leads at low with 10 and 30 users, nobody at medium; PR leads in Python, S over both."""
    return [
        timed("java serial low 10", times(2.0)),
        timed("java pinned low 10", times(1.0, 0.03)),
        timed("java serial low 30", times(1.5)),
        timed("java pinned low 30", times(1.0, 0.006)),
        timed("java serial medium 10", times(0.50, 0.02)),
        timed("java pinned medium 10", times(0.51, 0.03)),
        timed("python process-per-request low 10", times(0.6)),
        timed("python serial low 10", times(0.3, 0.03)),
    ]


def only(found: list[Leader]) -> Leader:
    (leader,) = found
    return leader


def test_the_first_sentence_says_what_is_best_where_and_by_how_much() -> None:
    told = answer(full()).sentences[0]
    assert told == (
        f"In Java, S is best at low with 10 and 30 users (1.50 to 2.00{X} the next); "
        "AF and S are within 5% at medium with 10 users. "
        f"In Python, PR is best at low with 10 users (2.00{X} PS [1.95, 2.05]). "
        f"Over both services, Java is best at low with 10 users (3.33{X} PR [3.33, 3.33])."
    )


def test_the_second_sentence_says_how_sure_that_is() -> None:
    told = answer(full()).sentences[1]
    assert told.startswith(
        "How sure: 95 % t intervals over 5 blocks, Holm over the groups of a ser"
    )
    assert "3 of 4 groups have a best that is shown" in told
    assert "another technique leads in 0 of 4 groups" in told
    assert "cells with warnings: 0" in told


def test_places_are_said_as_short_as_they_are_true() -> None:
    rows = [
        timed(f"java {name} {complexity} {users}", [speed])
        for complexity, users, lead in (
            ("low", 10, "serial"),
            ("low", 30, "serial"),
            ("medium", 10, "serial"),
            ("medium", 30, "serial"),
            ("high", 10, "serial"),
            ("high", 30, "pinned"),
        )
        for name, speed in (("serial", 3.0), ("pinned", 9.0 if lead == "pinned" else 1.0))
    ]
    assert answer(rows).sentences[0] == (
        "In Java, S came first at low and medium with 10 and 30 users and at high with 10 users "
        f"(3.00 to 3.00{X} the next); AF came first at high with 30 users (3.00{X} S)."
    )


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


def test_there_are_two_sentences_even_of_nothing() -> None:
    empty = answer([])
    alone = answer([timed("java serial low 10", times(1.0))])
    for found in (empty, alone):
        assert isinstance(found, Answer)
        assert found.sentences == (
            "No two techniques were measured beside each other, so none is best.",
            "There is nothing to be sure of.",
        )
    assert [each.text for each in alone.by_throughput] == ["only one"]


def test_one_user_is_not_several() -> None:
    rows = [timed("java serial low 1", [1.0]), timed("java pinned low 1", [9.0])]
    assert answer(rows).sentences[0] == f"In Java, AF came first at low with 1 user (9.00{X} S)."


def test_one_run_is_an_order_and_no_verdict() -> None:
    rows = [timed("java serial low 10", [900.0]), timed("java pinned low 10", [100.0])]
    first, second = answer(rows).sentences
    assert first == f"In Java, S came first at low with 10 users (9.00{X} AF)."
    assert "one block, no interval" in second
    assert "best" not in first


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
    assert "another technique leads in 1 of 1 groups" in found.sentences[1]


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
    assert "AF and S are within 5%" in answer(rows).sentences[0]


def test_what_is_not_known_well_enough_is_no_tie() -> None:
    rows = [timed("java serial low 10", times(1.1, 0.3)), timed("java pinned low 10", times(1.0))]
    assert "none is shown best (AF and S)" in answer(rows).sentences[0]


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
    assert "cells with warnings: 1" in found.sentences[1]
    assert "cells without a number: 2 (java-thread-pool-unbound-low-10u and" in found.sentences[1]


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
