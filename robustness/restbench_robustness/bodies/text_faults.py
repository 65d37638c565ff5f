"""Text that is nearly JSON, and bytes that are nearly text."""

from __future__ import annotations

from hypothesis import strategies as st

from restbench_robustness.message import Message

from .document import Members, Raw, encode, write
from .matrices import documents, spaces
from .members import NO_NUMBERS, put, spoilt_documents, spots

FRAGMENTS = (
    b"{", b"}", b"[", b"]", b",", b":", b'"', b'""', b"\\", b"/", b"0", b"-", b".", b"e", b" ",
    b"\n", b"\x00", b"\x0b", b"\x0c", b"\x7f", b"\x80", b"\xff", b"\xc0\x80", b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80", b"\xef\xbb\xbf", b"\xc2\xa0", b"\xe2\x80\xa8", b"\xc2\x85", b"null",
    b"true", b"NaN", b"Infinity", b"None", b"// x", b"/* */", b"#", b"'", b"\\u0000", b"\\ud800",
    b"\\udc00", b"\\ud83d\\ude00", b"\\uDe00\\uD83d", b"\\x41", b"\\u12", b"\\U0001f600", b"{}",
    b"[]", b'"a":1', b",,", b'"requestId":1,', b"1e400",
)  # fmt: skip
CODE_UNITS = (
    "\\ud800", "\\uDBFF", "\\udc00", "\\uDFFF", "\\u0000", "\\u0022", "\\u005C", "\\ufeff",
    "\\uFFFF", "\\", "\\\\", '\\"', "\\/", "\\b", "\\u", "\\uD83D\\uDE00", "a", "é", "😀", "\ud800",
    "\udfff", "\x01", "\t",
)  # fmt: skip
CHANGES = ("cut", "cut", "behead", "flip", "flip", "gone", "twice", "put", "put", "for", "turned")
ENCODINGS = ("utf-16-le", "utf-16-be", "utf-16", "utf-32", "utf-8-sig", "latin-1", "utf-7")

fragments = st.one_of(st.sampled_from(FRAGMENTS), st.binary(min_size=1, max_size=3))


@st.composite
def spoilt_bytes(draw: st.DrawFn, body: bytes) -> bytes:
    """One change somewhere: cut, a byte flipped, a span gone, moved, doubled, something put in."""
    at, bit = draw(st.integers(0, len(body))), 1 << draw(st.integers(0, 7))
    end = min(len(body), at + draw(st.integers(1, 9)))
    kept = {
        "cut": (body[:at], b"", b""),
        "behead": (b"", b"", body[at:]),
        "gone": (body[:at], b"", body[end:]),
        "twice": (body[:end], b"", body[at:]),
        "put": (body[:at], draw(fragments), body[at:]),
        "for": (body[:at], draw(fragments), body[end:]),
        "turned": (body[:at], body[at:end][::-1], body[end:]),
        "flip": (body[:at], bytes(byte ^ bit for byte in body[at : at + 1]), body[at + 1 :]),
    }
    return b"".join(kept[draw(st.sampled_from(CHANGES))])


@st.composite
def messages(draw: st.DrawFn) -> Message:
    """A right or spoilt request as text, after one to three changes to its bytes."""
    document = draw(st.one_of(documents(), spoilt_documents()))
    body = encode(write(document, draw(spaces)))
    for _ in range(draw(st.sampled_from([1, 1, 1, 2, 3]))):
        body = draw(spoilt_bytes(body))
    return Message(body)


@st.composite
def surrounded_messages(draw: st.DrawFn) -> Message:
    """A right request with something before or behind it, or in another encoding."""
    text = write(draw(documents(2)))
    if draw(st.booleans()):
        return Message(
            text.encode(
                draw(st.sampled_from(ENCODINGS)), "surrogatepass" if text.isascii() else "replace"
            )
        )
    around = st.one_of(st.just(b""), fragments, st.lists(fragments, max_size=3).map(b"".join))
    return Message(draw(around) + encode(text) + draw(around))


@st.composite
def unicode_messages(draw: st.DrawFn) -> Message:
    """Escapes, surrogates and raw bytes inside an id, a name or a member that is ignored."""
    document = draw(documents(2))
    inner = "".join(draw(st.lists(st.sampled_from(CODE_UNITS), max_size=5)))
    text = Raw(f'"{inner}"')
    spot = draw(st.sampled_from([s for s in spots(document) if isinstance(s[0], Members)]))
    match draw(st.sampled_from(["id", "value", "name", "ignored"])):
        case "id":
            document.pairs = [(n, text if n == "requestId" else v) for n, v in document.pairs]
        case "value":
            put(spot, text)
        case "name":
            document.pairs.append((text, 1))
        case _:
            document.pairs.insert(0, ("x", [text, text]))
    return Message(encode(write(document)))


@st.composite
def soup_messages(draw: st.DrawFn) -> Message:
    """Tokens in any order, alone or as a member that is ignored."""
    tokens = [*FRAGMENTS, *(number.encode() for number in NO_NUMBERS)]
    soup = b"".join(draw(st.lists(st.sampled_from(tokens), max_size=12)))
    if draw(st.booleans()):
        return Message(soup)
    document = encode(write(draw(documents(1))))
    return Message(b'{"x":' + soup + b"," + document[1:])
