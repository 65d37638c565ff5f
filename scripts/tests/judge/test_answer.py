"""Who comes first in each group, and the answer in words, from rows whose order is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fixture_run import PROOFS
from stated_claims import times
from synthetic_rows import row, with_facts

from restbench.analyse.measures import Row
from restbench.experiment.cell import Shape
from restbench.experiment.level import Logs
from restbench.experiment.records import CheckEntry
from restbench.judge import trust
from restbench.judge.answer import answer
from restbench.judge.leader import Leader, leaders
from restbench.store.quoted import AgainEntry, CalibrationEntry

SIZES = {"low": 30, "medium": 1000, "high": 2000}


def timed(text: str, throughputs: Sequence[float], flags: Sequence[str] = ()) -> Row:
    made = row(text, throughputs, flags, cpu_ms_per_request=[1_000 / each for each in throughputs])
    shape = Shape(rows=SIZES[made.cell.complexity], inner=20, columns=20)
    return replace(made, shape=shape)


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


def test_a_cheapest_that_is_not_shown_is_no_other_order_and_not_the_same() -> None:
    rows = [
        row("java serial low 10", times(1.2), cpu_ms_per_request=times(2.0, 0.8)),
        row("java pinned low 10", times(1.0), cpu_ms_per_request=times(1.9, 0.8)[::-1]),
    ]
    assert answer(rows).sure.endswith("no other technique is shown to lead.")


def test_techniques_that_share_no_block_have_an_answer_that_says_so() -> None:
    """A run of two slow cells had none, nor a page."""
    one, two = timed("java serial low 10", [1.0]), timed("java pinned low 10", [1.0])
    (its,) = two.measurements
    rows = [one, replace(two, measurements=(its.model_copy(update={"block": 2}),))]
    assert answer(rows).sure.startswith("No block measured two techniques")


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
    assert leader.text == "too imprecise (more than ± 100 %)", "that of M, not of the next"
    assert only(leaders(rows[:2], "java", "throughput_per_s")).verdict == "reproduced"


def test_a_sure_lead_within_the_margin_is_no_best() -> None:
    rows = [timed("java serial low 10", times(1.04)), timed("java pinned low 10", times(1.0))]
    assert only(leaders(rows, "java", "throughput_per_s")).verdict == "smaller-than-margin"


def test_rule_6_a_lead_needs_three_blocks_and_the_look_before() -> None:
    steady = [100.0] * 6
    led = [100.0, 130.0, 110.0, 130.0, 120.0, 120.0]

    def after(blocks: int, serial: Sequence[float] = led) -> Leader:
        rows = [
            timed("java serial low 10", serial[:blocks]),
            timed("java pinned low 10", steady[:blocks]),
        ]
        return only(leaders(rows, "java", "throughput_per_s"))

    assert (after(5).verdict, after(6).verdict) == ("too-imprecise", "reproduced")
    assert after(5).text.endswith("%, to be confirmed by one more block)")
    two = after(2, [130.0, 130.1])
    assert not two.is_shown
    assert two.text == "too imprecise (2 blocks, a verdict needs 3)"


def test_rule_7_a_lead_that_the_load_generator_caused_is_no_best() -> None:
    """1.10 as seen is 1.00 by the service, and 1.02 is 0.82."""

    def of(factor: float, serial: float, pinned: float) -> list[Row]:
        return [
            with_facts(timed("java serial low 10", times(factor)), generator_share=serial),
            with_facts(timed("java pinned low 10", times(1.0)), generator_share=pinned),
        ]

    led = only(leaders(of(1.10, 0.45, 0.50), "java", "throughput_per_s"))
    assert (led.verdict, led.text, led.is_shown) == ("not-measurable", "not measurable", False)
    (why,) = led.unmeasurable.values()
    assert "the load generator took up to 50 % of the CPU time" in why
    assert answer(of(1.10, 0.45, 0.50)).sentence == "In Java no technique is shown to be fastest."
    tied = only(leaders(of(1.02, 0.38, 0.50), "java", "throughput_per_s"))
    assert (tied.verdict, tied.is_tie) == ("not-measurable", False)
    assert only(leaders(of(1.246, 0.532, 0.466), "java", "throughput_per_s")).is_shown
    assert not only(leaders(of(1.10, 0.45, 0.50), "java", "cpu_ms_per_request")).unmeasurable


def test_holm_counts_the_groups() -> None:
    shaky = [
        timed("java serial low 10", times(1.2, 0.11)),
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


def full() -> list[Row]:
    """serial leads at 30 rows, nothing at 1000; in Python process-per-request, Java over both."""
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


def test_one_sentence_says_what_is_best_how_often_and_by_how_much() -> None:
    assert answer(full()).sentence == (
        "In Java serial is fastest in 2 of 3 combinations of matrix size (30 to 1000 rows) and "
        "users (10 to 30), 1.50 to 2.00 times as fast as the next; in Python "
        "process-per-request is fastest, 2.00 times as fast as serial [1.95, 2.05]; Java answers "
        "3.33 times as many requests as Python."
    )


def test_the_first_count_says_what_is_counted_whichever_service_it_is_of() -> None:
    """After a single combination of Java those of Python were `2 of 2` of nothing."""
    factors = {"serial": 0.5, "process-per-request": 0.3}
    rows = [timed("java serial low 10", times(2.0)), timed("java pinned low 10", times(1.0))]
    for users in (10, 30):
        rows += [timed(f"python {name} low {users}", times(of)) for name, of in factors.items()]
    counted = "all 2 combinations of matrix size (30 rows) and users (10 to 30)"
    assert f"in Python serial is fastest in {counted}" in answer(rows).sentence


def test_how_sure_that_is_is_said_in_words() -> None:
    assert answer(full()).sure == (
        "A fastest technique is shown in 3 of 4 combinations, with 95 % confidence over 5 blocks "
        "of fresh services; differences under 5 % do not count. By CPU time per request the same "
        "techniques come first."
    )


def test_the_blocks_are_those_of_the_combinations_that_are_shown() -> None:
    alone = [timed("java serial high 10", [9.0]), timed("java pinned high 10", [1.0])]
    assert answer([*full(), *alone]).sure.startswith(
        "A fastest technique is shown in 3 of 5 combinations, with 95 % confidence over 5 blocks of"
    )
    assert answer([*full()[4:6], *alone]).sure.startswith(
        "A fastest technique is shown in none of 2 combinations, over 1 to 5 blocks of fresh"
    )


def test_of_nothing_it_says_that() -> None:
    for rows in ([], [timed("java serial low 10", times(1.0))]):
        found = answer(rows)
        assert found.sentence == (
            "No two techniques were measured under the same load, so none is best."
        )
        assert found.sure == "There is no comparison to judge."


def test_one_block_is_an_order_and_no_verdict() -> None:
    rows = [timed("java serial low 1", [900.0]), timed("java pinned low 1", [100.0])]
    found = answer(rows)
    assert found.sentence == "In Java serial came first, 9.00 times as fast as pinned."
    said = "One block gives no interval: this is only an order, not a verdict."
    assert found.sure.startswith(said)


def test_a_group_of_one_block_among_others_is_not_shown() -> None:
    rows = [*full()[:4], timed("java serial high 10", [9.0]), timed("java pinned high 10", [1.0])]
    assert "serial is fastest in 2 of 3" in answer(rows).sentence


def test_what_is_not_known_well_enough_is_no_tie() -> None:
    rows = [timed("java serial low 10", times(1.1, 0.3)), timed("java pinned low 10", times(1.0))]
    found = answer(rows)
    assert found.sentence == "In Java no technique is shown to be fastest."
    assert [each.is_tie for each in found.by_throughput] == [False]
    assert [each.is_tie for each in answer(full()[4:6]).by_throughput] == [True]


def test_the_service_that_is_not_always_ahead_is_counted() -> None:
    rows = [
        *full(),
        timed("python process-per-request low 30", times(3.0)),
        timed("python serial low 30", times(0.3)),
    ]
    told = answer(rows).sentence
    assert told.endswith("Java is ahead in 1 of 2 and Python is ahead in 1 of 2.")


def reasons(rows: Sequence[Row], *again: AgainEntry, passed: bool = True) -> tuple[str, str, str]:
    check = CheckEntry(name="stall", question="?", measured="1 s", limit="1 s", passed=passed)
    calibration = CalibrationEntry(made="2026", git_commit="abc", checks=(check,))
    return trust.reasons("Sure.", rows, PROOFS[:1], again, None, calibration)


def test_three_lines_say_why_to_believe_it() -> None:
    steady = AgainEntry(cell="a", ratio=1.01, low=0.98, high=1.04)
    counts = {"completions": [1_234_567], "wrong_answers": [0], "errors": [2]}
    rows = [row("java serial low 10", [100.0], **counts)]
    assert reasons(rows, steady) == (
        "Sure.",
        "Every answer was checked: 1,234,567 right, none wrong, 2 requests failed. The "
        "technique does what its name says, as observed in the kernel.",
        "The cell that was measured twice agrees with itself (A/A). The measuring chain passed 1 "
        "of 1 checks. No cell has a warning.",
    )


def test_what_speaks_against_it_is_said_first_in_its_line() -> None:
    wrong = row("java serial low 10", [None], ["wrong-answers"], completions=[9], wrong_answers=[1])
    stolen = with_facts(row("java pinned low 10", [1.0]), steal_pct=5.0)
    unsteady = AgainEntry(cell="a", ratio=1.1, low=1.05, high=1.15)
    _, answers, chain = reasons([wrong, stolen], unsteady, unsteady, passed=False)
    assert "1 WRONG" in answers and "java-serial-unbound-low-10u" in answers
    assert chain.startswith("Of 2 cells that were measured twice (A/A) 2 differ from themselves: a")
    assert "passed 0 of 1 checks; failed: stall." in chain
    assert "1 of 2 cells has a warning; it may bias a number by 5 % (steal)." in chain
    assert "Without a result: java-serial-unbound-low-10u." in chain


def test_proofs_take_one_line_when_all_hold_and_name_those_that_fail() -> None:
    assert trust.proven(PROOFS) == (
        "Of 3 techniques, as observed in the kernel, java pinned does NOT do what its name says; "
        "nothing could be observed of python process-per-request."
    )
    assert trust.proven([]) == "The behaviour of the techniques was not proven."


def test_a_technique_of_several_proofs_is_one() -> None:
    holding, refuted, _ = PROOFS
    bound = holding.model_copy(update={"placement": "core0"})
    other = holding.model_copy(update={"strategy": "pipeline"})
    assert trust.proven([holding, bound]) == (
        "The technique does what its name says in 2 proofs, as observed in the kernel."
    )
    assert trust.proven([holding, bound, other]) == (
        "All 2 techniques do what their names say in 3 proofs, as observed in the kernel."
    )
    assert trust.proven([holding, refuted, refuted]) == (
        "Of 2 techniques in 3 proofs, as observed in the kernel, java pinned does "
        "NOT do what its name says."
    )


def test_claims_about_queues_are_counted_apart_as_the_kernel_saw_none_of_them() -> None:
    holding = PROOFS[0]
    queues = [each.model_copy(update={"strategy": f"technique {each.strategy}"}) for each in PROOFS]
    kernel = "The strategy does what its name says, as observed in the kernel."
    assert trust.proven([holding, queues[0]]) == (
        f"{kernel} The claim about queues holds, as observed in database sessions."
    )
    other = queues[0].model_copy(update={"strategy": "20 connections of pinned"})
    assert trust.proven([holding, queues[0], other]) == (
        f"{kernel} All 2 claims about queues hold, as observed in database sessions."
    )
    assert trust.proven([holding, *queues]) == (
        f"{kernel} Of 3 claims about queues, as observed in database sessions, "
        "java technique pinned does NOT hold; nothing could be observed of python technique "
        "process-per-request."
    )


def test_levels_of_logs_are_called_by_their_names() -> None:
    logs = Logs(rules="R64", lines=10)
    rows = [
        replace(timed(f"java {strategy} low {users}", times(factor)), shape=None, logs=logs)
        for strategy, factor in (("serial", 2.0), ("pinned", 1.0))
        for users in (10, 30)
    ]
    found = answer([with_level(each, "logs-low") for each in rows])
    assert "combinations of size (logs-low) and users (10 to 30)" in found.sentence


def with_level(of: Row, complexity: str) -> Row:
    return replace(of, cell=of.cell.model_copy(update={"complexity": complexity}))


def test_a_far_slower_technique_with_too_few_blocks_is_out_of_the_race() -> None:
    """Whichever blocks had it, the best is chosen and shown by the blocks of the others."""

    def found(slow: float, blocks: int = 5) -> Leader:
        rows = [
            timed("java serial low 10", times(1.0)[:blocks]),
            timed("java pinned low 10", times(0.6)[:blocks]),
            timed("java thread-pool low 10", times(slow)[:1]),
        ]
        return only(leaders(rows, "java", "throughput_per_s"))

    leader = found(0.01)
    assert (leader.text, leader.is_shown) == ("best", True)
    assert [cell.strategy for cell in leader.far] == ["thread-pool"]
    assert leader.others[-1][0].strategy == "thread-pool", "it is not the next"
    assert not found(0.3).is_shown, "with more blocks it might be the best"
    assert not found(0.01, blocks=1).far, "one block gives only an order"


def test_a_technique_out_of_the_race_that_shares_no_block_with_the_best_has_words() -> None:
    """The smallest of no numbers ended the report of a run in which the best failed in a block."""
    rows = []
    for users in (10, 30):
        slow = timed(f"java pinned low {users}", [0.01])
        (its,) = slow.measurements
        rows.append(timed(f"java serial low {users}", times(1.0)))
        rows.append(replace(slow, measurements=(its.model_copy(update={"block": 9}),)))
    assert answer(rows[:2]).sentence == "In Java serial is fastest, over 5 times as fast as pinned."
    assert "in all 2 combinations" in answer(rows).sentence
    assert answer(rows).sentence.endswith(", over 5 times as fast as the next.")


def test_the_best_is_not_chosen_by_the_one_block_of_a_far_slower_technique() -> None:
    rows = [
        timed("java serial low 10", [0.5, 1.0, 1.0, 1.0, 1.0]),
        timed("java pinned low 10", [0.6, 0.6, 0.6, 0.6, 0.6]),
        timed("java thread-pool low 10", [0.01]),
    ]
    assert only(leaders(rows, "java", "throughput_per_s")).best.strategy == "serial"
