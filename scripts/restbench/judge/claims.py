"""What a run says about each claim: verdicts from data, by the tests of the claims file. Pure: rows
and proofs in, decisions out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from restbench.analyse import audit
from restbench.analyse.measures import Row
from restbench.experiment.cell import Cell
from restbench.experiment.claim import Claim
from restbench.experiment.claim_file import Claims
from restbench.experiment.records import Proof
from restbench.judge.claim_parts import PartDecision, Verdict, weigh

#: Of a claim whose deciding parts differ, the first that occurs: one part that is really the other
#: way contradicts the whole; else what is unknown is said before what is known.
PRECEDENCE: tuple[Verdict, ...] = (
    "contradicted",
    "not measured",
    "one run",
    "not detected",
    "same direction, other size",
    "reproduced",
)
AS_CLAIMED: tuple[Verdict, ...] = ("reproduced", "same direction, other size")
#: What is expected of a part that a difference, and not the lack of one, must show.
DIFFERENCES = ("greater", "less")
#: How many parts a sentence names.
NAMED = 3


class Worded(Protocol):
    """A claim of any kind, in words."""

    @property
    def id(self) -> str:
        """What it is called."""

    @property
    def text(self) -> str:
        """The study's words."""

    @property
    def reading(self) -> str:
        """How it is tested."""


@dataclass(frozen=True)
class Decision:
    """A row of the claims table."""

    id: str
    text: str
    reading: str
    verdict: Verdict
    headline: str
    """The verdict with what belongs to it: what lacks, what it could have seen."""
    why: str
    parts: tuple[PartDecision, ...] = ()
    """The parts that decide."""
    beside: tuple[PartDecision, ...] = ()
    """The parts that are only shown."""
    marked: tuple[str, ...] = ()
    """The doubtful cells behind it, each with what is doubtful."""

    @property
    def cells(self) -> tuple[str, ...]:
        """The ids of all cells behind it, each once."""
        every = (*self.parts, *self.beside)
        return tuple(dict.fromkeys(cell for part in every for cell in part.cells))

    @property
    def study_values(self) -> tuple[float, ...]:
        """The study's ratios, where it published numbers."""
        values = (part.study_value for part in self.parts)
        return tuple(dict.fromkeys(value for value in values if value is not None))


def decide(claims: Claims, rows: Sequence[Row], proofs: Sequence[Proof]) -> list[Decision]:
    """A decision for each claim, in the order of the file, from one run's rows and proofs."""
    by_cell = {row.cell: row for row in rows}
    marks = _marks(rows, proofs)
    return [_decide(claim, by_cell, proofs, marks, claims.margin) for claim in claims.entries]


def _decide(
    claim: Claim,
    rows: Mapping[Cell, Row],
    proofs: Sequence[Proof],
    marks: Mapping[str, str],
    margin: float,
) -> Decision:
    if claim.awaits:
        return _simple(claim, "not measured", f"{claim.awaits} is not there yet")
    if claim.experiment:
        elsewhere = f"it is decided by the experiment {claim.experiment}, not by this one"
        return _simple(
            claim, "not measured", f"{elsewhere}: make bench EXPERIMENT={claim.experiment}"
        )
    if claim.proofs:
        return _by_proofs(claim, proofs)
    parts = weigh([part for part in claim.parts if part.decides], rows, margin)
    beside = weigh([part for part in claim.parts if not part.decides], rows, margin)
    return sum_up(claim, parts, beside, marks)


def sum_up(
    claim: Worded,
    parts: Sequence[PartDecision],
    beside: Sequence[PartDecision],
    marks: Mapping[str, str],
) -> Decision:
    """The decision that the deciding `parts` come to; `not measured` where there is none. `marks`
    says of a cell's id what is doubtful about it."""
    cells = dict.fromkeys(cell for part in parts for cell in part.cells)
    verdict: Verdict = next(
        (each for each in PRECEDENCE if any(part.verdict == each for part in parts)), "not measured"
    )
    return Decision(
        claim.id,
        claim.text,
        claim.reading,
        verdict,
        headline=_headline(verdict, parts),
        why=_why(verdict, parts),
        parts=tuple(parts),
        beside=tuple(beside),
        marked=tuple(f"{cell}: {marks[cell]}" for cell in cells if cell in marks),
    )


def _headline(verdict: Verdict, parts: Sequence[PartDecision]) -> str:
    deciding = [part for part in parts if part.verdict == verdict]
    if verdict == "not measured" and 0 < len(deciding) < len(parts):
        return f"not measured (part: {_listed(part.label for part in deciding)})"
    if verdict == "one run":
        leaning = sum(part.leans or part.verdict in AS_CLAIMED for part in parts)
        return f"one run: as claimed in {leaning} of {len(parts)} parts"
    seen = [part.comparison.could_have_seen or 1.0 for part in deciding]
    if verdict == "not detected" and any(part.expect in DIFFERENCES for part in deciding):
        return f"not detected (could have seen ≥ {100 * (max(seen) - 1):.1f} %)"
    return verdict


def _why(verdict: Verdict, parts: Sequence[PartDecision]) -> str:
    # What speaks against the claim is named before what speaks for it.
    named = sorted((part for part in parts if part.verdict == verdict), key=lambda part: part.leans)
    said = [part.comparison.lack or part.why for part in named]
    deciding = _listed(dict.fromkeys(said), "; ") or "no cell that decides is among these"
    held = sum(part.verdict in AS_CLAIMED for part in parts)
    if verdict == "not measured" and held == 0:
        return f"Not measured: {deciding}."
    if len(parts) == 1 or verdict == "one run":
        return f"{deciding[0].upper()}{deciding[1:]}."
    return f"{held} of {len(parts)} parts are as claimed. {verdict.capitalize()}: {deciding}."


def _listed(texts: Iterable[str], separator: str = ", ") -> str:
    every = list(texts)
    more = [f"and {len(every) - NAMED} more"] if len(every) > NAMED else []
    return separator.join([*every[:NAMED], *more])


def _by_proofs(claim: Claim, proofs: Sequence[Proof]) -> Decision:
    """From what the operating system saw: no numbers, so no interval."""
    wanted = [(service, name) for service, names in claim.proofs.items() for name in names]
    seen = {
        pair: [each for each in proofs if (each.service, each.strategy) == pair] for pair in wanted
    }
    denied = [
        f"{each.service} {each.strategy}"
        for found in seen.values()
        for each in found
        if each.does is False
    ]
    lacking = [
        f"{' '.join(pair)}" for pair, found in seen.items() if not any(each.does for each in found)
    ]
    if denied:
        return _simple(claim, "contradicted", f"proofs say DOES NOT: {', '.join(denied)}")
    if lacking:
        return _simple(claim, "not measured", f"no proof of {', '.join(lacking)}")
    return _simple(
        claim,
        "reproduced",
        f"the proofs of {len(wanted)} strategies say DOES, all under one and the same workload; "
        "that is all it rests on: no number was measured, and no other workload was looked at",
    )


def _simple(claim: Claim, verdict: Verdict, why: str) -> Decision:
    sentence = why[0].upper() + why[1:] + "."
    return Decision(claim.id, claim.text, claim.reading, verdict, headline=verdict, why=sentence)


def _marks(rows: Sequence[Row], proofs: Sequence[Proof]) -> dict[str, str]:
    """Cell id → what is doubtful about it: its flags, or a strategy that does not do its name."""
    denied = {
        (each.service, each.strategy, each.placement) for each in proofs if each.does is False
    }
    found = {}
    for row in rows:
        marks = (
            [flag for flag in row.flags if audit.is_doubtful((flag,))] if row.measurements else []
        )
        if (row.cell.service, row.cell.strategy, row.cell.placement) in denied:
            marks.append("its proof says DOES NOT")
        if marks:
            found[row.cell.id] = ", ".join(marks)
    return found
