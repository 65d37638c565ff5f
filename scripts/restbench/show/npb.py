"""What is shown of NAS kernels, all of it made of `run.json`: a page to read, and a table for
programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from restbench.analyse import exported, flags, npb
from restbench.analyse.measures import Row
from restbench.analyse.npb import COLUMNS, RATIOS, ratio, work
from restbench.experiment import experiment
from restbench.experiment.cell import Cell
from restbench.experiment.columns import readable
from restbench.experiment.npb import Published
from restbench.experiment.statistics import geometric_mean
from restbench.failures import BadConfiguration
from restbench.judge import study
from restbench.judge.claims import Decision
from restbench.judge.verdicts import ratio_text
from restbench.machine import machine
from restbench.show import markdown, npb_figure
from restbench.store.exported import Exported
from restbench.store.store import Run
from restbench.store.writing import write_text

#: The times and rates that a page shows of each cell.
SHOWN = ("fresh_s", "warm_s", "service_s", "client_s", "overhead_ms", "mops")
RATIOS_SHOWN = ("service/fresh", "service/warm", "client/warm")
PUBLISHED = ("Study: normal s", "Study: web service s", "Study: Mop/s", "Study: ratio")
SCALED = ("Technique", "Kernel", "Class", "Cores", "Fresh s", "Warm s", "Verified", "Blocks")
FIGURES = {
    "time": "Kernel time against cores",
    "speed-up": "Speed-up against cores",
}
HOW_TO_READ = (
    "Every number is the median over the blocks, of the median within each; a ratio has its 95 % "
    "t interval over the blocks, paired, where there are several. The kernel's own time is NPB's "
    "timed region: neither the start of a process nor the input is in it. *At client* is a whole "
    "call, the input built for it included, and is held against the process' time with its input. "
    "A fresh process has compiled nothing yet (Java) and touches its memory for the first time; "
    "that is what a long-running service does not pay."
)


@dataclass(frozen=True)
class Findings:
    """What is said of a run, wherever it is printed."""

    told: Exported
    rows: Sequence[Row]
    decisions: Sequence[Decision]
    published: Published

    @property
    def served(self) -> list[Row]:
        """The cells that have all four times."""
        return [row for row in self.rows if work(row).cores is None]

    @property
    def scaled(self) -> list[Row]:
        """The cells that look at the number of cores."""
        return [row for row in self.rows if work(row).cores is not None]


def findings(told: Exported) -> Findings:
    """The rows with the claims that were fixed before the run, and the study's table."""
    table = experiment.parse(told.experiment.toml, Path(told.run, "experiment.toml")).npb
    if table is None:
        raise BadConfiguration(f"{told.run}/experiment.toml: no table [npb]")
    rows = npb.ranked(exported.rows_of(told))
    return Findings(told, rows, study.decisions_of(told), table.published)


def write(run: Run, found: Findings) -> list[str]:
    """Write the figures, npb.md and, last, npb.csv; the names of the figures that were drawn."""
    drawn = npb_figure.write(run, found.rows)
    write_text(run.npb_markdown, document(found, [run.npb_figure(each).name for each in drawn]))
    write_text(run.npb_csv, _as_csv(found))
    return drawn


def document(found: Findings, figures: Sequence[str] = ()) -> str:
    """The page: the claim, why, the tables, the scaling, what failed."""
    told = found.told
    parts = [
        f"# {told.experiment.title}",
        f"- **Run**: {told.run}, profile {told.experiment.profile}, {told.manifest.status}\n"
        f"- **Machine**: {machine.one_line(told.described)}\n"
        f"- **Study**: {found.published.source}, on another machine: {found.published.machine}",
        "## The study's claim, held against this run",
        markdown.claims_table(found.decisions),
        "\n".join(f"- **{each.id}**: {each.reading}" for each in found.decisions),
        "## What makes the difference",
        _bullets(explanation(found.served)),
    ]
    for cell, rows in by_technique(found.served).items():
        parts += [f"## {cell.service} {cell.strategy}", _table(rows, found.published)]
    meanings = [f"**{heading}**: {meaning}" for heading, meaning in COLUMNS.values()]
    parts += [HOW_TO_READ, _bullets(meanings), *_scaling(found.scaled, figures)]
    parts += ["## What failed, or was refused", _bullets(npb.failures(found.rows))]
    parts += ["## What the warnings and notes mean", _bullets(meanings_of(found.rows))]
    return "\n\n".join(parts) + "\n"


def meanings_of(rows: Sequence[Row]) -> list[str]:
    """The warnings and notes of these rows, each with its sentence."""
    seen = dict.fromkeys(kind for row in rows for kind in study.marks(row))
    return [f"**{kind}**: {flags.explain(kind)}" for kind in seen]


def by_technique(rows: Sequence[Row]) -> dict[Cell, list[Row]]:
    """The rows of each service's strategies, under the first cell of each."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.cell.service, row.cell.strategy), []).append(row)
    return {group[0].cell: group for group in groups.values()}


def explanation(rows: Sequence[Row]) -> list[str]:
    """Why a service can look faster than normal execution, a sentence a technique: its ratio to a
    fresh process is that of warming up times that of the service itself."""
    known = [row for row in rows if all(ratio(row, name).estimate for name in RATIOS)]
    return [_sentence(cell, group) for cell, group in by_technique(known).items()]


def _sentence(cell: Cell, rows: Sequence[Row]) -> str:
    means = {
        name: geometric_mean([each for row in rows if (each := ratio(row, name).estimate)])
        for name in RATIOS
    }
    costs_ms = [each for row in rows if (each := npb.median(row, "overhead_ms")) is not None]
    return (
        f"**{cell.service} {cell.strategy}**, geometric means over {len(rows)} kernels and "
        f"classes: in the service / fresh process {means['service/fresh']:.3f} = warm / fresh "
        f"{means['warm/fresh']:.3f} (a process that has run it before) × service / warm "
        f"{means['service/warm']:.3f} (what the service itself does to it); at the client / warm "
        f"{means['client/warm']:.3f}, a call costs {median(costs_ms):.2f} ms (median; at most "
        f"{max(costs_ms):.2f} ms) beyond the kernel and its input."
    )


def _table(rows: Sequence[Row], published: Published) -> str:
    head = ["Kernel", "Class", *(COLUMNS[name][0] for name in SHOWN), "Verified"]
    head += [*RATIOS_SHOWN, *PUBLISHED, "Blocks", "Flags"]
    body = [
        [
            work(row).kernel,
            work(row).npb_class,
            *(number(npb.median(row, name)) for name in SHOWN),
            npb.verified(row),
            *(ratio_text(ratio(row, name)) for name in RATIOS_SHOWN),
            *_published(row, published),
            str(len(row.measured)),
            ", ".join(study.marks(row).values()),
        ]
        for row in rows
    ]
    return markdown.table(head, ["---", "---", *["---:"] * (len(head) - 3), "---"], body)


def _published(row: Row, published: Published) -> list[str]:
    known = published.row(row.cell.complexity)
    if known is None:
        return [""] * len(PUBLISHED)
    seconds = (number(known.normal_s), number(known.service_s))
    return [*seconds, readable(known.service_mops), readable(known.ratio)]


def _scaling(rows: Sequence[Row], figures: Sequence[str]) -> list[str]:
    if not rows:
        return []
    body = [
        [
            f"{row.cell.service} {row.cell.strategy}",
            work(row).kernel,
            work(row).npb_class,
            str(work(row).cores),
            number(npb.median(row, "fresh_s")),
            number(npb.median(row, "warm_s")),
            npb.verified(row),
            str(len(row.measured)),
        ]
        for row in rows
    ]
    titles = list(FIGURES.values())
    drawn = [f"![{title}](../figures/{name})" for title, name in zip(titles, figures, strict=False)]
    table = markdown.table(list(SCALED), ["---"] * 3 + ["---:"] * 5, body)
    return ["## Kernel time against cores, without the service", *drawn, table]


def number(value: float | None) -> str:
    """For people, three digits, wherever they stand: the smallest classes take milliseconds."""
    return "" if value is None else f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def _bullets(lines: Sequence[str]) -> str:
    return "\n".join(f"- {each}" for each in lines) or "Nothing."


def _as_csv(found: Findings) -> str:
    rows = [_record(row, found.published) for row in found.rows]
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0] if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _record(row: Row, published: Published) -> dict[str, object]:
    told: dict[str, object] = {
        "service": row.cell.service,
        "strategy": row.cell.strategy,
        "kernel": work(row).kernel,
        "class": work(row).npb_class,
        "cores": work(row).cores,
        "blocks": len(row.measured),
        "verified": npb.verified(row),
    }
    told |= {name: npb.median(row, name) for name in COLUMNS}
    for name in RATIOS:
        compared, column = ratio(row, name), name.replace("/", "_per_")
        ends = compared.ratio
        told[column] = compared.estimate
        told |= {f"{column}_low": ends and ends.low, f"{column}_high": ends and ends.high}
    known = published.row(row.cell.complexity)
    told |= {
        "study_normal_s": known and known.normal_s,
        "study_service_s": known and known.service_s,
        "study_ratio": known and known.ratio,
        "flags": " ".join(study.marks(row)),
    }
    return told
