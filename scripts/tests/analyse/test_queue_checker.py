"""The rules of queues: histories whose verdict is known, and random ones against a look at all
pairs."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

import pytest
from histories import left, naive, pop, send
from hypothesis import given, settings
from hypothesis import strategies as st

from restbench.analyse import queue_checker
from restbench.analyse.queue_checker import RULES, Report, check, count_gap
from restbench.analyse.queue_history import STATEMENT_NS, RemainingMessage, Request


def violated(requests: Sequence[Request], rest: Sequence[RemainingMessage] = ()) -> str:
    """Its names; counts disagree wherever something is lost or too many, which goes unsaid."""
    found = check(requests, rest).counts
    return ", ".join(RULES[rule] for rule, count in found.items() if count and rule != "R8")


S_X, S_Y = send("x", 0, 1), send("y", 2, 3)
LOST = pop(None, 2, None, key="k", was="unknown")
RETRIED = [S_X, S_Y, LOST, pop("x", 4, 5, key="k")]
LATER = 10 + STATEMENT_NS


@pytest.mark.parametrize(
    ("requests", "rest", "expected"),
    [
        ([S_X, pop("x", 2, 3), pop(None, 4, 5)], [], ""),
        ([S_X, pop(None, 2, 3)], [], "lost"),
        ([S_X, pop(None, 2, None, was="unknown", key="k")], [], "lost"),
        ([S_X, pop("x", 2, 3), pop("x", 4, 5)], [], "duplicated"),
        ([S_X, pop("x", 2, 3, key="k"), pop("x", 4, 5, key="k")], [], ""),
        ([send("x", was="unknown"), pop("x")], [], ""),
        ([send("x", was="fail"), pop("x")], [], "invented"),
        ([S_X, S_Y, pop("y", 4, 5), pop("x", 6, 7)], [], "inverted"),
        ([S_X, S_Y, pop("y", 4, 5), pop("x", 6, 7), pop(None, 3, 8, was="fail")], [], ""),
        ([send("x", 0, 3), send("y", 1, 2), pop("y", 4, 5), pop("x", 6, 7)], [], ""),
        ([S_X, S_Y, pop("x", 4, 9), pop("y", 5, 6)], [], ""),
        ([S_X, pop(None, 2, 3), pop("x", 4, 5)], [], "false empty"),
        ([S_X, pop("x", 2, 5), pop(None, 3, 4)], [], ""),
        ([S_X], [left("x")], ""),
        ([S_X, pop(None, 2, 3)], [left("x")], "false empty"),
        ([S_X, pop("x", 2, 3)], [left("x")], "duplicated"),
        ([pop("z", 2, 3)], [], "invented"),
        ([send("x", receiver=5), pop("x")], [], "misrouted"),
        ([S_X, pop("x", queue="b")], [], "misrouted"),
        ([S_X, pop("x", altered=True)], [], "altered"),
        ([send("x", id=7), pop("x", id=8)], [], "altered"),
        ([S_X, S_Y, pop("x", id=7), pop("y", 4, 5, id=7)], [], "duplicated"),
        (
            [S_X, S_Y, pop("x", 4, 5, key="k", id=1), pop("y", 6, 7, key="k", id=2)],
            [],
            "lost, duplicated",
        ),
        # What repeats a key may hold another message than the one it brings.
        (
            [
                *(S_X, S_Y, pop(None, 4, 5, key="k", was="unknown"), pop("x", 6, 9, key="k")),
                *(pop(None, 7, 8), pop("y", 10, 11)),
            ],
            [],
            "",
        ),
        # Until its statement has surely ended, and not for ever.
        ([*RETRIED, pop(None, 6, 7), pop("y", LATER + 4, LATER + 5)], [], ""),
        (
            [
                *(*RETRIED, send("z", LATER, LATER + 1)),
                *(pop(None, LATER + 2, LATER + 3), pop("z", LATER + 4, LATER + 5)),
            ],
            [left("y")],
            "false empty",
        ),
        # Asked again long after it brought nothing, it may hold a message until it is answered.
        (
            [
                *(LOST, pop(None, 4, 5, key="k"), send("x", LATER, LATER + 1)),
                *(send("z", LATER, LATER + 1), send("y", LATER + 2, LATER + 3)),
                pop(None, LATER + 4, None, key="k", was="unknown"),
                *(pop("y", LATER + 5, LATER + 6), pop("z", LATER + 9, LATER + 10, key="k")),
                pop("x", LATER + 11, LATER + 12),
            ],
            [],
            "",
        ),
    ],
)
def test_of_a_history_it_is_known_what_is_wrong(
    requests: list[Request], rest: list[RemainingMessage], expected: str
) -> None:
    assert violated(requests, rest) == expected
    assert +Counter(check(requests, rest).counts) == naive(requests, rest)


def test_a_message_that_an_unanswered_pop_may_have_taken_is_in_limbo() -> None:
    found = check([S_X, pop(None, 2, None, was="unknown")])
    assert (found.violations, found.limbo, found.unknown) == (0, 1, 1)


def test_each_unanswered_pop_excuses_one_message_of_its_own_address() -> None:
    unanswered = pop(None, 2, None, was="unknown")
    found = check([S_X, S_Y, send("z", receiver=5), unanswered])
    assert (found.counts["R1"], found.limbo) == (2, 1)


def test_a_message_whose_send_was_not_answered_may_come() -> None:
    found = check([send("x", returned=None, was="unknown"), pop("x")])
    assert (found.violations, found.unknown, found.recovered) == (0, 1, 1)
    assert check([send("x", was="unknown")], [left("x")]).recovered == 1, "or is left"
    assert check([send("x", was="unknown")]).recovered == 0
    assert check([S_X, pop("x", 2, 3)]).recovered == 0


def test_counts_that_disagree_are_a_violation_of_their_own() -> None:
    assert check([S_X]).counts["R8"] == 1
    assert (count_gap(5, 5), count_gap(5, 3), count_gap(5, 7)) == (0, 2, 2)
    assert (count_gap(5, 3, unknown_pops=2), count_gap(5, 7, unknown_sends=1)) == (0, 1)


def test_a_finding_says_what_happened_to_which_message_when() -> None:
    second = 10**9
    history = [send("r-1-7", 0, second), pop("r-1-7", 2 * second, 3 * second, client=4)]
    history.append(pop("r-1-7", 4 * second, 5 * second, client=6))
    (found,) = (each for each in check(history).findings if each.rule == "R2")
    assert (
        found.text
        == "duplicated: r-1-7 was popped by client 4 until 3.000 s and client 6 until 5.000 s"
    )


def test_all_are_counted_and_some_are_worded() -> None:
    found = check([send(f"t{number}") for number in range(1000)])
    assert found.counts["R1"] == 1000
    assert sum(each.rule == "R1" for each in found.findings) == queue_checker.MOST_WORDED


def test_a_token_that_is_sent_twice_is_the_harness_own_fault() -> None:
    with pytest.raises(ValueError, match="token x is sent twice"):
        check([S_X, S_X])


MOMENTS = st.tuples(st.integers(0, 30), st.integers(1, 12)).map(lambda it: (it[0], it[0] + it[1]))
PLACES = st.sampled_from([("a", 0), ("a", 5), ("b", 0)])
OUTCOMES = st.sampled_from(["ok", "ok", "ok", "unknown", "fail"])
KEYS = st.sampled_from([None, None, None, "k1", "k2", "k3"])


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[Request], list[RemainingMessage]]:
    """Messages with their sends, pops of some of them (right, twice, elsewhere, altered), pops that
    bring nothing, and messages that are left."""
    requests: list[Request] = []
    rest: list[RemainingMessage] = []
    for number in range(draw(st.integers(0, 6))):
        token, (queue, receiver), at = f"t{number}", draw(PLACES), draw(MOMENTS)
        place = {"queue": queue, "receiver": receiver, "id": number}
        key = draw(st.sampled_from([None, f"s{number}"]))
        attempts = draw(st.lists(st.tuples(MOMENTS, OUTCOMES), max_size=2)) if key else []
        for when, was in [(at, draw(OUTCOMES)), *attempts]:
            requests.append(send(token, *when, key=key, **place, was=was))
        if not draw(st.sampled_from([False, False, False, False, True])):
            for _ in range(draw(st.sampled_from([0, 1, 1, 1, 1, 2]))):
                altered = draw(st.sampled_from([False] * 9 + [True]))
                where = place if draw(st.integers(0, 9)) else place | {"receiver": 9}
                requests.append(
                    pop(token, *draw(MOMENTS), key=draw(KEYS), altered=altered, **where)
                )
        if draw(st.sampled_from([False, False, True])):
            rest.append(left(token, queue, receiver, number))
    for _ in range(draw(st.integers(0, 4))):
        (queue, receiver), (began, ended) = draw(PLACES), draw(MOMENTS)
        is_answered = draw(st.booleans())
        requests.append(
            pop(
                *(None, began, ended if is_answered else None),
                was=draw(OUTCOMES) if is_answered else "unknown",
                key=draw(KEYS),
                queue=queue,
                receiver=receiver,
            )
        )
    if draw(st.booleans()) and draw(st.booleans()):
        requests.append(pop("nobody's", *draw(MOMENTS)))
    return draw(st.permutations(requests)), rest


@given(histories())
@settings(max_examples=600, deadline=None)
def test_random_histories_are_judged_as_by_a_look_at_all_pairs(
    history: tuple[list[Request], list[RemainingMessage]],
) -> None:
    requests, rest = history
    assert +Counter(check(requests, rest).counts) == naive(requests, rest)


def large(operations: int) -> list[Request]:
    """A sound one of 100 clients on 4 queues, every 1000th send refused and every 999th pop
    uncertain."""
    found: list[Request] = []
    for number in range(operations // 2):
        queue, at = f"q{number % 4}", 10 * number
        was = "fail" if number % 1000 == 0 else "ok"
        found.append(send(f"t{number}", at, at + 9, client=number % 100, queue=queue, was=was))
        token = None if was == "fail" else f"t{number}"
        found.append(pop(token, at + 400, at + 900, client=number % 100, queue=queue))
        if number % 999 == 0:
            found.append(pop(None, at, at + 5, queue=queue, was="fail"))
    return found


def test_the_time_it_takes_grows_as_the_history_does() -> None:
    """No worse than three times what proportion would say: a look at all pairs takes 8 times."""

    def took_s(operations: int) -> tuple[float, Report]:
        history = large(operations)
        began = time.process_time()
        found = check(history)
        return time.process_time() - began, found

    small_s = min(took_s(25_000)[0] for _ in range(3))
    large_s, found = took_s(200_000)
    assert found.violations == 0
    assert large_s < 3 * 8 * small_s
