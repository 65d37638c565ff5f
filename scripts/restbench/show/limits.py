"""What is shown of an open load's limits: on the page, in a terminal, and as two tables for
programs. All of it is made of `run.json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter

from restbench.analyse import exported, limits, warnings
from restbench.analyse.limits import LATE_MS, NOTES, PERCENTILES, Limit, latency_ms
from restbench.experiment.open_load import OpenLoad
from restbench.judge import study
from restbench.show import document as doc
from restbench.show import wording
from restbench.show.findings import Findings
from restbench.store.exported import Exported, StepEntry

HEADINGS = {
    "technique": "Technique",
    "complexity": "Complexity",
    "users": "In flight at most",
    "limit_per_s": "Limit /s",
    "limit_low_per_s": "from",
    "limit_high_per_s": "to",
    "blocks": "Blocks",
    "met_per_s": "Met at /s",
    "failed_per_s": "Not met at /s",
    "latency_ms": "Latency ms",
    "steps": "Steps",
    "failed_why": "What failed there",
    "failed_unsent": "Unsent there",
    "failed_late": "Late there",
    "notes": "Notes",
}
STEP_HEADINGS = {
    "block": "Block",
    "rate_per_s": "Offered /s",
    "achieved_per_s": "Answered /s",
    "arrivals": "Arrivals",
    "unsent": "Unsent",
    "late": f"Sent over {LATE_MS} ms late",
    "lateness_p95_ms": "Lateness p95 ms",
    "errors": "Errors",
    **{f"p{percent}_ms": f"p{percent} ms" for percent in PERCENTILES},
    "sent_p95_ms": "p95 ms from sending",
    "load_cpu_pct": "Load CPU %",
    "verdict": "Objective",
}
_WORDS = ("technique", "complexity", "failed_why", "notes", "verdict")
#: Left to the page: the terminal is narrow.
_LESS_SHOWN = ("users", "steps", "latency_ms", "failed_unsent", "failed_late")
HOW_TO_READ = (
    "Requests are sent at the moments of a schedule that was fixed before, whatever the service "
    "does; latency counts from the intended moment to the end of the answer, so a request that "
    "had to wait for a free connection, or for the load generator itself, is as slow as it was for "
    "its client. Percentiles are over all arrivals of the window; one that got no correct answer "
    "is slower than any other. In each block every technique walks to the highest rate that meets "
    "the objective, a step of each in turn, in random order; its limit lies in the middle of its "
    "bracket. 'Limit' is their geometric mean over blocks, each on fresh services, 'from' and "
    "'to' its 95 % interval. In every block the objective was met at the rate 'Met at', and was "
    "not at the rate 'Not met at'. "
    "This holds for windows as long as these: a service that falls behind slowly shows it only in "
    "longer ones."
)


def of(found: Exported) -> list[Limit]:
    """The limits of a run's cells, in the order of the experiment's file."""
    rows = exported.rows_of(found)
    said = {
        row.cell.id: (
            tuple(each for each in row.flags if each != "errors"),
            next((each.reason for each in row.measurements if each.reason), None),
        )
        for row in rows
    }
    return limits.limits([row.cell for row in rows], found.steps, said)


def sure(found: Sequence[Limit]) -> str:
    """How sure the limits are."""
    blocks = max((len(each.limits_per_s) for each in found), default=0)
    if blocks < 2:
        return "One block has no interval: this is an order, no verdict."
    return (
        f"Each rate is the geometric mean over {blocks} blocks, with its 95 % interval in brackets."
    )


def sentence(found: Sequence[Limit], load: OpenLoad) -> str:
    """`Requests per second with p95 <= 200 ms: at low java serial 940 [900, 980], then ...`"""
    known = sorted(
        (each for each in found if each.limit_per_s), key=lambda each: -(each.limit_per_s or 0.0)
    )
    groups = wording.grouped(known, lambda each: each.cell.complexity)
    parts = [f"at {level} {', then '.join(map(_said, group))}" for level, group in groups.items()]
    if not parts:
        return f"No technique met {load.objective} at any rate that was offered."
    return f"Requests per second with {load.objective}: {'; '.join(parts)}."


def _said(each: Limit) -> str:
    ends = (each.interval.low, each.interval.high) if each.interval else (None, None)
    rate = wording.with_ends(each.limit_per_s, *ends)
    return f"{each.cell.service} {each.cell.strategy} {rate}"


def page(found: Findings) -> doc.Section | None:
    """The table of limits, the chart of steps, and, folded, every step."""
    if (load := found.definition.open) is None:
        return None
    known = of(found.run)
    steps = [_steps(each) for each in known if any(walk.steps for walk in each.walks)]
    reasons = {each.cell.id: each.reason for each in known if each.reason}
    notes = _meanings(known, load)
    return doc.section(
        "limits",
        f"The highest rate with {load.objective}",
        doc.Text(
            f"At most {100 * load.objective.unsent_max_share:.1f} % of the arrivals unsent, no "
            f"errors; arrivals: {load.arrivals}."
        ),
        *found.figures("open-load"),
        _summaries("The highest rate of each technique", known, load),
        doc.Terms(notes) if notes else None,
        doc.Terms(reasons) if reasons else None,
        doc.Text(HOW_TO_READ),
        doc.section("steps", "Every step", *steps, folded=True),
    )


def terminal(known: Sequence[Limit], load: OpenLoad) -> doc.Table:
    """The summary without what is left to the page."""
    title = f"Highest rate with {load.objective} from the intended moment"
    return _summaries(title, known, load, left_out=_LESS_SHOWN)


def _summaries(
    caption: str, known: Sequence[Limit], load: OpenLoad, left_out: Sequence[str] = ()
) -> doc.Table:
    shown = {name: heading for name, heading in HEADINGS.items() if name not in left_out}
    return doc.table(caption, _columns(shown), (summary(each, load) for each in known))


def _steps(limit: Limit) -> doc.Table:
    caption = f"{study.technique(limit.cell)}, {limit.cell.complexity}"
    tried = (step(each) for walk in limit.walks for each in walk.steps)
    return doc.table(caption, _columns(STEP_HEADINGS), tried)


def _columns(headings: Mapping[str, str]) -> list[doc.Column[Mapping[str, object]]]:
    return [
        doc.Column(heading, itemgetter(name), is_number=name not in _WORDS)
        for name, heading in headings.items()
    ]


def records(
    found: Sequence[Limit], load: OpenLoad
) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """The limits and every step, for programs."""
    return (
        [each.cell.model_dump() | summary(each, load) for each in found],
        [
            each.cell.model_dump() | {"step": number} | step(tried)
            for each in found
            for walk in each.walks
            for number, tried in enumerate(walk.steps, start=1)
        ],
    )


def _meanings(found: Sequence[Limit], load: OpenLoad) -> dict[str, str]:
    """The notes of these limits, each with its sentence."""
    notes = [note for each in found for note in each.notes(load.rates.resolution)]
    return {note: NOTES.get(note) or warnings.explain(note) for note in notes}


def summary(limit: Limit, load: OpenLoad) -> dict[str, object]:
    """A limit under HEADINGS."""
    failed, interval = limit.failed, limit.interval
    return {
        "technique": study.technique(limit.cell),
        "complexity": limit.cell.complexity,
        "users": limit.cell.users,
        "limit_per_s": _rounded(limit.limit_per_s),
        "limit_low_per_s": _rounded(interval.low if interval else None),
        "limit_high_per_s": _rounded(interval.high if interval else None),
        "blocks": len(limit.limits_per_s),
        "met_per_s": limit.met_per_s,
        "failed_per_s": limit.failed_per_s,
        "latency_ms": limit.met_latency_ms(load.objective.percentile),
        "steps": sum(len(each.steps) for each in limit.walks),
        "failed_why": "; ".join(failed.reasons) if failed else "",
        "failed_unsent": failed.unsent if failed else None,
        "failed_late": failed.late if failed else None,
        "notes": " ".join(limit.notes(load.rates.resolution)),
    }


def step(tried: StepEntry) -> dict[str, object]:
    """A step under STEP_HEADINGS."""
    values = {
        name: getattr(tried, name) for name in STEP_HEADINGS if name in StepEntry.model_fields
    }
    reached = {f"p{percent}_ms": latency_ms(tried, percent) for percent in PERCENTILES}
    values |= reached | {"verdict": "; ".join(tried.reasons) or "met"}
    return {name: values[name] for name in STEP_HEADINGS}


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")
