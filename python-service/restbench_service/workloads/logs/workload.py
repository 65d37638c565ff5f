"""The workload logs: which rules fire on which lines, and which lines are alerts.

A unit of the loop is a line. Its task writes the line's bit set; counts and alerts follow in order.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..workload import ParallelLoop, Workload
from .rules import RULE_SETS, drawn_rules, parse, threshold

WORD_BITS = 64
WORD = np.dtype("<u8")
"""Of a bit set: rule k is bit k mod 64 of word k div 64."""
LINES_AT_ONCE = 4096
"""Whose bit sets are unpacked together, a byte a rule: 4 MiB with 1024 rules."""
_FIELDS = ("line", "service", "message")

BitSets = NDArray[np.uint64]
"""Lines x words of the rules that fired."""


@dataclass(frozen=True)
class LogsRequest:
    """A right request: UTF-8 text of `lines` lines, one or more, with a line feed between them."""

    request_id: str | int
    rule_set: str
    text: bytes
    lines: int
    characters: int
    """Code points, and one more for the end of each line: an empty one is looked at, too."""

    @property
    def rules(self) -> int:
        """How many the rule set has."""
        return RULE_SETS[self.rule_set]


@dataclass(frozen=True, eq=False)
class LogsResult:
    """What fired on each line, on how many lines each rule fired, and which lines are alerts."""

    request: LogsRequest
    fired: BitSets
    counts: list[int]
    alerts: list[int]

    def fired_rules(self) -> Iterator[list[list[int]]]:
        """Of each line the ascending numbers of the rules that fired, LINES_AT_ONCE at a time."""
        for bits in _unpacked(self.fired, self.request.rules):
            numbers = np.nonzero(bits)[1].tolist()
            ends = np.cumsum(np.count_nonzero(bits, axis=1)).tolist()
            yield [numbers[a:b] for a, b in zip([0, *ends], ends, strict=False)]


@dataclass(frozen=True)
class LogsWorkload(Workload[LogsRequest, LogsResult]):
    """Bit sets take an eighth of a byte a line and rule, so at most as much an operation, and only
    requests that run have them: the limit of operations bounds them to 25 MB."""

    name = "logs"

    def operations(self, value: LogsRequest) -> float:
        """Characters that rules look at, each for itself."""
        return float(value.characters * value.rules)

    def compute(self, value: LogsRequest, loop: ParallelLoop) -> LogsResult:
        """Every request that is right has an answer."""
        text = loop.array((len(value.text),), np.uint8)
        text[...] = np.frombuffer(value.text, np.uint8)
        starts = loop.array((value.lines + 1,), np.int64)
        starts[0], starts[-1] = 0, len(value.text) + 1
        starts[1:-1] = np.flatnonzero(text == ord("\n")) + 1
        fired = loop.array((value.lines, -(-value.rules // WORD_BITS)), WORD)
        loop.for_each(value.lines, 1, evaluate, value.rules, text, starts, fired)
        return LogsResult(value, fired, *_totals(fired, value.rules))

    def open(self) -> None:
        """Compile the rules, which takes as long as many requests."""
        _compiled(max(RULE_SETS.values()))


def evaluate(  # noqa: PLR0913, PLR0917 - a loop's body has the arrays as arguments
    start: int,
    stop: int,
    rules: int,
    text: NDArray[np.uint8],
    starts: NDArray[np.int64],
    fired: BitSets,
) -> None:
    """The bit sets of some lines; line i is what lies from starts[i] to starts[i + 1] - 1."""
    bounds = starts[start : stop + 1].tolist()
    lines = text[bounds[0] : bounds[-1] - 1].tobytes().decode().split("\n")
    for unit, line in enumerate(lines, start):
        bits = bit_set(line, rules).to_bytes(fired.shape[1] * WORD.itemsize, "little")
        fired[unit] = np.frombuffer(bits, WORD)


def bit_set(text: str, rules: int) -> int:
    """Bit k is set where rule k fires. A level spares a rule its search; nothing else does."""
    line = parse(text)
    fields = (line.text, line.service, line.message)
    bits = 0
    for number, (search, field, min_level, over) in enumerate(_compiled(rules)):
        if line.level >= min_level:
            match = search(fields[field])
            if match is not None and (over is None or int(match[1]) > over):
                bits |= 1 << number
    return bits


class _CompiledRule(NamedTuple):
    search: Callable[[str], re.Match[str] | None]
    field: int
    """Index in _FIELDS."""
    min_level: int
    over: int | None


@cache
def _compiled(rules: int) -> tuple[_CompiledRule, ...]:
    """Once a process; many rules have the same pattern, and each searches for itself."""
    if rules < max(RULE_SETS.values()):
        return _compiled(max(RULE_SETS.values()))[:rules]
    compiled = cache(re.compile)
    return tuple(
        _CompiledRule(
            compiled(rule.pattern).search, _FIELDS.index(rule.field), rule.min_level, rule.over
        )
        for rule in drawn_rules()
    )


def _totals(fired: BitSets, rules: int) -> tuple[list[int], list[int]]:
    """Lines on which each rule fired, and lines whose rules weigh as much as an alert."""
    weights = np.array([rule.weight for rule in drawn_rules()[:rules]])
    counts = np.zeros(rules, np.int64)
    alerts = list[int]()
    for index, bits in enumerate(_unpacked(fired, rules)):
        counts += np.count_nonzero(bits, axis=0)
        heavy = np.flatnonzero(bits @ weights >= threshold(rules))
        alerts += (heavy + index * LINES_AT_ONCE).tolist()
    return counts.tolist(), alerts


def _unpacked(fired: BitSets, rules: int) -> Iterator[NDArray[Any]]:
    """LINES_AT_ONCE lines x rules, 0 or 1."""
    for first in range(0, len(fired), LINES_AT_ONCE):
        piece = fired[first : first + LINES_AT_ONCE].view(np.uint8)
        yield np.unpackbits(piece, axis=1, count=rules, bitorder="little")
