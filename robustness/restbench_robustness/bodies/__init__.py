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
    """Of a cycle through the table."""
    every: int = 1
    """Of so many cycles the last has them."""


SOURCES = (
    Source("right requests", documents.right_messages(), 60),
    Source("wide shapes", documents.wide_messages(), 5),
    Source("overflow", documents.overflow_messages(), 100),
    Source("wrong members", faults.member_messages(), 80),
    Source("wrong sizes", faults.size_messages(), 40),
    Source("odd spellings", faults.spelling_messages(), 60),
    Source("spoilt text", faults.text_messages(), 80),
    Source("surroundings", faults.surrounded_messages(), 20),
    Source("unicode", faults.unicode_messages(), 40),
    Source("token soup", faults.soup_messages(), 20),
    Source("http", http.http_messages(), 40),
    Source("queries", http.query_messages(), 20),
    Source("broken http", http.broken_messages(), 20),
    Source("large", faults.large_messages(), 4),
    Source("outer products", faults.outer_products(), 2),
    Source("giant", faults.giant_messages(), 1),
    Source("giants", faults.giant_messages(), 6, every=8),
)

MESSAGE_SOURCES = (
    Source("operations", messages.right_messages(), 60),
    Source("operations' members", messages.member_messages(), 80),
    Source("operations' paths", messages.path_messages(), 60),
    Source("operations' queries", messages.query_messages(), 60),
    Source("operations' text", messages.text_messages(), 60),
)
