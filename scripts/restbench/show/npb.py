"""What is found of NAS kernels, made of `run.json`: their rows next to the study's table, why they
differ, and a table for programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from restbench.analyse import exported, npb
from restbench.analyse.measures import Row
from restbench.analyse.npb import COLUMNS, RATIOS, ratio, work
from restbench.experiment import experiment
from restbench.experiment.cell import Cell
from restbench.experiment.npb import Published
from restbench.experiment.statistics import geometric_mean
from restbench.failures import BadConfiguration
from restbench.judge import study
from restbench.store.exported import Exported

HOW_TO_READ = (
    "Every number is the median over the blocks, of the median within each; a ratio has its 95 % "
    "t interval over the blocks, paired, where there are several. The kernel's own time is NPB's "
    "timed region: neither the start of a process nor the input is in it. At client is a whole "
    "call, the input built for it included, and is held against the process' time with its input. "
    "A fresh process has compiled nothing yet (Java) and touches its memory for the first time; "
    "that is what a long-running service does not pay."
)


@dataclass(frozen=True)
class Kernels:
    """What is said of a run, wherever it is printed."""

    rows: Sequence[Row]
    published: Published

    @property
    def served(self) -> list[Row]:
        """The cells that have all four times."""
        return [row for row in self.rows if work(row).cores is None]

    @property
    def scaled(self) -> list[Row]:
        """The cells that look at the number of cores."""
        return [row for row in self.rows if work(row).cores is not None]


def findings(exported_run: Exported) -> Kernels:
    """The rows with the claims that were fixed before the run, and the study's table."""
    table = experiment.parse(
        exported_run.experiment.toml, Path(exported_run.run, "experiment.toml")
    ).npb
    if table is None:
        raise BadConfiguration(f"{exported_run.run}/experiment.toml: no table [npb]")
    rows = npb.ranked(exported.rows_of(exported_run))
    return Kernels(rows, table.published)


def by_technique(rows: Sequence[Row]) -> dict[Cell, list[Row]]:
    """The rows of each service's strategies, under the first cell of each."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.cell.service, row.cell.strategy), []).append(row)
    return {group[0].cell: group for group in groups.values()}


def sentence(found: Kernels) -> str:
    """What a service costs a kernel, over all that have both times."""
    parts = [
        f"{mean:.2f} times as long in the {cell.service.capitalize()} service ({cell.strategy})"
        for cell, rows in by_technique(found.served).items()
        if (mean := _mean(rows, "service/warm"))
    ]
    if not parts:
        return "No NAS kernel was measured both without HTTP and in the service."
    return f"A NAS kernel takes {', '.join(parts)} as in a warm process of its own."


def _mean(rows: Sequence[Row], name: str) -> float | None:
    known = [each for row in rows if (each := ratio(row, name).estimate)]
    return geometric_mean(known) if known else None


def sure(found: Kernels) -> str:
    """How sure the ratios are."""
    blocks = max((len(row.measured) for row in found.served), default=0)
    cells = sum(bool(row.measured) for row in found.served)
    scope = f"Geometric means over {cells} kernels and classes"
    if blocks < 2:
        return f"{scope} of one block: no interval, so no verdict."
    return f"{scope}; each ratio has its 95 % interval over {blocks} blocks."


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
        f"{cell.service.capitalize()} {cell.strategy}, geometric means over {len(rows)} kernels "
        f"and classes: in the service / fresh process {means['service/fresh']:.3f} = warm / fresh "
        f"{means['warm/fresh']:.3f} (a process that has run it before) × service / warm "
        f"{means['service/warm']:.3f} (what the service itself does to it); at the client / warm "
        f"{means['client/warm']:.3f}, a call costs {median(costs_ms):.2f} ms (median; at most "
        f"{max(costs_ms):.2f} ms) beyond the kernel and its input."
    )


def soap(rows: Sequence[Row]) -> list[str]:
    """What SOAP adds to a call, a sentence a language; shown, and no claim."""
    found = []
    for language in ("java", "python"):
        known = [each for row in rows if (each := npb.soap_ms(row, language)) is not None]
        if known:
            found.append(
                f"SOAP adds {median(known):.2f} ms to a call of the {language.capitalize()} client "
                f"(median over {len(known)} kernels and classes; at most {max(known):.2f} ms)."
            )
    return found


def number(value: float | None) -> str:
    """For people, three digits, wherever they stand: the smallest classes take milliseconds."""
    return "" if value is None else f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def as_csv(found: Kernels) -> str:
    """A line a cell, for programs."""
    rows = [_record(row, found.published) for row in found.rows]
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0] if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _record(row: Row, published: Published) -> dict[str, object]:
    fields: dict[str, object] = {
        "service": row.cell.service,
        "strategy": row.cell.strategy,
        "kernel": work(row).kernel,
        "class": work(row).npb_class,
        "cores": work(row).cores,
        "blocks": len(row.measured),
        "verified": npb.verified(row),
    }
    fields |= {name: npb.median(row, name) for name in COLUMNS}
    for name in RATIOS:
        compared, column = ratio(row, name), name.replace("/", "_per_")
        ends = compared.ratio
        fields[column] = compared.estimate
        fields |= {f"{column}_low": ends and ends.low, f"{column}_high": ends and ends.high}
    known = published.row(row.cell.complexity)
    fields |= {
        "study_normal_s": known and known.normal_s,
        "study_service_s": known and known.service_s,
        "study_ratio": known and known.ratio,
        "flags": " ".join(study.marks(row)),
    }
    return fields
