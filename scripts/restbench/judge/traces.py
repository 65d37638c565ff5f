"""Verdicts on an experiment's claims about traces, in the vocabulary of `judge.verdicts`. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from restbench.analyse.trace import MOST_CV, drift
from restbench.experiment.cell import Cell
from restbench.experiment.trace import Steadiness, Trace, TraceClaim
from restbench.judge.verdicts import Verdict
from restbench.store.traces import SteadyEntry, TraceEntry


@dataclass(frozen=True)
class TraceDecision:
    """The verdict of the traces on a claim."""

    claim: TraceClaim
    found: str
    """What the traces show; empty where none is long enough."""
    verdict: Verdict


def claims(
    trace: Trace, found: Mapping[str, TraceEntry], cells: Sequence[Cell]
) -> list[TraceDecision]:
    """The decision on each claim by throughput and response time of the traces by cell id."""
    return [
        _claim(
            claim,
            [
                its
                for cell in cells
                if claim.where.matches(cell)
                and (its := found.get(cell.id))
                and its.seconds >= claim.least_s
            ],
        )
        for claim in trace.claims
    ]


def _claim(claim: TraceClaim, its: Sequence[TraceEntry]) -> TraceDecision:
    """The decision on one claim. Whether a trace drifts is unknown where an interval is too wide to
    decide; whether it oscillates is always known."""
    columns = [each for one in its for each in (one.throughput, one.response) if each]
    if not columns:
        return TraceDecision(claim, "", "not-measured")
    drifts = [drift(each.low, each.high) for each in columns]
    unsure = None if "too-imprecise" in drifts else False
    seen: dict[Steadiness, bool | None] = {
        "drifting": "drifting" in drifts or unsure,
        "oscillating": any(each.cv > MOST_CV for each in columns),
    }
    is_other = any(seen.values())
    seen["steady"] = None if seen["drifting"] is None and not is_other else not is_other
    shown = " and ".join(kind for kind, is_so in seen.items() if is_so)
    verdicts: dict[bool | None, Verdict] = {
        True: "reproduced",
        False: "contradicted",
        None: "too-imprecise",
    }
    return TraceDecision(
        claim, shown or f"drift {imprecise(columns)}", verdicts[seen[claim.expect]]
    )


def imprecise(columns: Iterable[SteadyEntry]) -> str:
    """`too imprecise (± 6.5 %)`, with the half-width of the widest interval."""
    widths = [each.half_width_pct for each in columns]
    known = [each for each in widths if each is not None]
    size = f"± {max(known):.1f} %" if len(known) == len(widths) else "no interval"
    return f"too imprecise ({size})"
