"""Right and wrong requests around the body: paths, methods, queries, headers, framing."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from restbench_robustness.message import JSON_TYPE, Message

from .document import encode, write
from .http_tables import (
    BAD_CHUNKS,
    BAD_HOSTS,
    BAD_METHODS,
    BAD_PATHS,
    CONTENT_TYPES,
    FORBIDDEN,
    METHODS,
    OTHER_HEADERS,
    PATHS,
    QUERIES,
)
from .matrices import documents
from .members import spoilt_documents

bodies = st.one_of(documents(2), spoilt_documents()).map(lambda it: encode(write(it)))


@st.composite
def framed(draw: st.DrawFn, message: Message) -> Message:
    """The same message, its length announced, in chunks, or cut off by the connection's end."""
    match draw(st.sampled_from(["length", "chunks", "chunks", "more", "fewer", "lost chunk"])):
        case "length":
            return message
        case "chunks":
            return replace(message, chunk_bytes=draw(st.sampled_from([1, 7, 100, 10_000])))
        case "more":
            return replace(message, missing_bytes=draw(st.sampled_from([1, 2, 100, 10**6, 2**40])))
        case "fewer":
            return replace(message, missing_bytes=-draw(st.integers(1, max(1, len(message.body)))))
    return replace(message, chunk_bytes=50, missing_bytes=1)


@st.composite
def headers(draw: st.DrawFn) -> tuple[tuple[str, str], ...]:
    """A media type, or none, or one in a name of other case, among headers that change nothing."""
    kind = draw(st.one_of(st.just("application/json"), st.sampled_from(CONTENT_TYPES)))
    name = draw(st.sampled_from(["Content-Type", "content-type", "CONTENT-TYPE"]))
    typed = draw(st.sampled_from([((name, kind),), ((name, kind),), ()]))
    return (*typed, *draw(st.lists(st.sampled_from(OTHER_HEADERS), max_size=2, unique=True)))


@st.composite
def messages(draw: st.DrawFn) -> Message:
    """Anything around a body that may be right."""
    usual = Message(draw(bodies))
    path = draw(st.one_of(st.just(usual.path), st.just(usual.path), st.sampled_from(PATHS)))
    method = draw(st.one_of(st.just("POST"), st.just("POST"), st.sampled_from(METHODS)))
    query = draw(st.one_of(st.none(), st.sampled_from(QUERIES)))
    changed = replace(usual, path=path, method=method, query=query, headers=draw(headers()))
    return draw(framed(changed)) if draw(st.booleans()) else changed


@st.composite
def query_messages(draw: st.DrawFn) -> Message:
    """A query of any form before a body that may be right, framed in any way."""
    letters = st.text(st.sampled_from("kernel=lopsativ&%6;+?/.-_~!$'()*:@,"), max_size=24)
    query = draw(st.one_of(st.sampled_from(QUERIES), letters))
    return draw(framed(Message(draw(bodies), query=query)))


@st.composite
def broken_messages(draw: st.DrawFn) -> Message:
    """What is not HTTP, or what HTTP has refused."""
    body = draw(bodies)
    match draw(st.sampled_from(["header", "host", "chunk", "path", "method"])):
        case "header":
            return Message(
                body, headers=JSON_TYPE + draw(st.sampled_from(FORBIDDEN)), is_http=False
            )
        case "host":
            return Message(body, host=draw(st.sampled_from(BAD_HOSTS)), is_http=False)
        case "chunk":
            return Message(draw(st.sampled_from(BAD_CHUNKS)), chunk_bytes=0, is_http=False)
        case "path":
            path = draw(st.sampled_from(BAD_PATHS))
            return Message(body, path=path, is_http=False)
    return Message(body, method=draw(st.sampled_from(BAD_METHODS)), is_http=False)
