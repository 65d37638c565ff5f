"""What traces say of the claims of their experiment, in the vocabulary of `verdicts`. Pure."""

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
    """What the traces say of a claim."""

    claim: TraceClaim
    found: str
    """What they show; empty where none is long enough."""
    verdict: Verdict


def claims(
    trace: Trace, found: Mapping[str, TraceEntry], cells: Sequence[Cell]
) -> list[TraceDecision]:
    """What the traces, by the id of their cell, say of each claim; throughput and response time
    both count."""
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
    """Whether it drifts is not known where an interval tells neither; whether it oscillates is."""
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
    """`too imprecise (± 6.5 %)`: the widest of their intervals."""
    widths = [each.half_width_pct for each in columns]
    known = [each for each in widths if each is not None]
    size = f"± {max(known):.1f} %" if len(known) == len(widths) else "no interval"
    return f"too imprecise ({size})"
