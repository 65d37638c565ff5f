"""Probes: requests about HTTP itself, which an example cannot express, and the allowed answers.

A probe is a conversation on one connection. Its outcome is one text. For each answer the text has
the status, and the code of an error in the contract's form (`200`, `413 007`; `400 other`: an error
in another form; `100` before a body). After a step `Products` it has the products that the answer
names. At the end it has `closed`, `silent` or `no HTTP/1` where an expected answer is missing, or
`answered already` where an answer came before TERM was sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

BODY = (
    b'{"requestId":1,"matrixOne":{"columnCount":1,"rows":[{"value":"2"}]},'
    b'"matrixTwo":{"columnCount":1,"rows":[{"value":"3"}]}}'
)
LONG_BODY = b'{"requestId":1,"class":"A"}'
"""A request to the kernel CG: about a second of work."""


class Answer(NamedTuple):
    """Wait for `count` answers."""

    count: int = 1


class Products(NamedTuple):
    """Report which products the last answer names in its head or its body."""


class Pause(NamedTuple):
    """Send nothing for a while."""

    seconds: float


class Zeros(NamedTuple):
    """Send a body of zero bytes, `beyond_limit` bytes longer than the body limit."""

    beyond_limit: int
    in_chunks: bool


class EndOfSending(NamedTuple):
    """Close the sending half of the connection."""


class Terminate(NamedTuple):
    """Send TERM to the service once its metrics count a request in flight, at the latest after a
    fraction of the time that the previous answer took (conversation.PART)."""


class Timeout(NamedTuple):
    """Wait for an answer longer than the server's receive timeout."""


Step = bytes | Answer | Products | Pause | Zeros | EndOfSending | Terminate | Timeout


@dataclass(frozen=True)
class Probe:
    """A conversation and the outcomes that the contract allows, as a regular expression."""

    name: str
    about: str
    allowed: str
    steps: tuple[Step, ...]


def head(
    *lines: str, path: str = "/matrix/serial", version: str = "1.1", length: int | None = len(BODY)
) -> bytes:
    """The head of a request. `length` None: `lines` must say how the body is framed."""
    sized = [] if length is None else [f"Content-Length: {length}"]
    fixed = [f"POST {path} HTTP/{version}", "Host: service", "Content-Type: application/json"]
    return "\r\n".join([*fixed, *sized, *lines, "", ""]).encode()


def chunk(data: bytes) -> bytes:
    """A chunk of a body."""
    return b"%x\r\n%s\r\n" % (len(data), data)


CHUNKED = "Transfer-Encoding: chunked"
UPGRADE = (
    "Connection: Upgrade, HTTP2-Settings",
    "Upgrade: h2c",
    "HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA",
)
WEBSOCKET = (
    b"GET /nothing HTTP/1.1\r\nHost: service\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
FORWARDED = (
    "SCRIPT_NAME: /x",
    "PATH_INFO: /x",
    "X-Forwarded-Proto: https",
    "X-Forwarded-Protocol: https",
    "X-Forwarded-Ssl: off",
)
REFUSED = r"4\d\d( \S+)?|50[15]( \S+)?|closed"
"""Answers to a request that is not HTTP or too long for a server: the form of the error is free."""
NO_NAME = "422 003|404 009"
"""Answer to an invalid queue name; 404 where the service has no database."""
MANY = 120
"""Requests on one connection: more than some servers allow by default."""
BEYOND = 4 * 1024 * 1024
"""Bytes that a client sends beyond the limit: more than socket buffers hold."""

PROBES = (
    Probe(
        "kept-connection",
        "One connection serves any number of requests.",
        " ".join(["200"] * MANY),
        (head() + BODY, Answer()) * MANY,
    ),
    Probe(
        "product-in-an-answer",
        "An answer does not say of which product the server is.",
        "200 none",
        (head() + BODY, Answer(), Products()),
    ),
    Probe(
        "product-in-a-refusal",
        "Nor does one that the server makes by itself.",
        f"({REFUSED}) none|closed",
        (b"\x16\x03\x01 hello\r\n\r\n", Answer(), Products()),
    ),
    Probe(
        "escaped-slash-in-a-name",
        "A path is not decoded: an escaped slash is no separator, and no part of a queue's name.",
        NO_NAME,
        (b"GET /messages/serial/queues/a%2Fb HTTP/1.1\r\nHost: service\r\n\r\n", Answer()),
    ),
    Probe(
        "escaped-nul-in-a-name",
        "Nor is an escaped NUL.",
        NO_NAME,
        (b"DELETE /messages/serial/queues/a%00 HTTP/1.1\r\nHost: service\r\n\r\n", Answer()),
    ),
    Probe(
        "target-that-is-no-path",
        "The server as a whole is no path of the service's, whatever is asked of it.",
        "404 009",
        (b"OPTIONS * HTTP/1.1\r\nHost: service\r\n\r\n", Answer()),
    ),
    Probe(
        "idle-connection",
        "A connection may be idle for seconds between two requests.",
        "200 200",
        (head() + BODY, Answer(), Pause(3), head() + BODY, Answer()),
    ),
    Probe(
        "pipelined",
        "Two requests sent at once are answered in order.",
        "200 200",
        ((head() + BODY) * 2, Answer(2)),
    ),
    Probe(
        "chunked-body",
        "A body in chunks is a body.",
        "200",
        (
            head(CHUNKED, length=None) + chunk(BODY[:9]),
            Pause(0.1),
            chunk(BODY[9:]) + chunk(b""),
            Answer(),
        ),
    ),
    Probe(
        "chunk-extension-and-trailer",
        "What a chunk's size line and the last chunk carry beside the body is ignored.",
        "200 200",
        (
            head(CHUNKED, length=None) + chunk(BODY).replace(b"\r\n", b";name=value\r\n", 1),
            b"0\r\nX-After: 1\r\n\r\n" + head() + BODY,
            Answer(2),
        ),
    ),
    Probe(
        "bad-chunk",
        "A chunk longer than its size line says is refused.",
        REFUSED,
        (head(CHUNKED, length=None) + b"%x\r\n%sxx" % (len(BODY), BODY) + chunk(b""), Answer()),
    ),
    Probe(
        "delay-on-a-kept-connection",
        "A connection serves on after a request that waited, and after one whose delay is wrong.",
        "200 422 003 200 200",
        (
            *(head(path="/matrix/serial?delay=200") + BODY, Answer()),
            *(head(path="/matrix/serial?delay=x") + BODY, Answer()),
            *(head(path="/matrix/serial?delay=0") + BODY, Answer()),
            *(head() + BODY, Answer()),
        ),
    ),
    Probe(
        "delay-of-a-chunked-body",
        "The wait begins when the last chunk is there.",
        "200 200",
        (
            head(CHUNKED, path="/matrix/serial?delay=200", length=None) + chunk(BODY[:9]),
            Pause(0.1),
            chunk(BODY[9:]) + chunk(b""),
            Answer(),
            head() + BODY,
            Answer(),
        ),
    ),
    Probe(
        "chunked-body-above-limit",
        "The limit is found while the chunks come, of which none is the last.",
        "413 007",
        (head(CHUNKED, length=None), Zeros(BEYOND, in_chunks=True), Answer()),
    ),
    Probe(
        "declared-body-above-limit",
        "Content-Length alone is refused, and the client that goes on sending gets to read it.",
        "413 007",
        (head("Content-Length: BEYOND", length=None), Zeros(BEYOND, in_chunks=False), Answer()),
    ),
    Probe(
        "long-body-to-unknown-path",
        "The path decides before the length.",
        "404 009",
        (head("Content-Length: BEYOND", path="/nothing", length=None), Answer()),
    ),
    Probe(
        "cut-off-body",
        "The client ends its sending before the announced length; what came is well-formed.",
        "400 002",
        (head(length=len(BODY) + 1) + BODY, EndOfSending(), Answer()),
    ),
    Probe(
        "cut-off-chunked-body",
        "The client ends its sending before the last chunk; what came is well-formed.",
        "400 002",
        (head(CHUNKED, length=None) + chunk(BODY), EndOfSending(), Answer()),
    ),
    Probe(
        "request-line-of-8000-bytes",
        "A request line may be that long.",
        "200",
        (head(path=f"/matrix/serial?x={'x' * 7969}") + BODY, Answer()),
    ),
    Probe(
        "target-in-absolute-form",
        "A target that names the host, as one sends it to a proxy, is the path behind it.",
        "200",
        (head(path="http://service/matrix/serial") + BODY, Answer()),
    ),
    Probe(
        "target-without-a-path",
        "A target that names the host alone is the path /, which the service has not.",
        "404 009",
        (b"GET http://service HTTP/1.1\r\nHost: service\r\n\r\n", Answer()),
    ),
    Probe(
        "target-with-a-fragment",
        "A fragment is no part of a target: another path, or refused.",
        "404 009|" + REFUSED,
        (head(path="/matrix/serial#x") + BODY, Answer()),
    ),
    Probe(
        "path-beyond-the-root",
        "Two dots are a name as any other.",
        "404 009",
        (b"GET /../health HTTP/1.1\r\nHost: service\r\n\r\n", Answer()),
    ),
    Probe(
        "head-of-20-kb",
        "A head longer than what servers take by default: served or refused, never a fault.",
        "200|" + REFUSED,
        (head(f"X-Long: {'x' * 20_000}") + BODY, Answer()),
    ),
    Probe(
        "head-of-100-kb",
        "A head that no server should hold is refused.",
        REFUSED,
        (head(f"X-Long: {'x' * 100_000}") + BODY, Answer()),
    ),
    Probe(
        "not-http",
        "What is not HTTP is refused.",
        REFUSED,
        (b"\x16\x03\x01 hello\r\n\r\n", Answer()),
    ),
    Probe(
        "method-in-lower-case",
        "Methods differ in case: this one is not POST.",
        REFUSED,
        (head().replace(b"POST", b"post", 1) + BODY, Answer()),
    ),
    Probe(
        "unknown-method",
        "A method that no standard names is a wrong one as any other.",
        "405 009",
        (head().replace(b"POST", b"FOO", 1) + BODY, Answer()),
    ),
    Probe(
        "unknown-version",
        "A request that says to be of HTTP/2.0 is refused, in HTTP/1.1.",
        REFUSED,
        (head(version="2.0") + BODY, Answer()),
    ),
    Probe(
        "another-unknown-version",
        "So is one that says to be of HTTP/3.0.",
        REFUSED,
        (head(version="3.0") + BODY, Answer()),
    ),
    Probe(
        "both-lengths",
        "Content-Length and chunks at once: refused, or the chunks count and the connection ends.",
        r"(200|4\d\d( \S+)?) closed|closed",
        (head(CHUNKED) + chunk(BODY) + chunk(b"") + head() + BODY, Answer(2)),
    ),
    Probe(
        "coding-before-chunked",
        "A body is not unpacked: another coding is refused, or its name ignored.",
        "200|" + REFUSED,
        (head("Transfer-Encoding: gzip, chunked", length=None) + chunk(BODY), chunk(b""), Answer()),
    ),
    Probe(
        "expect-100-continue",
        "A client that waits for 100 gets it before it sends its body.",
        "100 200",
        (head("Expect: 100-continue"), Answer(), BODY, Answer()),
    ),
    Probe(
        "body-after-a-refusal",
        "What a client sends on after a refusal that came without 100 is no request of its own.",
        r"(100 )?404 009( 200)?( closed)?",
        (
            *(head("Expect: 100-continue", path="/nothing"), Answer()),
            *(BODY + head("Connection: close") + BODY, Answer(), Answer()),
        ),
    ),
    Probe(
        "headers-of-proxies",
        "What a client says in a proxy's place changes nothing, and contradictions do no harm.",
        "200",
        (head(*FORWARDED) + BODY, Answer()),
    ),
    Probe(
        "http-1.0",
        "A client of HTTP/1.0 is served.",
        "200",
        (head(version="1.0") + BODY, Answer()),
    ),
    Probe(
        "upgrade-to-http-2",
        "A client that offers HTTP/2, as Java's does by default, is answered in HTTP/1.1.",
        "200 200",
        (head(*UPGRADE) + BODY, Answer(), head() + BODY, Answer()),
    ),
    Probe(
        "upgrade-to-websocket",
        "A client that offers WebSocket is answered as any other.",
        "404 009",
        (WEBSOCKET, Answer()),
    ),
    Probe(
        "http-2",
        "A client that begins with HTTP/2 without an offer is refused, in HTTP/1.1.",
        REFUSED,
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0)), Answer()),
    ),
    Probe(
        "unfinished-head",
        "A client that is silent in the middle of its head is let go within the receive timeout.",
        REFUSED,
        (head()[:40], Timeout()),
    ),
    Probe(
        "unfinished-body",
        "So is one that is silent in the middle of its body.",
        REFUSED,
        (head() + BODY[:40], Timeout()),
    ),
    Probe(
        "term-in-flight",
        "A request in flight when TERM comes gets its answer. This ends the service.",
        "200 200",
        (
            head(path="/npb-cg/serial", length=len(LONG_BODY)) + LONG_BODY,
            Answer(),
            head(path="/npb-cg/serial", length=len(LONG_BODY)) + LONG_BODY,
            Terminate(),
            Answer(),
        ),
    ),
)  # fmt: skip
