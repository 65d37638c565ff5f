"""Every cell of a run: the study's tables, the whole matrix, each cell by itself, and what was not
measured."""

from __future__ import annotations

from collections.abc import Sequence

from restbench.analyse import flags
from restbench.analyse.measurement import Measurement
from restbench.analyse.measures import Row
from restbench.experiment import columns
from restbench.experiment.cell import users_text
from restbench.experiment.columns import HEADINGS, METRICS, readable
from restbench.judge import study
from restbench.judge.study import STUDY_COLUMNS
from restbench.show.document import (
    DOUBT,
    Bullets,
    Column,
    Field,
    Inline,
    Link,
    Part,
    Section,
    Table,
    Terms,
    Text,
    section,
    table,
)
from restbench.show.findings import Findings

#: Of a block, shown at its cell.
_OF_BLOCK = (
    "throughput_per_s",
    "mean_ms",
    "p50_ms",
    "p95_ms",
    "p99_ms",
    "cpu_ms_per_request",
    "samples",
    "errors",
    "wrong_answers",
)


def name(row: Row) -> str:
    """Such as `PR process-per-request, low, 10 users`."""
    return f"{study.technique(row.cell)}, {row.cell.complexity}, {users_text(row.cell.users)}"


def link(row: Row, text: str = "") -> Link:
    """To the cell's own section."""
    return Link(text or name(row), f"#cell-{row.cell.id}")


def study_tables(found: Findings) -> Section | None:
    """The tables as the study groups them."""
    tables = [_study_table(each) for each in study.sections(found.rows) if each.in_study]
    note = Text(
        "A cell that the study names twice was measured once and stands in both tables. ± is the "
        "95 % interval over blocks; percentiles are exact, and empty where the samples are too few."
    )
    return section("tables", "The study's tables", note, *tables, folded=True) if tables else None


def _study_table(group: study.Section) -> Table:
    head = ["Test", "Technique", "Complexity", "Users", *(HEADINGS[m] for m in STUDY_COLUMNS)]
    rows: list[tuple[Field | str, ...]] = [
        (
            Field(link(row, test_id)),
            study.technique(row.cell),
            row.cell.complexity,
            str(row.cell.users),
            *(study.shown(row, each) for each in STUDY_COLUMNS),
            Field(", ".join(study.marks(row).values()), tone=DOUBT if row.warnings else ""),
        )
        for test_id, row in group.rows
    ]
    numbers = "   " + "n" * (1 + len(STUDY_COLUMNS))
    return table(group.title, [*head, "Warnings and notes"], rows, numbers)


def matrix(found: Findings) -> Section | None:
    """Every planned cell with every metric."""
    file = found.link(found.folder.test_matrix_csv)
    intro: Inline = ("The same as data: ", file, ".") if file else "Every planned cell."
    wanted = tuple(
        Column(each.heading, each.name in METRICS or each.name == "users", each.meaning)
        for each in columns.COLUMNS
    )
    rows = tuple(_matrix_row(row, found) for row in found.rows)
    meanings = section(
        "columns", "What the columns mean", Terms(study.column_meanings()), folded=True
    )
    caption = f"Every cell: {len(rows)}. Press a heading to sort"
    whole = Table(caption, (*wanted, Column("Files")), rows)
    return section("matrix", "The whole matrix", Text(intro), whole, meanings, folded=True)


def _matrix_row(row: Row, found: Findings) -> tuple[Field | str, ...]:
    fields: list[Field | str] = []
    for metric, value in row.record().items():
        if metric in METRICS:
            fields.append(study.shown(row, metric))
        elif metric == "flags":
            fields.append(", ".join(study.marks(row).values()))
        elif metric == "strategy":
            fields.append(Field(link(row, str(value))))
        else:
            fields.append(str(value))
    return (*fields, Field(_spaced(found.files_of(row.cell.id))))


def _spaced(links: Sequence[Link]) -> tuple[str | Link, ...]:
    return tuple(part for link in links for part in (link, " "))


def each(found: Findings) -> Section:
    """A section a cell: its warnings and notes, its blocks, its files."""
    groups: dict[str, list[Row]] = {}
    for row in found.rows:
        groups.setdefault(row.cell.service.capitalize(), []).append(row)
    services = tuple(
        Section(f"cells-{service.lower()}", service, tuple(_cell(row, found) for row in rows))
        for service, rows in groups.items()
    )
    return Section("cells", f"Each of the {len(found.rows)} cells", services, folded=True)


def _cell(row: Row, found: Findings) -> Section:
    parts: list[Part] = []
    remarks = [f"{each}: {flags.explain(each.kind)}" for each in row.warnings]
    remarks += [f"{each.kind}: {each.text}" for each in row.notes]
    if remarks:
        parts.append(Bullets(tuple(remarks)))
    if row.measured:
        head = ["Block", *(HEADINGS[metric] for metric in _OF_BLOCK)]
        blocks = [_block(each) for each in row.measured]
        parts.append(table(f"Blocks of {name(row)}", head, blocks, "n" * len(head)))
    parts += [
        Text(f"Block {each.block}: {each.reason}") for each in row.measurements if each.reason
    ]
    if files := found.files_of(row.cell.id):
        parts.append(Text(("Files: ", *_spaced(files))))
    value = study.shown(row, "throughput_per_s")
    return Section(
        f"cell-{row.cell.id}",
        name(row),
        tuple(parts),
        folded=True,
        badge=f"{value} requests/s" if value else "no number",
        tone=DOUBT if row.warnings else "",
    )


def _block(block: Measurement) -> tuple[str, ...]:
    return (str(block.block), *(readable(getattr(block, metric)) for metric in _OF_BLOCK))


def warned(found: Findings) -> Section | None:
    """The cells with warnings, and what each warning and note means."""
    rows = [row for row in found.rows if row.warnings]
    meanings = study.flag_meanings(found.rows)
    if not meanings:
        return None
    lines = [
        (Field(link(row)), Field(", ".join(map(str, row.warnings)), tone=DOUBT)) for row in rows
    ]
    note = Text(
        "A warning has a size: what may have biased the cell's numbers, the mean over its blocks. "
        "It is shown above 2.5 %, half the margin of the verdicts; the cell's mark in a chart is "
        "then hollow. What has no size is a note."
    )
    cells = table("Cells with warnings", ("Cell", "Warnings"), lines) if lines else None
    title = f"Warnings: {len(rows)} of {len(found.rows)} cells"
    return section("warnings", title, note, cells, Terms(meanings, "flag-"), folded=True)


def missing(found: Findings) -> Section | None:
    """What failed, and what there was no time for."""
    failed = [
        Section(
            f"failed-{row.cell.id}-{each.block}",
            f"{name(row)}, block {each.block}",
            (Text(each.reason or "no reason was recorded"),),
        )
        for row in found.rows
        for each in row.measurements
        if "failed" in each.flags
    ]
    waiting = study.not_measured(found.rows)
    planned = [name(row) for row in found.rows if not row.measurements]
    late = (*waiting, *(f"{each}: the run ended before it" for each in planned))
    title = f"Not measured: {len(late)} cells without time, {len(failed)} failures"
    return section("missing", title, *failed, Bullets(late) if late else None, folded=True)
