"""What a run says about each claim: verdicts from data, by the tests of the claims file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from restbench.analyse import warnings
from restbench.analyse.comparison import APART
from restbench.analyse.exported import rows_of
from restbench.analyse.measures import Row
from restbench.experiment import claim_file, toml_file
from restbench.experiment.claim_file import Claim, Claims, Metric
from restbench.experiment.records import Proof
from restbench.judge import verdicts
from restbench.judge.questions import QuestionResult, asked
from restbench.judge.verdicts import (
    PRECEDENCE,
    Prospect,
    Verdict,
    detailed_text,
    ratio_text,
    verdict_text,
)
from restbench.store.exported import RunExport
from restbench.store.store import Run
from restbench.store.trials import last_block_minutes

WORDS: dict[str, str] = {
    **{name: name.rpartition("_")[0].replace("_", " ") for name in get_args(Metric)},
    **dict.fromkeys((name for name in get_args(Metric) if name.endswith("_s")), "time"),
    "throughput_per_s": "throughput",
    "wrk_per_s": "throughput under wrk",
    "mean_ms": "mean latency",
    "p95_ms": "p95",
    "cpu_ms_per_request": "CPU time per request",
    "clients_asked": "clients asked",
    "clients_same": "clients with the same value",
}
#: How many parts a sentence names at most.
NAMED = 3


@dataclass(frozen=True)
class PartDecision(QuestionResult):
    """A question of a claim, with the run's verdict on it."""

    verdict: Verdict = "not-measured"
    more_minutes: float | None = None
    """How many more minutes of the whole run would decide it; None where that is not known."""

    @property
    def decides(self) -> bool:
        """Whether the part counts for the claim's verdict. A part of a pool counts only where it
        contradicts the claim: it cannot leave the claim undecided."""
        return not self.is_pooled or self.verdict == "contradicted"

    @property
    def is_open(self) -> bool:
        """Whether more blocks could decide the question: by narrowing an interval that is wider
        than the narrowest one asked for, by a third block or a second look, or by measuring both
        cells in one block."""
        if self.verdict != "too-imprecise":
            return self.comparison.lack == APART
        return not verdicts.is_on_margin(self.comparison, self.expect)

    @property
    def prospect(self) -> Prospect | None:
        """What the estimate alone says (`verdicts.prospect`)."""
        return verdicts.prospect(self.comparison, self.expect)

    @property
    def headline(self) -> str:
        """The verdict with its half-width and minutes, where it is undecided."""
        return detailed_text(self.verdict, self.comparison, self.expect, self.more_minutes)

    @property
    def why(self) -> str:
        """A sentence without its full stop: the ratio, and the reason for the verdict."""
        if self.comparison.estimate is None:
            return f"{self.label}: {self.comparison.lack}"
        found = f"{WORDS[self.metric]} {self.label} = {ratio_text(self.comparison)}"
        if self.verdict == "not-measurable":
            return f"{found}, but {self.unmeasurable}"
        if self.verdict == "reproduced":
            study = self.study_value if self._is_of_another_size else None
            return f"{found}, where the study has {study}" if study else found
        return f"{found}: {self.headline}"

    @property
    def _is_of_another_size(self) -> bool:
        """Whether the study's value lies outside the interval by more than the margin. False where
        no difference is expected (`same`, `not greater`): the study's value is only shown there."""
        ratio, limit = self.comparison.ratio, 1 + self.comparison.margin
        if ratio is None or not self.study_value or self.expect not in verdicts.DIFFERENCES:
            return False
        return not ratio.low / limit <= self.study_value <= ratio.high * limit


@dataclass(frozen=True)
class Decision:
    """A row of the claims table."""

    id: str
    text: str
    reading: str
    verdict: Verdict
    headline: str
    """The verdict with its details: the missing parts, or the half-width and the minutes."""
    why: str
    parts: tuple[PartDecision, ...] = ()
    """The parts that decide."""
    context: tuple[PartDecision, ...] = ()
    """The parts that are only shown."""
    warned: tuple[str, ...] = ()
    """The cells behind the claim that have warnings, each with its warnings."""

    @property
    def is_open(self) -> bool:
        """Whether more blocks could decide the claim."""
        deciding = [part for part in self.parts if part.decides and part.verdict == self.verdict]
        if self.verdict != "not-measured":
            return any(part.is_open for part in deciding)
        return bool(deciding) and all(part.is_open for part in deciding)

    @property
    def cells(self) -> tuple[str, ...]:
        """The ids of all cells behind it, each once."""
        every = (*self.parts, *self.context)
        return tuple(dict.fromkeys(cell for part in every for cell in part.cells))


@dataclass(frozen=True)
class _Run:
    """The results of one run, by which the claims are judged."""

    rows: Sequence[Row]
    proofs: Sequence[Proof]
    margin: float
    block_minutes: float | None
    warned: Mapping[str, str]
    """By cell id: its warnings."""


def decisions(run: Run, rows: Sequence[Row]) -> list[Decision]:
    """The decision on each claim of a run's claims file; empty where the run has no such file."""
    if not run.claims_file.exists():
        return []
    claims = claim_file.load(run.claims_file, run.cores_allowed())
    return decide(claims, rows, run.proofs(), last_block_minutes(run.trials.blocks()))


def decisions_of(exported_run: RunExport) -> list[Decision]:
    """The decision on each claim of an exported run; empty where it has no claims file."""
    text = exported_run.experiment.claims_toml
    if text is None:
        return []
    name = f"{exported_run.run}/claims.toml"
    found = toml_file.parse(text.encode(), Claims, name, exported_run.cores_allowed)
    manifest, rows = exported_run.manifest, rows_of(exported_run)
    minutes = manifest.last_block_minutes
    if minutes is None:  # an older run: the average
        minutes = manifest.minutes / max(1, len({each.block for each in exported_run.blocks}))
    return decide(found, rows, exported_run.proofs, minutes)


def decide(
    claims: Claims,
    rows: Sequence[Row],
    proofs: Sequence[Proof],
    block_minutes: float | None = None,
) -> list[Decision]:
    """A decision for each claim, in the order of the file, from one run's rows and proofs. Without
    `block_minutes`, which one more block takes with starts and warm-up, `more_minutes` is not
    known."""
    run = _Run(rows, proofs, claims.margin, block_minutes, _warned(rows, proofs))
    found = [_decide(claim, run) for claim in claims.claims]
    trimmed = [
        replace(row, measurements=warnings.without_warned(row.measurements, row.cell.users))
        for row in rows
    ]
    if all(one.measurements == two.measurements for one, two in zip(rows, trimmed, strict=True)):
        return found
    rest = replace(run, rows=trimmed)
    return [
        _with_sensitivity_note(one, _decide(claim, rest))
        for claim, one in zip(claims.claims, found, strict=True)
    ]


def _with_sensitivity_note(found: Decision, trimmed: Decision) -> Decision:
    """The decision, with a note where it changes without the blocks that have warnings (method,
    rule 10). A claim that only becomes undecided with fewer blocks gets no note."""
    if trimmed.verdict == found.verdict or trimmed.verdict not in verdicts.DECIDED:
        return found
    reason = f"without the blocks that have warnings: {trimmed.headline}"
    return replace(found, warned=(reason, *found.warned))


def _decide(claim: Claim, run: _Run) -> Decision:
    if claim.experiment:
        elsewhere = f"it is decided by the experiment {claim.experiment}, not by this one"
        return _simple(
            claim, "not-measured", f"{elsewhere}: make bench EXPERIMENT={claim.experiment}"
        )
    if claim.proofs:
        return _by_proofs(claim, run.proofs)
    deciding, others = (
        _weigh([each for each in claim.parts if each.decides is decides], run)
        for decides in (True, False)
    )
    counted = [part for part in deciding if part.decides]
    verdict: Verdict = next(
        (each for each in PRECEDENCE if any(part.verdict == each for part in counted)),
        "not-measured",
    )
    cells = dict.fromkeys(cell for part in deciding for cell in part.cells)
    return Decision(
        claim.id,
        claim.text,
        claim.reading,
        verdict,
        headline=_headline(verdict, counted),
        why=_why(verdict, counted),
        parts=tuple(deciding),
        context=tuple(others),
        warned=tuple(f"{cell}: {run.warned[cell]}" for cell in cells if cell in run.warned),
    )


def _weigh(parts: Sequence[claim_file.Part], run: _Run) -> list[PartDecision]:
    """A decision for every question, judged together as one table. The minutes count a question's
    own blocks: not every block of the run need have measured both of its cells."""
    questions = asked(parts, run.rows, run.margin)
    found = verdicts.judge_table([(each.comparison, each.expect) for each in questions])
    return [
        PartDecision(
            **vars(each),
            verdict="not-measurable"
            if each.unmeasurable and verdict in verdicts.DECIDED
            else verdict,
            more_minutes=None
            if times is None or run.block_minutes is None
            else run.block_minutes * each.comparison.blocks * (times - 1),
        )
        for each, verdict in zip(questions, found, strict=True)
        for times in [verdicts.more_times(each.comparison, each.expect)]
    ]


def _headline(verdict: Verdict, parts: Sequence[PartDecision]) -> str:
    text = _counted(verdict, parts)
    lacking_s = {id: s for part in parts for id, s in part.percentile_s.items()}
    whole_s = sum(lacking_s.values())
    if verdict != "not-measured" or not 0 < whole_s < math.inf:
        return text
    minutes = "a minute" if whole_s <= 60 else f"{math.ceil(whole_s / 60)} minutes"
    return f"{text}; its percentiles need {minutes} of trials in each block"


def _counted(verdict: Verdict, parts: Sequence[PartDecision]) -> str:
    deciding = [part for part in parts if part.verdict == verdict]
    if verdict == "too-imprecise":
        return max(deciding, key=_more_blocks).headline
    if verdict == "not-measured" and 0 < len(deciding) < len(parts):
        return f"{verdict_text(verdict)} (part: {listed(part.label for part in deciding)})"
    if verdict == "reproduced" or len(parts) < 2:
        return verdict_text(verdict)
    return f"{verdict_text(verdict)} ({len(deciding)} of {len(parts)} parts)"


def _more_blocks(part: PartDecision) -> float:
    """How many more blocks the part needs; infinity without an interval, as that is not known."""
    if part.comparison.ratio is None:
        return math.inf
    times = verdicts.more_times(part.comparison, part.expect) or 1.0
    return part.comparison.blocks * (times - 1)


def _why(verdict: Verdict, parts: Sequence[PartDecision]) -> str:
    named = [part.comparison.lack or part.why for part in parts if part.verdict == verdict]
    deciding = listed(dict.fromkeys(named), "; ") or "this run has no cell that decides the claim"
    held = sum(part.verdict == "reproduced" for part in parts)
    if verdict == "not-measured" and held == 0:
        return f"Not measured: {deciding}."
    if len(parts) == 1:
        return f"{deciding[0].upper()}{deciding[1:]}."
    return f"{held} of {len(parts)} parts hold. {verdict_text(verdict).capitalize()}: {deciding}."


def listed(texts: Iterable[str], separator: str = ", ", most: int = NAMED) -> str:
    """The first `most` texts, and how many more there are."""
    every = list(texts)
    more = [f"and {len(every) - most} more"] if len(every) > most else []
    return separator.join([*every[:most], *more])


def _by_proofs(claim: Claim, proofs: Sequence[Proof]) -> Decision:
    """The decision from what the operating system saw: without numbers there is no interval."""
    wanted = [(service, name) for service, names in claim.proofs.items() for name in names]
    seen = {
        pair: [each.does for each in proofs if (each.service, each.strategy) == pair]
        for pair in wanted
    }
    denied = [" ".join(pair) for pair, found in seen.items() if False in found]
    lacking = [" ".join(pair) for pair, found in seen.items() if True not in found]
    if denied:
        return _simple(claim, "contradicted", f"proofs say DOES NOT: {', '.join(denied)}")
    if lacking:
        return _simple(claim, "not-measured", f"no proof of {', '.join(lacking)}")
    return _simple(
        claim,
        "reproduced",
        f"the proofs of {len(wanted)} strategies say DOES, all under the same workload; the "
        "verdict rests on these proofs alone: no number was measured, and no other workload was "
        "examined",
    )


def _simple(claim: Claim, verdict: Verdict, why: str) -> Decision:
    sentence = why[0].upper() + why[1:] + "."
    return Decision(claim.id, claim.text, claim.reading, verdict, verdict_text(verdict), sentence)


def _warned(rows: Sequence[Row], proofs: Sequence[Proof]) -> dict[str, str]:
    """By cell id: its warnings, and whether a proof says that its strategy DOES NOT."""
    denied = {each.key for each in proofs if each.does is False}
    found = {}
    for row in rows:
        reasons = [str(each) for each in row.warnings]
        if row.cell.proof_key in denied:
            reasons.append("its proof says DOES NOT")
        if reasons:
            found[row.cell.id] = ", ".join(reasons)
    return found
