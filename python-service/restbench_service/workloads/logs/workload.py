"""The workload logs: which rules fire on which lines, and which lines are alerts.

A unit of the loop is a line. Tasks write the lines' bit sets; then counts and alerts are computed
sequentially.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..workload import ParallelLoop, Workload, for_tasks
from .rules import RULE_SETS, drawn_rules, parse, threshold

WORD_BITS = 64
WORD = np.dtype("<u8")
"""A word of a bit set. Rule k is bit k mod 64 of word k div 64."""
LINES_AT_ONCE = 4096
"""Lines whose bit sets are unpacked at a time, to a byte per rule: 4 MiB with 1024 rules."""
_FIELDS = ("line", "service", "message")

BitSets = NDArray[np.uint64]
"""The rules that fired on each line: lines x words."""


@dataclass(frozen=True)
class LogsRequest:
    """A valid request: UTF-8 text of `lines` lines, at least one, with line feeds between them."""

    request_id: str | int
    rule_set: str
    text: bytes
    lines: int
    characters: int
    """Code points, plus one for the end of each line, because empty lines take time, too."""

    @property
    def rules(self) -> int:
        """The number of rules in the rule set."""
        return RULE_SETS[self.rule_set]


@dataclass(frozen=True, eq=False)
class LogsResult:
    """The rules that fired on each line, each rule's number of lines, and the indices of alerts."""

    request: LogsRequest
    fired: BitSets
    counts: list[int]
    alerts: list[int]

    def fired_rules(self) -> Iterator[list[list[int]]]:
        """The ascending numbers of each line's fired rules, in lists of LINES_AT_ONCE lines."""
        for bits in _unpacked(self.fired, self.request.rules):
            numbers = np.nonzero(bits)[1].tolist()
            ends = np.cumsum(np.count_nonzero(bits, axis=1)).tolist()
            yield [numbers[a:b] for a, b in zip([0, *ends], ends, strict=False)]


@dataclass(frozen=True)
class LogsWorkload(Workload[LogsRequest, LogsResult]):
    """No memory is reserved for bit sets. Only running requests have them, and the default limit of
    2 * 10**8 operations bounds them to 25 MB, or 100 MB with R16, whose words are mostly unused."""

    name = "logs"

    def operations(self, value: LogsRequest) -> float:
        """The number of characters times the number of rules."""
        return float(value.characters * value.rules)

    def units(self, value: LogsRequest) -> int:
        """The lines."""
        return value.lines

    def compute(self, value: LogsRequest, loop: ParallelLoop) -> LogsResult:
        """See Workload. Every valid request has an answer."""
        text = for_tasks(np.frombuffer(value.text, np.uint8), np.uint8, loop)
        starts = loop.array((value.lines + 1,), np.int64)
        starts[0], starts[-1] = 0, len(value.text) + 1
        starts[1:-1] = np.flatnonzero(text == ord("\n")) + 1
        fired = loop.array((value.lines, -(-value.rules // WORD_BITS)), WORD)
        loop.for_each(value.lines, 1, evaluate, value.rules, text, starts, fired)
        return LogsResult(value, fired, *_totals(fired, value.rules))

    def open(self) -> None:
        """Compile the rules in advance, because that takes as long as many requests."""
        _compiled(max(RULE_SETS.values()))


def evaluate(  # noqa: PLR0913, PLR0917 - a loop's body has the arrays as arguments
    start: int,
    stop: int,
    rules: int,
    text: NDArray[np.uint8],
    starts: NDArray[np.int64],
    fired: BitSets,
) -> None:
    """Write the bit sets of some lines. Line i is text[starts[i] : starts[i + 1] - 1]."""
    bounds = starts[start : stop + 1].tolist()
    lines = text[bounds[0] : bounds[-1] - 1].tobytes().decode().split("\n")
    for unit, line in enumerate(lines, start):
        bits = bit_set(line, rules).to_bytes(fired.shape[1] * WORD.itemsize, "little")
        fired[unit] = np.frombuffer(bits, WORD)


def bit_set(text: str, rules: int) -> int:
    """Bit k is set if rule k fires. Only a level that is too low prevents a search."""
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
    """The first `rules` rules, compiled once per process. Rules with equal patterns all search."""
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
    """For each rule the number of lines on which it fired, and the indices of the alerts."""
    weights = np.array([rule.weight for rule in drawn_rules()[:rules]])
    counts = np.zeros(rules, np.int64)
    alerts = list[int]()
    for index, bits in enumerate(_unpacked(fired, rules)):
        counts += np.count_nonzero(bits, axis=0)
        heavy = np.flatnonzero(bits @ weights >= threshold(rules))
        alerts += (heavy + index * LINES_AT_ONCE).tolist()
    return counts.tolist(), alerts


def _unpacked(fired: BitSets, rules: int) -> Iterator[NDArray[Any]]:
    """Arrays of up to LINES_AT_ONCE lines x rules; an element is 1 if the rule fired, else 0."""
    for first in range(0, len(fired), LINES_AT_ONCE):
        piece = fired[first : first + LINES_AT_ONCE].view(np.uint8)
        yield np.unpackbits(piece, axis=1, count=rules, bitorder="little")
