"""A table of the page in Markdown."""

from __future__ import annotations

from restbench.show import document as doc


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
    """Links to files stay links; links within the page become plain text."""
    if isinstance(content, tuple):
        return "".join(map(_inline, content))
    if isinstance(content, doc.Link):
        return content.text if content.href.startswith("#") else f"[{content.text}]({content.href})"
    return content
