"""Messages in queues: what was found, next to what the database can do."""

from __future__ import annotations

from restbench.analyse.messages import is_message
from restbench.show import messages
from restbench.show.document import Bullets, Section, Text, section
from restbench.show.findings import Findings


def of(found: Findings) -> Section | None:
    """The sentences, the charts, a table a service, and where the time goes."""
    if not any(map(is_message, found.rows)):
        return None
    return section(
        "messages",
        "Messages in queues",
        Text(messages.sentence(found.rows)),
        Bullets((*messages.pool_sentences(found.rows), messages.checked(found.rows))),
        *found.figures("messages"),
        *messages.tables(found.rows),
        Text(messages.HOW_TO_READ),
        messages.pie_table(found.rows),
    )
