"""The report's first part: which technique is best for which complexity and load on this machine,
in two sentences made from data, and how sure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from restbench.analyse.leader import Leader, Scope, leaders
from restbench.analyse.measures import Row
from restbench.judge.answer_text import how_sure, what

SCOPES: tuple[Scope, ...] = ("java", "python", "both")


@dataclass(frozen=True)
class Answer:
    """The two sentences, and the tables they are made from."""

    sentences: tuple[str, str]
    """What is best where; how sure that is."""
    by_throughput: tuple[Leader, ...]
    by_cpu_time: tuple[Leader, ...]
    """The same by CPU time per request, which shared cores and a slow load generator do not
    compress (method, rule 4)."""


def answer(rows: Sequence[Row]) -> Answer:
    """What the rows of one run say; with several blocks only differences that are sure count."""
    fastest = [each for scope in SCOPES for each in leaders(rows, scope, "throughput_per_s")]
    cheapest = [each for scope in SCOPES for each in leaders(rows, scope, "cpu_ms_per_request")]
    told = [each for each in fastest if each.verdict != "only one"]
    return Answer(
        (what(told), how_sure(told, cheapest, _without_number(rows))),
        tuple(fastest),
        tuple(cheapest),
    )


def _without_number(rows: Sequence[Row]) -> list[str]:
    """The ids of the cells that any group may lack: one of them might be the best."""
    return [
        row.cell.id
        for row in rows
        if row.value("throughput_per_s") is None and "not-offered" not in row.flags
    ]
