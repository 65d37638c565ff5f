"""What is shown of an open load's limits: a page to read, two tables, a figure, and one table for
the terminal. All of it is made of `run.json`."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

from rich.table import Table

from restbench.analyse import exported, flags, limits
from restbench.analyse.limits import LATE_MS, NOTES, PERCENTILES, Limit, latency_ms
from restbench.experiment.columns import readable
from restbench.experiment.open_load import OpenLoad
from restbench.judge import study
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
#: Left to the page: the terminal is narrow.
LESS_SHOWN = ("users", "steps", "latency_ms", "failed_unsent", "failed_late")
HOW_TO_READ = (
    "Requests are sent at the moments of a schedule that was fixed before, whatever the service "
    "does; latency counts from the intended moment to the end of the answer, so a request that "
    "had to wait for a free connection, or for the load generator itself, is as slow as it was for "
    "its client. Percentiles are over all arrivals of the window; one that got no correct answer "
    "is slower than any other. In each block every technique walks to the highest rate that meets "
    "the objective, a step of each in turn, in random order; its limit lies in the middle of its "
    "bracket. *Limit* is their geometric mean over blocks, each on fresh services, *from* and *to* "
    "its 95 % interval. In every block the objective was met at *Met at*, and not at *Not met at*. "
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


def tables(found: Sequence[Limit], load: OpenLoad) -> tuple[str, str]:
    """The limits and every step, as CSV."""
    return (
        _as_csv(_factors(each) | summary(each, load) for each in found),
        _as_csv(
            _factors(each) | {"step": number} | step(tried)
            for each in found
            for walk in each.walks
            for number, tried in enumerate(walk.steps, start=1)
        ),
    )


def meanings(found: Sequence[Limit], load: OpenLoad) -> dict[str, str]:
    """The notes of these limits, each with its sentence."""
    notes = [note for each in found for note in each.notes(load.rates.resolution)]
    return {note: NOTES.get(note) or flags.explain(note) for note in notes}


def terminal(found: Sequence[Limit], load: OpenLoad) -> Table:
    """The summary for the terminal."""
    shown = [name for name in HEADINGS if name not in LESS_SHOWN]
    title = f"Highest rate with {load.objective} from the intended moment"
    table = Table(*(HEADINGS[name] for name in shown), title=title, title_justify="left")
    for each in found:
        values = summary(each, load)
        table.add_row(*(readable(values[name]) for name in shown))
    return table


def _factors(limit: Limit) -> dict[str, object]:
    return dict(limit.cell.model_dump())


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


def _as_csv(rows: Iterable[Mapping[str, object]]) -> str:
    known = list(rows)
    if not known:
        return ""
    text = io.StringIO()
    writer = csv.DictWriter(text, known[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(known)
    return text.getvalue()
