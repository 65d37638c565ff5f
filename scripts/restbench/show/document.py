"""The parts of a run's page, for every kind of experiment: sections of text, tables and charts.
`report` writes them as HTML, `terminal` shows tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, Generic, TypeAlias, TypeVar

from restbench.analyse.measures import Row
from restbench.experiment.cell import Cell
from restbench.experiment.columns import readable
from restbench.grouping import grouped
from restbench.show import wording
from restbench.show.charts.theme import Chart

#: Tones of a field: its colour, in addition to its words.
GOOD, BAD, WARNING, SOFT = "good", "bad", "warn", "soft"
#: A column that has only such fields is left out by `Table.telling`.
_NOTHING = {"", "0"}
T = TypeVar("T")


@dataclass(frozen=True)
class Link:
    """Text that leads somewhere: within the page (`#cell-ID`), or to a file relative to it."""

    text: str
    href: str


Inline: TypeAlias = str | Link | tuple[str | Link, ...]


@dataclass(frozen=True)
class Field:
    """A field of a table."""

    content: Inline
    tone: str = ""


@dataclass(frozen=True)
class Column(Generic[T]):
    """A column of a table whose rows are made from objects of type T."""

    heading: str
    value: Callable[[T], object]
    """Returns a Field, a Link, or a value that `readable` turns into text."""
    is_number: bool = False
    meaning: str = ""

    def field(self, of: T) -> Field:
        """The field of this column in the row of an object."""
        value = self.value(of)
        if isinstance(value, Field):
            return value
        return Field(value if isinstance(value, Link) else readable(value))


@dataclass(frozen=True)
class Table:
    """Rows under columns; a reader can sort them by any."""

    caption: str
    columns: tuple[Column[Any], ...]
    rows: tuple[tuple[Field, ...], ...]

    def only(self, places: Iterable[int]) -> Table:
        """The table with these columns only, without rows whose last such field is empty."""
        *others, last = places
        rows = tuple(row for row in self.rows if words(row[last]))
        return replace(self, rows=rows)._with([*others, last])

    def telling(self) -> Table:
        """The table without the columns that are empty or 0 in every row."""
        fields = enumerate(zip(*self.rows, strict=True))
        return self._with([n for n, of in fields if not set(map(words, of)) <= _NOTHING])

    def _with(self, places: Sequence[int]) -> Table:
        rows = tuple(tuple(row[n] for n in places) for row in self.rows)
        return Table(self.caption, tuple(self.columns[n] for n in places), rows)


@dataclass(frozen=True)
class Figure:
    """A chart as a part of the page, with its caption."""

    chart: Chart
    file: str = ""
    """Where its SVG lies, relative to the page; empty where it was not written."""


@dataclass(frozen=True)
class Section:
    """Parts under a heading; `folded` shows the heading alone until it is opened."""

    id: str
    title: str
    parts: tuple[Part, ...]
    folded: bool = False
    badge: str = ""
    """A word or number next to the heading."""
    tone: str = ""


#: A paragraph, a list, or names with their meanings; or a part with a class of its own.
Part: TypeAlias = Inline | list[str] | Mapping[str, Inline] | Table | Figure | Section


def number(heading: str, value: Callable[[T], object]) -> Column[T]:
    """A column of numbers."""
    return Column(heading, value, is_number=True)


def table(caption: str, columns: Sequence[Column[T]], items: Iterable[T]) -> Table:
    """A table with a row for each item."""
    rows = (tuple(column.field(each) for column in columns) for each in items)
    return Table(caption, tuple(columns), tuple(rows))


def listed(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[object]], texts: int
) -> Table:
    """A table of rows of fields, under the headings `head`: the first `texts` columns are words,
    the others numbers."""
    columns = (Column(heading, itemgetter(n), n >= texts) for n, heading in enumerate(head))
    return table(caption, tuple(columns), rows)


def table_each(
    caption: str, columns: Sequence[Column[T]], items: Iterable[T], name: Callable[[T], str]
) -> list[Table]:
    """A table for each name (a service), under `NAME: caption`."""
    groups = grouped(items, name)
    return [table(f"{each}: {caption}", columns, of) for each, of in groups.items()]


def differing(tables: Iterable[Table], *places: int) -> list[int]:
    """Those of the columns at these places in which the rows of the tables differ."""
    rows = [row for each in tables for row in each.rows]
    return [n for n in places if len({words(row[n]) for row in rows}) > 1]


def cell_link(cell: Cell, text: str = "") -> Link:
    """A link to the cell's section; its text is the cell's name where none is given."""
    return Link(text or wording.cell_name(cell), f"#cell-{cell.id}")


def spaced(links: Iterable[Link]) -> tuple[str | Link, ...]:
    """The links, separated by spaces."""
    return tuple(part for link in links for part in (link, " "))


def warning(text: str, is_one: object) -> Field:
    """A field in the tone of a warning if it is one."""
    return Field(text, WARNING if is_one else "")


def remarks(row: Row) -> Field:
    """The field with a row's warnings and notes."""
    return warning(wording.remarks(row), row.warnings)


def words(field: Field) -> str:
    """The text of a field."""
    parts = field.content if isinstance(field.content, tuple) else (field.content,)
    return "".join(each.text if isinstance(each, Link) else each for each in parts)


def markdown(part: Table) -> str:
    """A table in Markdown, without its links; numbers are aligned to the right."""
    head = [each.heading for each in part.columns]
    marks = ["---:" if each.is_number else "---" for each in part.columns]
    body = [
        [words(each).replace("|", "\\|").replace("\n", " ") for each in row] for row in part.rows
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in [head, marks, *body])


def section(
    id: str, title: str, *parts: Part | None, folded: bool = False, badge: str = "", tone: str = ""
) -> Section | None:
    """A section of the parts that say something; None where there are none."""
    known = tuple(
        each for each in parts if each and not (isinstance(each, Table) and not each.rows)
    )
    return Section(id, title, known, folded, badge, tone) if known else None
