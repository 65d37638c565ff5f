"""Requests with right, wrong and forbidden HTTP around the body: path, method, query, headers."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from restbench_robustness.wire import JSON_TYPE, Message

from .documents import documents, write
from .examples import examples
from .faults import spoilt_documents

EXAMPLES = [
    it
    for it in examples("/").values()
    if not it.path.startswith(("/messages", "/logs", "/npb-")) and it.method != "TRACE"
]
"""Without TRACE: HTTP forbids a body for it, and a message here may get one."""
PATHS = (
    "/", "/matrix", "/matrix/", "/matrix/{strategy}/", "/Matrix/{strategy}", "/matrix/SERIAL",
    "/matrix/{strategy}/x", "/x/{strategy}", "/matrix/%7Bstrategy%7D", "/matrix/magic",
    "/matrix/{strategy}%20", "/matrix/{strategy};x=1", "/matrix/" + "x" * 300, "/health",
    "/strategies", "/metrics", "/openapi.json", "/health/", "/favicon.ico",
    "/matrix/{strategy}.json", "/actuator", "/matrix/%C3%A9", "/matrix/serial%0A",
    "/matrix,{strategy}",
)  # fmt: skip
METHODS = ("GET", "PUT", "DELETE", "PATCH", "POST", "FOO", "M-SEARCH", "PROPFIND")
QUERIES = (
    "", "kernel=loops", "kernel=native", "kernel=", "kernel", "kernel=Loops",
    "kernel=loops&kernel=native", "kernel=loops&kernel=loops", "x=1&kernel=native",
    "kernel=native&x=%zz", "kernel=%6coops", "k%65rnel=loops", "kernel=loops%20", "kernel=+loops",
    "kernel=loops+", "kernel=%zz", "kernel=loops%", "KERNEL=x", "&&kernel=loops&",
    "kernel=loops;kernel=native", "=loops", "kernel==loops", "x=kernel=magic", "kernel=%6E%61tive",
    "kernel=lo%00ops", "kernel=%ff", "%6bernel=native&kernel", "kernel%3Dloops", "?kernel=magic",
    "kernel%5B%5D=magic", "kernel=" + "x" * 200, "kernel=loops?", "kernel=loops/", "%zz=1",
    "kernel%zz=magic",
)  # fmt: skip
CONTENT_TYPES = (
    "application/json", "APPLICATION/JSON", "application/json; charset=utf-8",
    "application/json;charset=latin-1", "application/json ; x", "application/json;", "text/plain",
    "text/json", "application/problem+json", "application/jsonx",
    "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "json", "*/*",
    "application/*", "", "application/json, text/plain", "application / json", '"application/json"',
    "application/json;;", ";application/json", "application/json; charset=nonsense",
    "application/json; charset=\"", "application", "application/",
)  # fmt: skip
OTHER_HEADERS = (
    ("Accept", "text/html"), ("Accept", "image/*;q=x"), ("Content-Encoding", "gzip"),
    ("Accept-Encoding", "br"), ("Expect", "100-continue"), ("Connection", "close"),
    ("Connection", "keep-alive, x"), ("X-Http-Method-Override", "GET"), ("X-Forwarded-For", "x"),
    ("X-Forwarded-Host", "a b"), ("X-Forwarded-Prefix", "/x"), ("Forwarded", "for=\"_x"),
    ("Cookie", "a=\"b; c"), ("Range", "bytes=0-1"), ("If-None-Match", "*"),
    ("If-Modified-Since", "x"), ("Origin", "null"), ("Accept-Language", "\xff"), ("X-Empty", ""),
    ("X-Long", "x" * 4000), ("Upgrade", "h2c"), ("Content-Language", "x y"),
    ("Access-Control-Request-Method", "POST"), ("Accept-Charset", "utf-7"), ("Date", "x"),
    ("Authorization", "Basic !"), ("Script_Name", "/x"), ("X-Forwarded-Ssl", "off"),
    ("X-Forwarded-Proto", "https"),
)  # fmt: skip
FORBIDDEN = (
    ("Content-Length", "5, 6"), ("Content-Length", "-1"), ("Content-Length", "x"),
    ("Content-Length", "1e2"), ("Content-Length", "99999999999999999999"), ("Content-Length", "+5"),
    ("Content-Length", ""), ("Transfer-Encoding", "gzip, x"),
    ("Transfer-Encoding", "chunked, gzip"), ("Transfer-Encoding", "xchunked"),
    ("Transfer-Encoding", "chunked"), ("Host", "a b"), ("Bad Name", "x"), ("", "x"),
    ("X-Nul", "a\x00b"),
)  # fmt: skip
BAD_CHUNKS = (
    b"zz\r\n{}\r\n0\r\n\r\n", b"-1\r\n{}\r\n0\r\n\r\n", b"2\r\n{}x\r\n0\r\n\r\n",
    b"0x2\r\n{}\r\n0\r\n\r\n", b"ffffffffffffffffff\r\n{}\r\n", b"2 \n{}\r\n0\r\n\r\n\x00",
    b"\r\n\r\n", b"2;\x00\r\n{}\r\n0\r\n\r\n",
)  # fmt: skip

BAD_PATHS = ("", "x", "/a b", "/\x00", "/\xff", "//", "http://", "*", "/%zz", "/%")
BAD_HOSTS = ("a..b", "..", "x..:80")
BAD_METHODS = ("post", "", "G T", "P\x00", "(", "\xe9")

bodies = st.one_of(documents(2), spoilt_documents()).map(write)
odd_queries = st.text(st.sampled_from("kernel=lopsativ&%6;+?/.-_~!$'()*:@,"), max_size=24)


@st.composite
def framed(draw: st.DrawFn, message: Message) -> Message:
    """The same message with its right length, in chunks, with a wrong length, or cut off."""
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
    """Headers: a Content-Type, in any case of letters, or none; and others without effect."""
    kind = draw(st.one_of(st.just("application/json"), st.sampled_from(CONTENT_TYPES)))
    name = draw(st.sampled_from(["Content-Type", "content-type", "CONTENT-TYPE"]))
    typed = draw(st.sampled_from([((name, kind),), ((name, kind),), ()]))
    return (*typed, *draw(st.lists(st.sampled_from(OTHER_HEADERS), max_size=2, unique=True)))


@st.composite
def http_messages(draw: st.DrawFn) -> Message:
    """An example, or a body that may be right; path, method, query and headers are mostly right."""
    usual = draw(st.one_of(bodies.map(Message), bodies.map(Message), st.sampled_from(EXAMPLES)))
    path, method = st.just(usual.path), st.just(usual.method)
    message = replace(
        usual,
        path=draw(st.one_of(path, path, st.sampled_from(PATHS))),
        method=draw(st.one_of(method, method, st.sampled_from(METHODS))),
        query=draw(st.one_of(st.just(usual.query), st.sampled_from(QUERIES), odd_queries)),
        headers=draw(st.one_of(st.just(usual.headers), headers(), headers())),
    )
    return draw(framed(message)) if draw(st.booleans()) else message


@st.composite
def broken_messages(draw: st.DrawFn) -> Message:
    """Messages that are not valid HTTP."""
    message = Message(draw(bodies), is_http=False)
    match draw(st.sampled_from(["header", "host", "path", "method", "chunks"])):
        case "header":
            return replace(message, headers=(*JSON_TYPE, draw(st.sampled_from(FORBIDDEN))))
        case "host":
            return replace(message, host=draw(st.sampled_from(BAD_HOSTS)))
        case "path":
            return replace(message, path=draw(st.sampled_from(BAD_PATHS)))
        case "method":
            return replace(message, method=draw(st.sampled_from(BAD_METHODS)))
    return replace(message, body=draw(st.sampled_from(BAD_CHUNKS)), chunk_bytes=0)
