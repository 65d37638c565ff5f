"""NAS kernels, without HTTP and in the service, next to the study's table."""

from __future__ import annotations

from collections.abc import Sequence

from restbench.analyse import npb
from restbench.analyse.measures import Row
from restbench.analyse.npb import COLUMNS, ratio, work
from restbench.experiment.columns import readable
from restbench.experiment.npb import Published
from restbench.judge import study
from restbench.judge.verdicts import ratio_text
from restbench.show.document import (
    BAD,
    Bullets,
    Field,
    Link,
    Section,
    Table,
    Terms,
    Text,
    section,
    table,
)
from restbench.show.findings import Findings
from restbench.show.npb import HOW_TO_READ, Kernels, by_technique, explanation, number, soap
from restbench.show.npb import findings as kernels_of

#: The times and rates that are shown of each cell.
_SHOWN = ("fresh_s", "warm_s", "service_s", "client_s", "overhead_ms", "mops")
_RATIOS = ("service/fresh", "service/warm", "client/warm")
_PUBLISHED = ("Study: normal s", "Study: web service s", "Study: Mop/s", "Study: ratio")
_LANGUAGES = ("java", "python")
#: Next to the study's own numbers.
_OURS = ("fresh_s", "warm_s", "java_rest_s", "java_soap_s", "python_soap_s")
_OF_STUDY = ("Normal s", "Normal Mop/s", "Web service s", "Web service Mop/s", "Screen s")
_WRONG = " (no result)"
_NO_RESULT = (
    "Seconds times Mop/s are the kernel's count of operations. Where they are not, but for "
    "rounding, the study's pair is of no run. Its screenshots have the kernel's time in the web "
    "service, too. Its own machine and clients: only ratios compare."
)
_SCALED = ("Technique", "Kernel", "Class", "Cores", "Fresh s", "Warm s", "Verified", "Blocks")


def of(found: Findings) -> Section | None:
    """Why a service can look faster, the times of each technique, and the scaling over cores."""
    if found.definition.npb is None:
        return None
    kernels = kernels_of(found.run)
    published = kernels.published
    times = [
        _times(f"{cell.service.capitalize()} {cell.strategy}, seconds", rows, published)
        for cell, rows in by_technique(kernels.served).items()
    ]
    scaled = table("Without the service, by cores", _SCALED, _cores(kernels.scaled), "   nnn n")
    return section(
        "npb",
        "NAS kernels in a process of their own and in the service",
        Bullets((*explanation(kernels.served), *soap(kernels.served))),
        *found.figures("npb"),
        *times,
        _clients(kernels.served),
        _of_study(kernels),
        Text(_NO_RESULT),
        Text(f"{HOW_TO_READ} The study: {published.source}, on {published.machine}."),
        scaled if kernels.scaled else None,
        section(
            "npb-failures",
            "What failed, was refused or had no time",
            Bullets(tuple(lacking)) if (lacking := npb.failures(kernels.rows)) else None,
        ),
        section("npb-columns", "What the columns mean", Terms(dict(COLUMNS.values())), folded=True),
    )


def _times(caption: str, rows: Sequence[Row], published: Published) -> Table:
    head = ["Kernel", "Class", *(COLUMNS[name][0] for name in _SHOWN), "Verified", *_RATIOS]
    body: list[tuple[Field | str, ...]] = [
        (
            Field(Link(work(row).kernel, f"#cell-{row.cell.id}")),
            work(row).npb_class,
            *(number(npb.median(row, name)) for name in _SHOWN),
            Field(npb.verified(row), tone=BAD if npb.verified(row) == "NO" else ""),
            *(ratio_text(ratio(row, name)) for name in _RATIOS),
            *_published(row, published),
            str(len(row.measured)),
            ", ".join(study.marks(row).values()),
        )
        for row in rows
    ]
    head += [*_PUBLISHED, "Blocks", "Warnings and notes"]
    return table(caption, head, body, "  nnnnnn nnnnnnnn")


def _clients(rows: Sequence[Row]) -> Table | None:
    """What each client got of the same warm service, and what SOAP adds to a call."""
    known = [row for row in rows if npb.median(row, "clients_asked")]
    names = [name for name in COLUMNS if name.startswith(("java_", "python_"))]
    head = ["Kernel", "Class", *(COLUMNS[name][0] for name in names)]
    head += [f"SOAP adds, {each.capitalize()} ms" for each in _LANGUAGES] + ["Same value"]
    body = [
        [
            work(row).kernel,
            work(row).npb_class,
            *(number(npb.median(row, name)) for name in names),
            *(number(npb.soap_ms(row, each)) for each in _LANGUAGES),
            " of ".join(number(npb.median(row, f"clients_{each}")) for each in ("same", "asked")),
        ]
        for row in known
    ]
    caption = "Called by clients in two languages, over REST and SOAP"
    return table(caption, head, body, f"  {'n' * (len(head) - 3)} ") if body else None


def _of_study(found: Kernels) -> Table:
    """The study's two columns and its screens, with what is no result of a run, and ours."""
    published = found.published
    ours = {row.cell.complexity: row for row in found.served if npb.median(row, "java_soap_s")}
    body = [
        [
            level,
            *_pair(published, level, known.normal_s, known.normal_mops),
            *_pair(published, level, known.service_s, known.service_mops),
            number(published.screens_s.get(level)),
            *(number(npb.median(ours[level], each)) if level in ours else "" for each in _OURS),
        ]
        for level in published.rows
        if (known := published.row(level))
    ]
    head = ["Class", *_OF_STUDY, *(f"Ours: {COLUMNS[each][0]}" for each in _OURS)]
    return table("The study's numbers, recomputed, and ours", head, body, f" {'n' * 10}")


def _pair(published: Published, level: str, seconds: float, mops: float) -> tuple[str, str]:
    mark = "" if published.is_result(level, seconds, mops) else _WRONG
    return number(seconds), f"{readable(mops)}{mark}"


def _published(row: Row, published: Published) -> list[str]:
    known = published.row(row.cell.complexity)
    if known is None:
        return [""] * len(_PUBLISHED)
    seconds = (number(known.normal_s), number(known.service_s))
    return [*seconds, readable(known.service_mops), readable(known.ratio)]


def _cores(rows: Sequence[Row]) -> list[list[str]]:
    return [
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
