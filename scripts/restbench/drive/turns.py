"""What JMeter writes down of strategies that took turns at one load (jmeter-plans/README.md): when
each one's turns were measured, and what CPU time both sides took in them.

A load of its own is the worst way to compare two strategies: what disturbs a machine for some
seconds meets one of them. On a machine shared with others neighbouring windows of one and the same
strategy differed by as much with a quarter of a second as with twelve seconds (by 14 % of small
requests). A hundred seconds hold two hundred pairs of the short ones and four of the long, so that
their mean ratio is known six times as well (docs/adaptive.md).
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from restbench.failures import EnvironmentProblem

#: Where a JTL line has its label, which is the strategy's name (jtl.properties).
_LABEL = 2


@dataclass(frozen=True)
class Mark:
    """A moment, in milliseconds since the epoch, and CPU time so far, in milliseconds."""

    at_ms: int
    service_cpu_ms: int
    load_cpu_ms: int


@dataclass(frozen=True)
class Turn:
    """The part of a turn that is measured."""

    strategy: str
    opened: Mark
    closed: Mark

    @property
    def interval(self) -> tuple[int, int]:
        """From when to when, milliseconds since the epoch."""
        return self.opened.at_ms, self.closed.at_ms


def read(path: Path) -> list[Turn]:
    """The turns that are over, in their order; none where there is no such file yet.

    EnvironmentProblem where a line is none.
    """
    if not path.exists():
        return []
    whole, _, _half_a_line = path.read_text(encoding="utf-8").rpartition("\n")
    return [_turn(path, fields) for fields in csv.reader(whole.splitlines())]


def _turn(path: Path, fields: Sequence[str]) -> Turn:
    try:
        strategy, *numbers = fields
        first, second = (Mark(*map(int, numbers[place : place + 3])) for place in (0, 3))
    except (TypeError, ValueError) as error:
        raise EnvironmentProblem(f"{path}: not a turn: {','.join(fields)}") from error
    return Turn(strategy, first, second)


def whole_rounds(turns: Sequence[Turn], strategies: int, after_ms: int) -> list[Turn]:
    """Those of the rounds that began after a moment and are over: every strategy has as many."""
    rounds = [turns[at : at + strategies] for at in range(0, len(turns), strategies)]
    return [
        turn
        for each in rounds
        if len(each) == strategies and each[0].opened.at_ms >= after_ms
        for turn in each
    ]


def shortest_s(turns: Sequence[Turn], strategies: Sequence[str]) -> float:
    """For how long the strategy was measured that was measured least."""
    measured_ms = dict.fromkeys(strategies, 0)
    for turn in turns:
        start_ms, end_ms = turn.interval
        measured_ms[turn.strategy] += end_ms - start_ms
    return min(measured_ms.values()) / 1000


def split(samples: Path, parts: Mapping[str, Path]) -> int | None:
    """Give every strategy the lines of a common JTL that are its own, with the header.

    Returns when the first request of any was sent, milliseconds since the epoch; None of no lines.
    """
    first_ms: int | None = None
    with samples.open("rb") as lines, ExitStack() as opened:
        header = lines.readline()
        files = {
            strategy.encode(): opened.enter_context(path.open("wb"))
            for strategy, path in parts.items()
        }
        for each in files.values():
            each.write(header)
        owner: BinaryIO | None = None
        for line in lines:
            columns = line.split(b",", _LABEL + 1)
            # A message of several lines goes on without a time: with the sample that it is of.
            if columns[0].isdigit() and len(columns) > _LABEL:
                owner = files.get(columns[_LABEL])
                sent_ms = int(columns[0])
                first_ms = sent_ms if first_ms is None else min(first_ms, sent_ms)
            if owner and line.endswith(b"\n"):
                owner.write(line)
    return first_ms
