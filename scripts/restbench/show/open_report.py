"""Writes what an open-load run has found: a page to read, two tables, and one for the terminal."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

from rich.table import Table

from restbench.analyse.open_results import LATE_MS, StepResult, WalkResult, explain
from restbench.experiment import open_experiment
from restbench.experiment.columns import readable
from restbench.experiment.objective import Objective
from restbench.judge import study
from restbench.store.store import Run
from restbench.store.writing import write_text

PERCENTILES = (50, 90, 95, 99)
HEADINGS = {
    "technique": "Technique",
    "complexity": "Complexity",
    "users": "In flight at most",
    "met_per_s": "Met at /s",
    "failed_per_s": "Not met at /s",
    "latency_ms": "Latency ms",
    "closed_per_s": "Closed loop /s",
    "steps": "Steps",
    "failed_why": "What failed there",
    "failed_unsent": "Unsent there",
    "failed_late": "Late there",
    "notes": "Notes",
}
STEP_HEADINGS = {
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
LESS_SHOWN = ("users", "closed_per_s", "steps", "failed_unsent", "failed_late")
FIGURE = "![Latency against the offered rate](../figures/open-load.svg)"
HOW_TO_READ = (
    "Requests are sent at the moments of a schedule that was fixed before, whatever the service "
    "does; latency counts from the intended moment to the end of the answer, so a request that "
    "had to wait for a free connection, or for the load generator itself, is as slow as it was for "
    "its client. Percentiles are over all arrivals of the window; one that got no correct answer "
    "is slower than any other. *Met at* is the highest rate whose steps met the objective, *Not "
    "met at* the lowest whose steps did not: the limit lies between. It holds for windows as "
    "long as these: a service that falls behind slowly shows it only in longer ones."
)


def write(run: Run, results: Sequence[WalkResult]) -> None:
    """Write open-load.md, open-load.csv and open-load-steps.csv from what `results` holds."""
    write_text(run.open_load_markdown, document(run, results))
    write_text(run.open_load_csv, _as_csv(_factors(each) | _summary(each) for each in results))
    write_text(
        run.open_load_steps_csv,
        _as_csv(
            _factors(each) | {"step": step.step.number} | _step(step)
            for each in results
            for step in each.steps
        ),
    )


def document(run: Run, results: Sequence[WalkResult]) -> str:
    """The page: the answer first, then every step."""
    manifest = run.manifest()
    experiment = open_experiment.load(run.experiment_file)
    parts = [
        f"# {manifest.title}",
        f"- **Run**: {manifest.run}, {manifest.status}; {len(results)} of {len(manifest.plan)} "
        f"walks\n- **Machine**: {study.machine_line(run)}\n- **Objective**: "
        f"{experiment.objective}, from the intended moment; at most "
        f"{experiment.objective.unsent_max_share:.1%} unsent, no errors\n- **Arrivals**: "
        f"{experiment.arrivals}, seed {experiment.seed}",
        _markdown(HEADINGS, [_summary(each) for each in results]),
        HOW_TO_READ,
        FIGURE if run.open_load_figure.exists() else "",
        "\n".join(f"- **{note}**: {text}" for note, text in meanings(results).items()),
    ]
    for each in results:
        parts += [f"## {each.cell.id}", each.walk.reason or ""]
        parts.append(_markdown(STEP_HEADINGS, [_step(step) for step in each.steps]))
    return "\n\n".join(part for part in parts if part) + "\n"


def meanings(results: Sequence[WalkResult]) -> dict[str, str]:
    """The notes of these walks, each with its sentence."""
    return {note: explain(note) for each in results for note in each.notes}


def terminal(results: Sequence[WalkResult], objective: Objective) -> Table:
    """The summary for the terminal."""
    shown = [name for name in HEADINGS if name not in LESS_SHOWN]
    title = f"Highest rate with {objective} from the intended moment"
    table = Table(*(HEADINGS[name] for name in shown), title=title, title_justify="left")
    for each in results:
        summary = _summary(each)
        table.add_row(*(readable(summary[name]) for name in shown))
    return table


def _factors(result: WalkResult) -> dict[str, object]:
    return dict(result.cell.model_dump())


def _summary(result: WalkResult) -> dict[str, object]:
    failed = result.failed
    return {
        "technique": study.technique(result.cell),
        "complexity": result.cell.complexity,
        "users": result.cell.users,
        "met_per_s": result.bracket.met_per_s,
        "failed_per_s": result.bracket.failed_per_s,
        "latency_ms": result.met_latency_ms,
        "closed_per_s": result.walk.closed_per_s,
        "steps": len(result.steps),
        "failed_why": "; ".join(failed.reasons) if failed else "",
        "failed_unsent": failed.answered.unsent if failed else None,
        "failed_late": failed.late if failed else None,
        "notes": " ".join(result.notes),
    }


def _step(result: StepResult) -> dict[str, object]:
    answered = result.answered
    return {
        "rate_per_s": result.step.rate_per_s,
        "achieved_per_s": round(answered.achieved_per_s, 1),
        "arrivals": answered.arrivals,
        "unsent": answered.unsent,
        "late": result.late,
        "lateness_p95_ms": answered.lateness_ms.supported_percentile(95),
        "errors": answered.errors,
        **{
            f"p{percent}_ms": answered.latency_ms.supported_percentile(percent)
            for percent in PERCENTILES
        },
        "sent_p95_ms": answered.from_sending_ms.supported_percentile(95),
        "load_cpu_pct": result.step.load_cpu_pct,
        "verdict": "; ".join(result.reasons) or "met",
    }


def _markdown(headings: Mapping[str, str], rows: Iterable[Mapping[str, object]]) -> str:
    lines = [list(headings.values()), ["---"] * len(headings)]
    lines += [[readable(row[name]) for name in headings] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _as_csv(rows: Iterable[Mapping[str, object]]) -> str:
    known = list(rows)
    if not known:
        return ""
    text = io.StringIO()
    writer = csv.DictWriter(text, known[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(known)
    return text.getvalue()
