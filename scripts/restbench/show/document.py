"""What a run's page is made of, whatever kind of experiment it was: sections of text, tables and
charts. `page` writes them as HTML, `markdown` as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from restbench.show.charts.theme import Chart

T = TypeVar("T")

#: How a word is coloured, next to what it says.
GOOD, BAD, DOUBT, SOFT = "good", "bad", "doubt", "soft"


@dataclass(frozen=True)
class Link:
    """Text that leads somewhere: within the page (`#cell-ID`), or to a file relative to it."""

    text: str
    href: str


Inline: TypeAlias = str | Link | tuple[str | Link, ...]


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    content: Inline


@dataclass(frozen=True)
class Bullets:
    """A list."""

    items: tuple[Inline, ...]


@dataclass(frozen=True)
class Terms:
    """Names with what they mean, each with an id where a link leads to it."""

    entries: Mapping[str, Inline]
    prefix: str = ""
    """Of the ids; empty where none is needed."""


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    heading: str
    is_number: bool = False
    meaning: str = ""


@dataclass(frozen=True)
class Field:
    """A field of a table, where it is more than its text."""

    content: Inline
    tone: str = ""


@dataclass(frozen=True)
class Table:
    """Rows under columns; a reader can sort them by any."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Field | str, ...], ...]


@dataclass(frozen=True)
class Figure:
    """A chart with its words."""

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


Part: TypeAlias = Text | Bullets | Terms | Table | Figure | Section


def table(
    caption: str, head: Sequence[str], rows: Sequence[Sequence[Field | str]], numbers: str = ""
) -> Table:
    """A table whose columns are those of `head`; `numbers` has a character a column, `n` for one of
    numbers."""
    columns = tuple(Column(heading, numbers[n : n + 1] == "n") for n, heading in enumerate(head))
    return Table(caption, columns, tuple(map(tuple, rows)))


def lines(
    caption: str,
    columns: Mapping[str, Callable[[T], Field | str]],
    items: Iterable[T],
    numbers: str = "",
) -> Table:
    """A line an item: columns by their headings, each a function of it."""
    rows = [[of(each) for of in columns.values()] for each in items]
    return table(caption, tuple(columns), rows, numbers)


def words(field: Field | str) -> str:
    """The text of a field."""
    content = field.content if isinstance(field, Field) else field
    parts = content if isinstance(content, tuple) else (content,)
    return "".join(each.text if isinstance(each, Link) else each for each in parts)


def section(id: str, title: str, *parts: Part | None, folded: bool = False) -> Section | None:
    """A section of the parts that are there; None where there are none."""
    known = tuple(each for each in parts if each is not None)
    return Section(id, title, known, folded) if known else None


def sections_of(parts: Sequence[Part]) -> list[Section]:
    """All sections, those within others as well, in their order."""
    found = [each for each in parts if isinstance(each, Section)]
    return [one for each in found for one in (each, *sections_of(each.parts))]
