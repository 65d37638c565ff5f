"""A run's page in Markdown: the same sections, without its charts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from restbench.show.document import (
    Bullets,
    Field,
    Figure,
    Inline,
    Link,
    Part,
    Section,
    Table,
    Terms,
    Text,
)


def document(title: str, parts: Sequence[Part]) -> str:
    """The whole text; sections are headings from the second level on."""
    return "\n\n".join([f"# {title}", *_blocks(parts, 2)]) + "\n"


def _blocks(parts: Iterable[Part], level: int) -> list[str]:
    found: list[str] = []
    for part in parts:
        match part:
            case Section():
                badge = f": {part.badge}" if part.badge else ""
                found += [
                    f"{'#' * min(level, 6)} {part.title}{badge}",
                    *_blocks(part.parts, level + 1),
                ]
            case Text():
                found.append(_inline(part.content))
            case Bullets():
                found.append("\n".join(f"- {_inline(each)}" for each in part.items))
            case Terms():
                found.append(
                    "\n".join(f"- **{name}**: {_inline(of)}" for name, of in part.entries.items())
                )
            case Table():
                found += [f"**{part.caption}**", table(part)]
            case Figure():
                found.append(f"**{part.chart.title}.** {part.chart.caption}")
                found += [f"![{part.chart.title}]({part.file})"] if part.file else []
    return [each for each in found if each]


def table(part: Table) -> str:
    """A table; numbers are aligned to the right."""
    head = [each.heading for each in part.columns]
    marks = ["---:" if each.is_number else "---" for each in part.columns]
    body = [
        [
            _inline(each.content if isinstance(each, Field) else each)
            .replace("|", "\\|")
            .replace("\n", " ")
            for each in row
        ]
        for row in part.rows
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in [head, marks, *body])


def _inline(content: Inline) -> str:
    """Links to files stay links; those within the page are their text."""
    if isinstance(content, tuple):
        return "".join(map(_inline, content))
    if isinstance(content, Link):
        return content.text if content.href.startswith("#") else f"[{content.text}]({content.href})"
    return content
