"""The table of sources: where messages come from, and how many of each."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis.strategies import SearchStrategy

from restbench_robustness.wire import Message

from . import documents, faults, http, messages


class Source(NamedTuple):
    """A kind of message."""

    name: str
    messages: SearchStrategy[Message]
    batch_bodies: int
    """Of a cycle through the table; the first of a batch is the simplest there is."""


SOURCES = (
    Source("right requests", documents.right_messages(), 60),
    Source("wide shapes", documents.wide_messages(), 5),
    Source("overflow", documents.overflow_messages(), 100),
    Source("wrong members", faults.member_messages(), 80),
    Source("wrong sizes", faults.size_messages(), 40),
    Source("odd spellings", faults.spelling_messages(), 120),
    Source("spoilt text", faults.text_messages(), 80),
    Source("token soup", faults.soup_messages(), 50),
    Source("http", http.http_messages(), 60),
    Source("broken http", http.broken_messages(), 20),
    Source("large", faults.large_messages, 4),
    Source("outer products", faults.outer_products(), 2),
    Source("giants", faults.giant_messages, 2),
)

MESSAGE_SOURCES = (
    Source("operations", messages.operations.flatmap(messages.ours), 60),
    Source("operations' members", messages.member_messages(), 80),
    Source("operations' surroundings", messages.surrounded_messages(), 120),
    Source("operations' text", messages.text_messages(), 60),
)
