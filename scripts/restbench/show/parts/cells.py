"""Every cell of a run: which comes first in its group, the study's tables, the whole matrix, each
cell by itself, and what was not measured."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from restbench.analyse import warnings
from restbench.analyse.measurement import Measurement
from restbench.analyse.measures import Row
from restbench.experiment import columns
from restbench.experiment.cell import FACTORS, Cell
from restbench.experiment.columns import HEADINGS, METRICS
from restbench.failures import counted
from restbench.grouping import grouped
from restbench.judge import answer, study
from restbench.judge.leader import Leader
from restbench.judge.study import STUDY_COLUMNS
from restbench.judge.verdicts import ratio_text
from restbench.show import document as doc
from restbench.show import wording
from restbench.show.findings import Findings

#: The factors that name a cell; they are shown even where all cells have the same level.
_NAMING = ("service", "strategy", "complexity", "users")
#: A remark for open loads, whose rates (steps) a row does not distinguish.
_OVER_STEPS = (
    "Each number of a cell covers all offered rates, whether they met the objective or not."
)
#: The columns of the table of a cell's blocks.
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


def first(found: Findings) -> doc.Section | None:
    """Which technique is best for which load, by two metrics, with the overview chart where it is
    not on the first screen. None where the run does not ask this, or compares no techniques."""
    leading = answer.answer(found.rows)
    if "overview" not in found.charts or not leading.compares:
        return None
    return doc.section(
        "places",
        "Which technique is fastest for which size and how many users",
        *found.figures("overview"),
        doc.table("First by throughput", _FIRST, leading.by_throughput),
        doc.table("First by CPU time per request", _FIRST, leading.by_cpu_time),
        folded=True,
    )


def _link(cell: Cell) -> doc.Link:
    return doc.cell_link(cell, study.technique(cell))


def _notes(leader: Leader) -> doc.Field:
    tied = ", ".join(study.technique(cell) for cell in leader.tied)
    notes = [
        f"not shown to be better than {tied}" if tied else "",
        *(
            f"{study.technique(cell)}: {why}"
            for cell, why in leader.unmeasurable.items()
            if leader.standings[cell] == "not-measurable"
        ),
        f"warnings: {'; '.join(leader.warned)}" if leader.warned else "",
        f"no number: {', '.join(leader.missing)}" if leader.missing else "",
    ]
    return doc.warning(". ".join(filter(None, notes)), leader.warned)


def _verdict(leader: Leader) -> doc.Field:
    return doc.Field(leader.text, doc.GOOD if leader.verdict == "reproduced" else doc.SOFT)


RATIO_TO_NEXT: doc.Column[Leader] = doc.number(
    "Ratio to next [95 %]", lambda each: ratio_text(each.comparison) if each.comparison else ""
)
_FIRST: Sequence[doc.Column[Leader]] = (
    doc.Column("Service", lambda each: each.scope),
    doc.Column("Complexity", lambda each: each.best.complexity),
    doc.number("Users", lambda each: each.best.users),
    doc.Column("First", lambda each: _link(each.best)),
    doc.Column("Next", lambda each: _link(each.others[0][0]) if each.others else ""),
    RATIO_TO_NEXT,
    doc.Column("Verdict", _verdict),
    doc.Column("Remarks", _notes),
)


def study_tables(found: Findings) -> doc.Section | None:
    """The results in tables as the study groups them."""
    tables = [doc.table(name, _STUDY, rows) for name, rows in study.tables(found.rows).items()]
    note = bool(tables) * (
        "A cell that the study names twice was measured once and appears in both tables. ± is the "
        "half-width of the 95 % interval over blocks. Percentiles are exact, and empty where there "
        "are too few samples."
    )
    return doc.section("tables", "The study's tables", note, *tables, folded=True)


def _study_column(metric: str) -> doc.Column[tuple[str, Row]]:
    return doc.number(HEADINGS[metric], lambda of: study.shown(of[1], metric))


_STUDY: Sequence[doc.Column[tuple[str, Row]]] = (
    doc.Column("Test", lambda of: doc.cell_link(of[1].cell, of[0])),
    doc.Column("Technique", lambda of: study.technique(of[1].cell)),
    doc.Column("Complexity", lambda of: of[1].cell.complexity),
    doc.number("Users", lambda of: of[1].cell.users),
    *map(_study_column, STUDY_COLUMNS),
    doc.Column("Warnings and notes", lambda of: doc.remarks(of[1])),
)


def matrix(found: Findings) -> doc.Section | None:
    """Every planned cell with every metric."""
    file = found.link(found.folder.test_matrix_csv)
    left_out = "Columns that are empty, 0 or the same in every cell are left out here."
    left_out += f" {_OVER_STEPS}" * bool(found.run.steps)
    intro: doc.Inline = ("The whole matrix as data: ", file, f". {left_out}") if file else left_out
    telling = [each for each in columns.COLUMNS if _varies(each.name, found.rows)]
    wanted = [
        *map(_matrix_column, telling),
        doc.Column("Files", lambda row: doc.Field(doc.spaced(found.files_of(row.cell.id)))),
    ]
    terms = {each.heading: each.meaning for each in telling}
    meanings = doc.section("columns", "What the columns mean", terms, folded=True)
    caption = f"All cells: {len(found.rows)}. Press a heading to sort"
    whole = doc.table(caption, wanted, found.rows).telling()
    return doc.section("matrix", "The whole matrix", intro, whole, meanings, folded=True)


def _varies(name: str, rows: Sequence[Row]) -> bool:
    """Whether to show a column: it is no factor, or it names a cell, or cells differ in it."""
    if name not in FACTORS or name in _NAMING:
        return True
    return len({getattr(row.cell, name) for row in rows}) > 1


def _matrix_column(column: columns.Column) -> doc.Column[Row]:
    name = column.name

    def value(row: Row) -> doc.Link | str:
        if name in METRICS:
            return study.shown(row, name)
        if name == "flags":
            return wording.remarks(row)
        text = " ".join(row.test_ids) if name == "test_id" else str(getattr(row.cell, name))
        return doc.cell_link(row.cell, text) if name == "strategy" else text

    return doc.Column(column.heading, value, name in METRICS or name == "users", column.meaning)


def each(found: Findings) -> doc.Section | None:
    """A section per cell: its warnings and notes, its blocks, its files."""
    groups = grouped(found.rows, wording.service_name)
    services = (
        doc.section(f"cells-{service.lower()}", service, *(_cell(row, found) for row in rows))
        for service, rows in groups.items()
    )
    title = "The cell" if len(found.rows) == 1 else f"Each of the {len(found.rows)} cells"
    over = _OVER_STEPS if found.run.steps else None
    return doc.section("cells", title, over, *services, folded=True)


def _cell(row: Row, found: Findings) -> doc.Section | None:
    """The section of a cell. It is never empty: a cell has blocks, or a note that it has none."""
    name = wording.cell_name(row.cell)
    notes = [f"{each}: {warnings.explain(each.kind)}" for each in row.warnings]
    notes += [f"{each.kind}: {each.text}" for each in row.notes]
    files = found.files_of(row.cell.id)
    value = study.shown(row, "throughput_per_s")
    return doc.section(
        f"cell-{row.cell.id}",
        name,
        notes,
        doc.table(f"Blocks of {name}", _BLOCK, row.measured).telling(),
        *(f"Block {each.block}: {each.reason}" for each in row.measurements if each.reason),
        ("Files: ", *doc.spaced(files)) if files else None,
        folded=True,
        badge=f"{value} requests/s" if value else "no number",
        tone=doc.WARNING if row.warnings else "",
    )


_BLOCK: Sequence[doc.Column[Measurement]] = (
    doc.number("Block", lambda block: block.block),
    *(doc.number(HEADINGS[metric], attrgetter(metric)) for metric in _OF_BLOCK),
)


def warned(found: Findings) -> doc.Section | None:
    """The cells with warnings, and what each warning and note means."""
    rows = [row for row in found.rows if row.warnings]
    meanings = study.flag_meanings(found.rows)
    if not meanings:
        return None
    note = (
        "A warning has a size: a bound on the bias of the cell's numbers, as the mean over its "
        "blocks. It is shown above 2.5 %, half the usual margin of verdicts. The cell's symbol in "
        "a chart is then hollow. A remark without a size is a note."
    )
    cells = doc.table("Cells with warnings", _WARNED, rows)
    title = f"Warnings: {len(rows)} of {len(found.rows)} cells"
    return doc.section("warnings", title, note, cells, meanings, folded=True)


_WARNED: Sequence[doc.Column[Row]] = (
    doc.Column("Cell", lambda row: doc.cell_link(row.cell)),
    doc.Column("Warnings", lambda row: doc.Field(", ".join(map(str, row.warnings)), doc.WARNING)),
)


def missing(found: Findings) -> doc.Section | None:
    """What failed, and what there was no time for."""
    failed = [
        doc.Section(
            f"failed-{row.cell.id}-{each.block}",
            f"{wording.cell_name(row.cell)}, block {each.block}",
            (each.reason or "no reason was recorded",),
        )
        for row in found.rows
        for each in row.measurements
        if "failed" in each.flags
    ]
    waiting = study.not_measured(found.rows)
    planned = [wording.cell_name(row.cell) for row in found.rows if not row.measurements]
    late = [*waiting, *(f"{each}: the run ended before this cell" for each in planned)]
    lacking, failures = counted(len(late), "cell"), counted(len(failed), "failure")
    title = f"Not measured: {lacking} for lack of time, {failures}"
    return doc.section("missing", title, *failed, late, folded=True)
