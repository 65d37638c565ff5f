"""The results of NAS kernels, from `run.json`: their rows next to the study's table, why the times
differ, and a table for programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from restbench.analyse import npb
from restbench.analyse.comparison import series
from restbench.analyse.measures import Row
from restbench.analyse.npb import COLUMNS, RATIOS, ratio, work
from restbench.experiment.columns import readable
from restbench.experiment.npb import Npb, PublishedRow, PublishedTable
from restbench.experiment.statistics import geometric_mean
from restbench.grouping import grouped
from restbench.judge import study, trust
from restbench.judge.verdicts import ratio_text
from restbench.show import document as doc
from restbench.show import wording
from restbench.show.charts import npb as pictures
from restbench.show.charts.npb import technique
from restbench.show.findings import Findings, View

#: The times and rates that are shown of each cell.
_SHOWN = ("fresh_s", "warm_s", "service_s", "client_s", "overhead_ms", "mops")
_RATIOS = ("service/fresh", "service/warm", "client/warm")
_LANGUAGES = ("java", "python")
#: Our times that are shown next to the study's numbers.
_OURS = ("fresh_s", "warm_s", "java_rest_s", "java_soap_s", "python_soap_s")
_WRONG = " (no result)"
_NO_RESULT = (
    "Seconds times Mop/s must equal the kernel's count of operations, except for rounding. Where "
    "they do not, the study's two numbers cannot come from one run: no result. The study's "
    "screenshots (Screen s) also show the kernel's time in the web service. The study had its own "
    "machine and clients, so only ratios can be compared."
)
HOW_TO_READ = (
    "Every number is the median over the blocks, of the median within each block. A ratio is "
    "paired by block, and has a 95 % t interval where there are several blocks. The kernel's own "
    "time is NPB's timed region, which contains neither the start of a process nor the generation "
    "of the input. 'At client' is a whole call, including the generation of its input; it is "
    "compared with the time of the process including its input. A fresh process has compiled "
    "nothing yet (Java) and touches its memory for the first time; a long-running service does "
    "not pay for this."
)


@dataclass(frozen=True)
class Kernels:
    """The data of this view: the rows of a run, and the table that the study published."""

    rows: Sequence[Row]
    published: PublishedTable

    @property
    def served(self) -> list[Row]:
        """The cells that have all four times."""
        return [row for row in self.rows if work(row).cores is None]

    @property
    def scaled(self) -> list[Row]:
        """The cells that were measured on a given number of cores."""
        return [row for row in self.rows if work(row).cores is not None]


def of(found: Findings) -> Kernels:
    """The rows in the order of `npb.ranked`, and the study's table from the experiment's file."""
    return Kernels(npb.ranked(found.rows), found.definition.table(Npb).published)


def sentence(found: Kernels) -> str:
    """What a service costs a kernel: geometric means over all rows that have both times."""
    parts = [
        f"{mean:.2f} ({name})"
        for name, rows in grouped(found.served, technique).items()
        if (mean := _mean(rows, "service/warm"))
    ]
    if not parts:
        return "No NAS kernel was measured both without HTTP and in the service."
    return (
        f"A NAS kernel takes {', '.join(parts)} times as long in the service as in a warm process "
        "of its own."
    )


def _mean(rows: Sequence[Row], name: str) -> float:
    """The geometric mean of a ratio over the rows that have it; 0 where none has."""
    known = [each for row in rows if (each := ratio(row, name).estimate)]
    return geometric_mean(known) if known else 0.0


def sure(found: Kernels) -> str:
    """How sure the ratios are."""
    each_of = (ratio(row, name).blocks for row in found.served for name in RATIOS)
    known = [blocks for blocks in each_of if blocks]
    kinds = {row.cell.complexity for row in found.served if row.measured}
    scope = f"Geometric means over {len(kinds)} kernels and classes"
    if max(known, default=0) < 2:
        return f"{scope} of one block: no interval, so no verdict."
    alone = ", except those of one block" * (min(known) < 2)
    return f"{scope}; each ratio has its 95 % interval over {trust.blocks_of(known)}{alone}."


def explanation(rows: Sequence[Row]) -> list[str]:
    """Why a service can look faster than normal execution, a sentence per technique: its ratio to a
    fresh process is the effect of warming up times the effect of the service itself."""
    known = [row for row in rows if all(ratio(row, name).estimate for name in RATIOS)]
    return [_sentence(*each) for each in grouped(known, technique).items()]


def _sentence(name: str, rows: Sequence[Row]) -> str:
    means = {name: _mean(rows, name) for name in RATIOS}
    costs_ms = [each for row in rows if (each := series(row, "overhead_ms").median) is not None]
    return (
        f"{name}, geometric means over {len(rows)} kernels and classes: in the service / "
        f"fresh process {means['service/fresh']:.3f} = warm / fresh "
        f"{means['warm/fresh']:.3f} (the effect of warming up) × service / warm "
        f"{means['service/warm']:.3f} (the effect of the service itself); at the client / warm "
        f"{means['client/warm']:.3f}; a call costs {median(costs_ms):.2f} ms (median; at most "
        f"{max(costs_ms):.2f} ms) more than the kernel and its input."
    )


def soap(rows: Sequence[Row]) -> list[str]:
    """What SOAP adds to a call, a sentence per language; it is shown, but not tested as a claim."""
    found = []
    for language in _LANGUAGES:
        known = [each for row in rows if (each := npb.soap_ms(row, language)) is not None]
        if known:
            found.append(
                f"SOAP adds {median(known):.2f} ms to a call of the {language.capitalize()} client "
                f"(median over {len(known)} kernels and classes; at most {max(known):.2f} ms)."
            )
    return found


def page(found: Findings, its: Kernels) -> doc.Section | None:
    """Why a service can look faster, the times of each technique, and the scaling over cores."""
    return doc.section(
        "npb",
        "NAS kernels in a process of their own and in the service",
        [*explanation(its.served), *soap(its.served)],
        *found.figures("npb"),
        *doc.table_each("seconds", _times(its.published), its.served, technique),
        _clients(its.served),
        _of_study(its),
        _NO_RESULT,
        f"{HOW_TO_READ} The study: {its.published.source}, on {its.published.machine}.",
        doc.table("Without the service, by cores", _SCALED, its.scaled),
        doc.section(
            "npb-failures", "What failed, was refused or had no time", npb.failures(its.rows)
        ),
        doc.section("npb-columns", "What the columns mean", dict(COLUMNS.values()), folded=True),
    )


def terminal(found: Kernels) -> list[doc.Table | str]:
    """A table of 100 columns per technique, and why the times differ."""
    published = found.published
    numbers = ("fresh_s", "warm_s", "service_s", "client_s", "mops")
    headings = ("Fresh", "Warm", "In service", "At client", "Mop/s")
    columns: list[doc.Column[Row]] = [
        doc.Column("", lambda row: row.cell.complexity),
        *(_time(*each) for each in zip(headings, numbers, strict=True)),
        doc.Column("", lambda row: _SHORT.get(npb.verified(row), npb.verified(row))),
        doc.number("svc/fresh", lambda row: ratio(row, "service/fresh").estimate),
        doc.number("svc/warm", lambda row: ratio(row, "service/warm").estimate),
        _study("Study", published, lambda its: its.ratio),
    ]
    caption = "seconds, medians; study on its own machine"
    tables = doc.table_each(caption, columns, found.served, technique)
    return [*tables, *explanation(found.served), *soap(found.served)]


def rounded(value: float | None) -> str:
    """A number for people, in three significant digits: the smallest classes take milliseconds."""
    return "" if value is None else f"{value:.0f}" if abs(value) >= 999.5 else f"{value:.3g}"


def _time(heading: str, name: str) -> doc.Column[Row]:
    return doc.number(heading, lambda row: rounded(series(row, name).median))


def _ratio(name: str) -> doc.Column[Row]:
    return doc.number(name, lambda row: ratio_text(ratio(row, name)))


def _named(names: Sequence[str]) -> list[doc.Column[Row]]:
    return [_time(COLUMNS[name][0], name) for name in names]


def _verified(row: Row) -> doc.Field:
    text = npb.verified(row)
    return doc.Field(text, doc.BAD if text == "NO" else "")


def _study(
    heading: str, published: PublishedTable, of: Callable[[PublishedRow], object]
) -> doc.Column[Row]:
    """A column of the study's values by kernel and class; empty where none is published."""
    known = {level: of(its) for level, its in published.rows.items()}
    return doc.number(heading, lambda row: known.get(row.cell.complexity))


_SHORT = {"yes": "ok", "not measured": "-"}
_KERNEL: doc.Column[Row] = doc.Column("Kernel", lambda row: work(row).kernel)
_CLASS: doc.Column[Row] = doc.Column("Class", lambda row: work(row).npb_class)
_BLOCKS: doc.Column[Row] = doc.number("Blocks", lambda row: len(row.measured))
_SCALED: Sequence[doc.Column[Row]] = (
    doc.Column("Technique", lambda row: f"{row.cell.service} {row.cell.strategy}"),
    _KERNEL,
    _CLASS,
    doc.number("Cores", lambda row: work(row).cores),
    *_named(("fresh_s", "warm_s")),
    doc.Column("Verified", npb.verified),
    _BLOCKS,
)


def _times(published: PublishedTable) -> list[doc.Column[Row]]:
    return [
        doc.Column("Kernel", lambda row: doc.cell_link(row.cell, work(row).kernel)),
        _CLASS,
        *_named(_SHOWN),
        doc.Column("Verified", _verified),
        *map(_ratio, _RATIOS),
        _study("Study: normal s", published, lambda its: rounded(its.normal_s)),
        _study("Study: web service s", published, lambda its: rounded(its.service_s)),
        _study("Study: Mop/s", published, lambda its: its.service_mops),
        _study("Study: ratio", published, lambda its: its.ratio),
        _BLOCKS,
        doc.Column("Warnings and notes", doc.remarks),
    ]


def _clients(rows: Sequence[Row]) -> doc.Table:
    """The times of each client at the same warm service, and what SOAP adds to a call."""
    known = [row for row in rows if series(row, "clients_asked").median]

    def same(row: Row) -> str:
        counts = (series(row, f"clients_{each}").median for each in ("same", "asked"))
        return " of ".join(map(rounded, counts))

    columns: list[doc.Column[Row]] = [
        _KERNEL,
        _CLASS,
        *_named([name for name in COLUMNS if name.startswith(("java_", "python_"))]),
        *map(_soap, _LANGUAGES),
        doc.Column("Same value", same),
    ]
    return doc.table("Called by clients in two languages, over REST and SOAP", columns, known)


def _soap(language: str) -> doc.Column[Row]:
    heading = f"SOAP adds, {language.capitalize()} ms"
    return doc.number(heading, lambda row: rounded(npb.soap_ms(row, language)))


def _of_study(found: Kernels) -> doc.Table:
    """The study's two columns and its screenshots next to our times; a rate that cannot belong to
    its time is marked."""
    published = found.published
    ours = {row.cell.complexity: row for row in found.served if series(row, "java_soap_s").median}

    def mops(level: str, seconds: float, value: float) -> str:
        mark = "" if published.is_result(level, seconds, value) else _WRONG
        return f"{readable(value)}{mark}"

    def own(name: str) -> doc.Column[tuple[str, PublishedRow]]:
        return doc.number(
            f"Ours: {COLUMNS[name][0]}",
            lambda of: rounded(series(ours[of[0]], name).median) if of[0] in ours else "",
        )

    columns: list[doc.Column[tuple[str, PublishedRow]]] = [
        doc.Column("Class", lambda of: of[0]),
        doc.number("Normal s", lambda of: rounded(of[1].normal_s)),
        doc.number("Normal Mop/s", lambda of: mops(of[0], of[1].normal_s, of[1].normal_mops)),
        doc.number("Web service s", lambda of: rounded(of[1].service_s)),
        doc.number(
            "Web service Mop/s", lambda of: mops(of[0], of[1].service_s, of[1].service_mops)
        ),
        doc.number("Screen s", lambda of: rounded(published.screens_s.get(of[0]))),
        *map(own, _OURS),
    ]
    levels = list(published.rows.items())
    return doc.table("The study's numbers, recomputed, and ours", columns, levels)


def _record(row: Row, published: PublishedTable) -> dict[str, object]:
    fields: dict[str, object] = {
        "service": row.cell.service,
        "strategy": row.cell.strategy,
        "kernel": work(row).kernel,
        "class": work(row).npb_class,
        "cores": work(row).cores,
        "blocks": len(row.measured),
        "verified": npb.verified(row),
    }
    fields |= {name: series(row, name).median for name in COLUMNS}
    for name in RATIOS:
        fields |= wording.fields(name.replace("/", "_per_"), ratio(row, name))
    known = published.rows.get(row.cell.complexity)
    fields |= {
        "study_normal_s": known and known.normal_s,
        "study_service_s": known and known.service_s,
        "study_ratio": known and known.ratio,
        "flags": " ".join(study.warnings_and_notes(row)),
    }
    return fields


VIEW = View(
    of,
    page,
    sentence,
    sure,
    lambda its: pictures.charts(its.rows),
    terminal,
    lambda run, its: {run.npb_csv: [_record(row, its.published) for row in its.rows]},
)
