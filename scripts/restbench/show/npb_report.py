"""Writes what an NPB run has found: a page to read, and a table for programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from restbench.analyse.npb_results import COLUMNS, NpbRow, failures, meanings
from restbench.experiment import npb_experiment, npb_published
from restbench.experiment.cell import Cell
from restbench.experiment.columns import readable
from restbench.experiment.npb_published import Published
from restbench.judge import npb, study
from restbench.judge.claims import Decision
from restbench.show import markdown
from restbench.store.store import Run
from restbench.store.writing import write_text

#: The times and rates that a page shows of each cell.
SHOWN = ("fresh_s", "warm_s", "service_s", "client_s", "overhead_ms", "mops")
RATIOS_SHOWN = ("service/fresh", "service/warm", "client/warm")
PUBLISHED = ("Study: normal s", "Study: web service s", "Study: Mop/s", "Study: ratio")
FIGURES = {
    "time": "Kernel time against cores",
    "speed-up": "Speed-up against cores",
}
HOW_TO_READ = (
    "Every number is the median over the rounds, of the median within each; a ratio has its 95 % "
    "t interval over the rounds, paired, where there are several. The kernel's own time is NPB's "
    "timed region: neither the start of a process nor the input is in it. *At client* is a whole "
    "call, the input built for it included, and is held against the process' time with its input. "
    "A fresh process has compiled nothing yet (Java) and touches its memory for the first time; "
    "that is what a long-running service does not pay."
)


@dataclass(frozen=True)
class Findings:
    """What is told of a run, wherever it is printed."""

    rows: Sequence[NpbRow]
    decisions: Sequence[Decision]
    published: Published

    @property
    def served(self) -> list[NpbRow]:
        """The cells that have all four times."""
        return [row for row in self.rows if row.work.cores is None]

    @property
    def scaled(self) -> list[NpbRow]:
        """The cells that look at the number of cores."""
        return [row for row in self.rows if row.work.cores is not None]


def findings(run: Run, rows: Sequence[NpbRow]) -> Findings:
    """The rows with the claims that were fixed before the run, and the study's table."""
    published = npb_published.load(run.published_file)
    experiment = npb_experiment.load(run.experiment_file)
    expected = experiment.cells_of(experiment.profile(run.manifest().profile))
    claims = npb.load(run.claims_file)
    return Findings(rows, npb.decide(claims, rows, published, expected), published)


def write(run: Run, found: Findings) -> None:
    """Write npb.md, then npb.csv."""
    write_text(run.npb_markdown, document(run, found))
    write_text(run.npb_csv, _as_csv(found))


def document(run: Run, found: Findings) -> str:
    """The page: the claim, why, the tables, the scaling, what failed."""
    manifest = run.manifest()
    parts = [
        f"# {manifest.title}",
        f"- **Run**: {manifest.run}, profile {manifest.profile}, {manifest.status}\n"
        f"- **Machine**: {study.machine_line(run.machine())}\n"
        f"- **Study**: {found.published.source}, on another machine: {found.published.machine}",
        "## The study's claim, held against this run",
        _claims(found.decisions),
        "\n".join(f"- **{each.id}**: {each.reading}" for each in found.decisions),
        "## What makes the difference",
        _bullets(npb.explanation(found.rows)),
    ]
    for cell, rows in by_technique(found.served).items():
        parts += [f"## {cell.service} {cell.strategy}", _table(rows, found.published)]
    parts += [HOW_TO_READ, _bullets([f"**{c.heading}**: {c.meaning}" for c in COLUMNS.values()])]
    parts += _scaling(run, found)
    parts += ["## What failed, or was refused", _bullets(failures(found.rows))]
    flags = [f"**{flag}**: {text}" for flag, text in meanings(found.rows).items()]
    return "\n\n".join([*parts, "## What the flags mean", _bullets(flags)]) + "\n"


def _claims(decisions: Sequence[Decision]) -> str:
    body = [[each.id, each.text, f"**{each.headline}**", each.why] for each in decisions]
    return markdown.table(["Claim", "What it says", "Verdict", "Why"], ["---"] * 4, body)


def by_technique(rows: Sequence[NpbRow]) -> dict[Cell, list[NpbRow]]:
    """The rows of each service's strategies, under the first cell of each."""
    groups: dict[tuple[str, str], list[NpbRow]] = {}
    for row in rows:
        groups.setdefault((row.cell.service, row.cell.strategy), []).append(row)
    return {group[0].cell: group for group in groups.values()}


def _table(rows: Sequence[NpbRow], published: Published) -> str:
    head = ["Kernel", "Class", *(COLUMNS[name].heading for name in SHOWN), "Verified"]
    head += [*RATIOS_SHOWN, *PUBLISHED, "Rounds", "Flags"]
    body = [
        [
            row.work.kernel,
            row.work.npb_class,
            *(number(row.median(name)) for name in SHOWN),
            row.verified,
            *(npb.shown(row, name) for name in RATIOS_SHOWN),
            *_published(row, published),
            str(len(row.rounds)),
            ", ".join(row.flags),
        ]
        for row in rows
    ]
    return markdown.table(head, ["---", "---", *["---:"] * (len(head) - 3), "---"], body)


def _published(row: NpbRow, published: Published) -> list[str]:
    known = published.row(row.work.level)
    if known is None:
        return [""] * len(PUBLISHED)
    seconds = (number(known.normal_s), number(known.service_s))
    return [*seconds, readable(known.service_mops), readable(known.ratio)]


def _scaling(run: Run, found: Findings) -> list[str]:
    if not found.scaled:
        return []
    head = ["Technique", "Kernel", "Class", "Cores", "Fresh s", "Warm s", "Verified", "Rounds"]
    body = [
        [
            f"{row.cell.service} {row.cell.strategy}",
            row.work.kernel,
            row.work.npb_class,
            str(row.work.cores),
            number(row.median("fresh_s")),
            number(row.median("warm_s")),
            row.verified,
            str(len(row.rounds)),
        ]
        for row in found.scaled
    ]
    drawn = [
        f"![{title}](../figures/{run.npb_figure(name).name})"
        for name, title in FIGURES.items()
        if run.npb_figure(name).exists()
    ]
    marks = ["---"] * 3 + ["---:"] * 5
    table = markdown.table(head, marks, body)
    return ["## Kernel time against cores, without the service", *drawn, table]


def number(value: float | None) -> str:
    """For people, three digits, wherever they stand: the smallest classes take milliseconds."""
    return "" if value is None else f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def _bullets(lines: Sequence[str]) -> str:
    return "\n".join(f"- {each}" for each in lines) or "Nothing."


def _as_csv(found: Findings) -> str:
    rows = [_factors(row) | _values(row, found.published) for row in found.rows]
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0] if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _factors(row: NpbRow) -> dict[str, object]:
    return {
        "service": row.cell.service,
        "strategy": row.cell.strategy,
        "kernel": row.work.kernel,
        "class": row.work.npb_class,
        "cores": row.work.cores,
        "rounds": len(row.rounds),
        "verified": row.verified,
    }


def _values(row: NpbRow, published: Published) -> dict[str, object]:
    found: dict[str, object] = {name: row.median(name) for name in COLUMNS}
    for name in npb.RATIOS:
        ends: Mapping[str, object] = npb.ends(npb.ratio(row, name))
        found |= {f"{name.replace('/', '_per_')}{end}": value for end, value in ends.items()}
    known = published.row(row.work.level)
    found |= {
        "study_normal_s": known.normal_s if known else None,
        "study_service_s": known.service_s if known else None,
        "study_ratio": known.ratio if known else None,
        "flags": " ".join(row.flags),
    }
    return found
