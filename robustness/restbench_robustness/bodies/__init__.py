"""The sources of messages, with the number of messages that a batch draws from each."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis.strategies import SearchStrategy

from restbench_robustness.wire import Message

from . import documents, faults, http, messages


class Source(NamedTuple):
    """A named strategy of Hypothesis that draws messages of one kind."""

    name: str
    messages: SearchStrategy[Message]
    batch_bodies: int
    """Number of messages in a batch: one batch per cycle through the table. The first message of a
    batch is the simplest one that the source can draw."""


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
