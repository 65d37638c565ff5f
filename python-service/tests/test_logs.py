"""The workload logs: against checksums of four engines, lines by hand, and rules that are wrong."""

import json
import random
from functools import cache
from itertools import pairwise
from time import perf_counter_ns
from typing import Any
from zlib import crc32

import pytest
import re2
from hypothesis import example, given
from hypothesis import strategies as st
from log_lines import drawn_lines

from restbench_service.codec import logs as codec
from restbench_service.codec.logs import LogsJson
from restbench_service.execution.job import InOrderLoop
from restbench_service.workloads.logs import workload as module
from restbench_service.workloads.logs.rules import RULE_SETS, Draws, drawn_rules, parse
from restbench_service.workloads.logs.workload import LogsRequest, LogsWorkload, bit_set
from restbench_service.workloads.workload import Body, ParallelLoop

LOGS, JSON = LogsWorkload(), LogsJson()
PATTERNS = {"R16": 3364345114, "R64": 3386714313, "R256": 141114057, "R1024": 1129582503}
LINES = {1: 3510176008, 10: 3850165942, 100: 4278006688, 1000: 954840131}
"""Checksums of the lines that seed 1 draws."""
ANSWERS = {
    "R16": {1: 2125131253, 10: 2596257181, 100: 23595475, 1000: 1581067350},
    "R64": {1: 1389998892, 10: 3986211368, 100: 1388078659, 1000: 3635227010},
    "R256": {1: 2881100947, 10: 2063606384, 100: 2733289716, 1000: 1239037649},
    "R1024": {1: 195877173, 10: 1848691888, 100: 152804903, 1000: 2877188418},
}
TOTALS = {
    "R16": (14360, 996, 573),
    "R64": (56782, 3065, 308),
    "R256": (228044, 12308, 287),
    "R1024": (911512, 52806, 341),
}
"""Searches, rules that fired, alerts, in 1000 lines."""
AMOUNTS = [6, 14, 22, 30, 38, 46, 54, 62]
HEAD = "2026-03-01T00:00:00.000Z web-01"
BY_HAND = {
    "": [],
    "took 4001 ms": [1, 9, 17, 25, 33, 41, 57],
    f"{HEAD} TRACE sshd[1]: after 9 ms": [1, 33],
    "é1234567 kB 😀": AMOUNTS,
    "7654321 bytes, 0 keys": AMOUNTS,
    "a b c d e f": [63],
    f"{HEAD} FATAL sshd[1]: t took 4001 ms\u2028": [0, 1, 9, 17, 25, 33, 40, 41, 48, 57],
}
"""What fires of R64."""


def asked(rule_set: str, lines: list[str], request_id: str | int = 1) -> bytes:
    request = {"requestId": request_id, "ruleSet": rule_set, "lines": lines}
    return json.dumps(request, ensure_ascii=False).encode()


def answered(rule_set: str, lines: list[str], loop: ParallelLoop | None = None) -> bytes:
    request = JSON.decode(asked(rule_set, lines), "")
    return JSON.encode(LOGS.compute(request, loop or InOrderLoop()))


@cache
def answer_to(rule_set: str, count: int) -> bytes:
    """To lines that seed 1 draws."""
    return answered(rule_set, drawn_lines(1, count))


def fired(line: str, rules: int = 64) -> list[int]:
    return [rule for rule in range(rules) if bit_set(line, rules) >> rule & 1]


def test_the_stream_is_the_one_that_the_contract_describes() -> None:
    draws = Draws(1)
    assert [draws.pick(65536) for _ in range(6)] == [3, 30870, 22578, 28038, 41884, 56807]
    assert draws._state == 60996517653179


@pytest.mark.parametrize("rule_set", PATTERNS)
def test_the_rules_are_drawn_as_the_contract_describes(rule_set: str) -> None:
    rules = drawn_rules()[: RULE_SETS[rule_set]]
    assert crc32("\n".join(rule.pattern for rule in rules).encode()) == PATTERNS[rule_set]


@pytest.mark.parametrize("count", LINES)
@pytest.mark.parametrize("rule_set", RULE_SETS)
def test_the_answer_is_the_one_that_four_engines_agree_on(rule_set: str, count: int) -> None:
    assert crc32("\n".join(drawn_lines(1, count)).encode()) == LINES[count]
    assert crc32(answer_to(rule_set, count)) == ANSWERS[rule_set][count]


@pytest.mark.parametrize("rule_set", RULE_SETS)
def test_a_level_spares_a_search_and_nothing_else_does(rule_set: str) -> None:
    lines, rules = drawn_lines(1, 1000), drawn_rules()[: RULE_SETS[rule_set]]
    levels = [parse(line).level for line in lines]
    searches = sum(level >= rule.min_level for level in levels for rule in rules)
    answer = json.loads(answer_to(rule_set, 1000))
    fired_in_all = sum(map(len, answer["fired"]))
    assert (searches, fired_in_all, len(answer["alerts"])) == TOTALS[rule_set]


@pytest.mark.parametrize("line", BY_HAND)
def test_a_line_fires_what_was_found_by_hand(line: str) -> None:
    assert fired(line) == BY_HAND[line]


def test_a_number_has_to_be_larger_than_the_rule_s() -> None:
    for number, rule in enumerate(drawn_rules()):
        if rule.over is not None:
            text = "took {} ms" if "took" in rule.pattern else "{} kB"
            sets = [bit_set(text.format(rule.over + more), 1024) for more in (0, 1)]
            assert [bits >> number & 1 for bits in sets] == [0, 1], number


def test_each_line_is_a_unit_of_the_loop() -> None:
    body = b'{"requestId":1,"ruleSet":"R16","lines":["","a",""]}'
    assert LogsWorkload().units(LogsJson().decode(body, "")) == 3


FRAGMENTS = [
    *("took ", "after ", "499", "4501", " ms", "0 keys", "1234567 kB", "Failed password for user0"),
    *("42 from 10.1", "7.", "GET /cart", "/items", "?id=0123abcd", " 503 ", "POST /search", "0"),
    *(" db-03 ERROR ", "nginx[", "512", "]: ", "deadbeef", "-", ": ", "a", "Zz", ".", "'", "="),
    " ",
    *("2026-03-01T10:11:12.000Z db-03 FATAL worker[77]: ", "é", "😀", "\u2028", "\r", "\x85", "\0"),
]


@given(st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=3), max_size=12).map("".join))
@example("2026-03-01T10:11:12.000Z db-03 FATAL worker[77]: \r")
def test_another_engine_finds_the_same_in_any_line(line: str) -> None:
    line = line.replace("\n", "")
    parts, found = parse(line), []
    for number, rule in enumerate(drawn_rules()[:256]):
        text = {"line": line, "service": parts.service, "message": parts.message}[rule.field]
        match = re2.search(rule.pattern, text)
        larger = match and (rule.over is None or int(match.group(1)) > rule.over)
        if parts.level >= rule.min_level and larger:
            found.append(number)
    assert fired(line, 256) == found


class CutAnyhow(InOrderLoop):
    """In pieces of any size, in any order, each in arrays that were full of something."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def array(self, shape: tuple[int, ...], dtype: Any) -> Any:
        array = super().array(shape, dtype)
        array.view("u1")[...] = 0xA5
        return array

    def for_each(self, units: int, units_per_task: int, body: Body, *arguments: Any) -> None:  # noqa: ARG002
        cuts = sorted({0, units, *(self._random.randrange(units) for _ in range(units // 3))})
        pieces = list(pairwise(cuts))
        self._random.shuffle(pieces)
        for start, stop in pieces:
            body(start, stop, *arguments)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("rule_set", RULE_SETS)
def test_any_cut_of_the_loop_gives_the_same_bytes(rule_set: str, seed: int) -> None:
    lines = ["", *drawn_lines(1, 20), "é😀", ""]
    assert answered(rule_set, lines, CutAnyhow(seed)) == answered(rule_set, lines)


def test_many_lines_are_added_up_in_pieces() -> None:
    lines = 2 * module.LINES_AT_ONCE + 1
    answer = json.loads(answered("R16", ["took 4001 ms"] * lines))
    assert answer["alerts"] == list(range(lines))
    assert answer["counts"] == [lines * (rule in {1, 9}) for rule in range(16)]
    assert answer["fired"] == [[1, 9]] * lines


LONG = 4096
HOSTILE = {
    "words": "a " + "5" * (LONG - 3) + "!",
    "requests": "GET /cart" * (LONG // 9),
    "hexadecimal": "f" * LONG,
    "separators": "a ." * (LONG // 3),
    "digits": "1234567890" * (LONG // 10),
}


def nanos_a_character(lines: list[str]) -> float:
    """The best of several turns."""
    turns = []
    for _ in range(7):
        begun = perf_counter_ns()
        for line in lines:
            bit_set(line, 64)
        turns.append(perf_counter_ns() - begun)
    return min(turns) / sum(map(len, lines))


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_line_costs_not_much_more_a_character_than_a_usual_one(name: str) -> None:
    usual = nanos_a_character(drawn_lines(1, 100))
    assert nanos_a_character([HOSTILE[name]]) <= 12 * usual


@given(
    st.lists(st.text(max_size=6).map(lambda text: text.replace("\n", "")), min_size=1, max_size=6),
    st.sampled_from(sorted(RULE_SETS)),
    st.integers(-(2**63), 2**63 - 1) | st.text(min_size=1, max_size=3),
    st.booleans(),
)
def test_both_readers_read_the_same(
    lines: list[str], rule_set: str, request_id: str | int, ascii_only: bool
) -> None:
    request = {"lines": lines, "requestId": request_id, "ruleSet": rule_set}
    body = json.dumps(request, ensure_ascii=ascii_only).encode()
    text = "\n".join(lines)
    expected = LogsRequest(request_id, rule_set, text.encode(), len(lines), len(text) + 1)
    assert codec._read_slowly(body) == expected
    assert codec._read_usual(body) == (None if b"\\" in body else expected)
