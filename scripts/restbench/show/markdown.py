"""A run's page in Markdown: the same sections, without its charts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from restbench.show import document as doc


def document(title: str, parts: Sequence[doc.Part]) -> str:
    """The whole text; sections are headings from the second level on."""
    return "\n\n".join([f"# {title}", *_blocks(parts, 2)]) + "\n"


def _blocks(parts: Iterable[doc.Part], level: int) -> list[str]:
    found: list[str] = []
    for part in parts:
        match part:
            case doc.Section():
                badge = f": {part.badge}" if part.badge else ""
                found += [
                    f"{'#' * min(level, 6)} {part.title}{badge}",
                    *_blocks(part.parts, level + 1),
                ]
            case doc.Text():
                found.append(_inline(part.content))
            case doc.Bullets():
                found.append("\n".join(f"- {_inline(each)}" for each in part.items))
            case doc.Terms():
                found.append(
                    "\n".join(f"- **{name}**: {_inline(of)}" for name, of in part.entries.items())
                )
            case doc.Table():
                found += [f"**{part.caption}**", table(part)]
            case doc.Figure():
                found.append(f"**{part.chart.title}.** {part.chart.caption}")
                found += [f"![{part.chart.title}]({part.file})"] if part.file else []
    return [each for each in found if each]


def table(part: doc.Table) -> str:
    """A table; numbers are aligned to the right."""
    head = [each.heading for each in part.columns]
    marks = ["---:" if each.is_number else "---" for each in part.columns]
    body = [
        [
            _inline(each.content if isinstance(each, doc.Field) else each)
            .replace("|", "\\|")
            .replace("\n", " ")
            for each in row
        ]
        for row in part.rows
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in [head, marks, *body])


def _inline(content: doc.Inline) -> str:
    """Links to files stay links; those within the page are their text."""
    if isinstance(content, tuple):
        return "".join(map(_inline, content))
    if isinstance(content, doc.Link):
        return content.text if content.href.startswith("#") else f"[{content.text}]({content.href})"
    return content
