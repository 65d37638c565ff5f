"""The table of sources: where bodies come from, and how many of each."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis.strategies import SearchStrategy

from restbench_robustness.message import Message

from . import http_variants, large, matrices, members, overflow, text_faults


@dataclass(frozen=True)
class Source:
    """A kind of message."""

    name: str
    messages: SearchStrategy[Message]
    batches: int
    """Of a cycle through the table."""
    batch_bodies: int = 20
    """Bodies that one strategy and kernel of each service get before the next has its turn."""


SOURCES = (
    Source("right requests", matrices.messages(), 3),
    Source("wide shapes", matrices.wide_messages(), 1, 5),
    Source("overflow", overflow.messages(), 5),
    Source("wrong members", members.messages(), 4),
    Source("wrong sizes", members.size_messages(), 2),
    Source("odd spellings", members.spelling_messages(), 3),
    Source("spoilt text", text_faults.messages(), 4),
    Source("surroundings", text_faults.surrounded_messages(), 1),
    Source("unicode", text_faults.unicode_messages(), 2),
    Source("token soup", text_faults.soup_messages(), 1),
    Source("http", http_variants.messages(), 2),
    Source("queries", http_variants.query_messages(), 1),
    Source("broken http", http_variants.broken_messages(), 1),
    Source("large", large.messages(), 1, 2),
    Source("outer products", large.outer_products(), 1, 1),
    Source("giant", large.giant_messages(), 1, 1),
)
