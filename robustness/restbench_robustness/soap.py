"""SOAP against REST: envelopes of matrices, right and spoilt, and what a service must answer.

Whatever comes, the answer is an envelope, within the time and never 099. An envelope of the plain
form says the same as a document in JSON: its product or its code is the one that the oracle has for
that document.
"""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from hypothesis import strategies as st

from .bodies import Source
from .bodies.documents import (
    Rows,
    any_numbers,
    exact_terms,
    near_zero,
    operands,
    terms_that_wrap,
)
from .bodies.faults import spoilt_bytes
from .oracle import Oracle, Request, Verdict
from .wire import Answer, Message, NoAnswer

SOAP = "http://schemas.xmlsoap.org/soap/envelope/"
MATRIX = "urn:restbench:matrix"
PATH = "/soap/matrix/{strategy}"
HEADERS = (("Content-Type", "text/xml"),)
INT64 = range(-(2**63), 2**63)
OPERAND = rb"<columnCount>-?[0-9]{1,25}</columnCount>(?:<row>[^<>&]*</row>)+"
PLAIN = re.compile(
    rb'<s:Envelope xmlns:s="' + re.escape(SOAP.encode())
    + rb'"><s:Body><multiply xmlns="' + MATRIX.encode()
    + rb'"><requestId>([^<>&\r]*)</requestId><matrixOne>(' + OPERAND
    + rb")</matrixOne><matrixTwo>(" + OPERAND + rb")</matrixTwo></multiply></s:Body></s:Envelope>"
)  # fmt: skip
NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
BAD_PIECES = (
    "", " ", "x", "1.0", "1e3", "+1", "--1", "1 1", "9223372036854775808", "0x1", "\u0661",
)  # fmt: skip
PIECES = (
    b"<", b">", b"&", b"<!DOCTYPE a>", b"<![CDATA[1]]>", b"]]>", b"<!--a-->", b"<?a?>", b"&lt;",
    b"&#0;", b"&a;", b"<a/>", b"<row>1</row>", b"<s:Body>", b"</s:Body>", b"<s:Header/>", b"\0",
    b"\xff", b"\xef\xbb\xbf", b' a="1"', b' xsi:nil="true"', b"<columnCount>1</columnCount>",
    b'<?xml version="1.1"?>', b'<?xml version="1.0" encoding="UTF-16"?>', b"1,", b"-",
    b"\xed\xa0\x80",
)  # fmt: skip
pieces = st.one_of(st.sampled_from(PIECES), st.binary(min_size=1, max_size=1))


def envelope(request_id: str, matrices: list[tuple[int, list[str]]]) -> bytes:
    """Of an id, and a columnCount and rows for each operand."""
    text = f'<s:Envelope xmlns:s="{SOAP}"><s:Body><multiply xmlns="{MATRIX}">'
    text += f"<requestId>{escape(request_id)}</requestId>"
    for name, (columns, rows) in zip(("matrixOne", "matrixTwo"), matrices, strict=True):
        text += f"<{name}><columnCount>{columns}</columnCount>"
        text += "".join(f"<row>{escape(row)}</row>" for row in rows) + f"</{name}>"
    return f"{text}</multiply></s:Body></s:Envelope>".encode()


def document(body: bytes) -> bytes | None:
    """The JSON that an envelope of the plain form stands for; None where it has another form."""
    found = PLAIN.fullmatch(body)
    try:
        texts = [piece.decode() for piece in found.groups()] if found else []
    except UnicodeDecodeError:
        return None
    if not texts or NOT_XML.search("".join(texts)):
        return None
    request: dict[str, object] = {"requestId": texts[0]}
    for name, text in zip(("matrixOne", "matrixTwo"), texts[1:], strict=True):
        columns = int(re.findall("<columnCount>(.*)</columnCount>", text)[0])
        if columns not in INT64:
            return None
        rows = re.findall("<row>([^<]*)</row>", text.replace("\r\n", "\n").replace("\r", "\n"))
        request[name] = {"columnCount": columns, "rows": [{"value": row} for row in rows]}
    return json.dumps(request).encode()


def said(answer: Answer) -> tuple[str | None, dict[str, object]]:
    """A fault's code and its members, or no code and the product.

    Raises: ValueError where it is no answer of the contract.
    """
    try:
        payload = ElementTree.fromstring(answer.body)[0][0]  # noqa: S314 - of the service under test
    except (ElementTree.ParseError, IndexError) as error:
        raise ValueError(f"no envelope: {answer.body[:200]!r}") from error
    elements = payload.findall("detail/*/*") or payload.findall("*/*")
    texts = [(it.tag.rpartition("}")[2], it.text or "") for it in elements]
    rows = [text for name, text in texts if name == "row"]
    if rows:
        return None, {"requestId": dict(texts)["requestId"], "rows": rows}
    if [name for name, _ in texts] != ["requestId", "errorCode", "errorMessage"]:
        raise ValueError(f"no answer of the contract: {answer.body[:200]!r}")
    return dict(texts)["errorCode"], dict(texts)


def unlike_rest(verdict: Verdict, answer: Answer) -> list[str]:
    """In what an answer is not the one that REST has for the same matrices."""
    code, members = said(answer)
    if verdict.product is not None:
        right = json.loads(verdict.product)
        right["rows"] = [",".join(map(str, row)) for row in right["rows"]]
        return [] if members == right else [f"{members}, not {right}"]
    if code != verdict.code:
        return [f"code {code}, not {verdict.code}"]
    right_messages = {str(it) for it in verdict.messages}
    text = str(members["errorMessage"])
    return [] if text in right_messages else [f"message {text!r}, not {min(right_messages)!r}"]


def unlike(_message: Message, verdict: Verdict | None, reply: Answer | NoAnswer) -> list[str]:
    """In what a reply is not what SOAP has, or REST of the same matrices where it has them."""
    if isinstance(reply, NoAnswer):
        return [f"no answer: {reply.reason}"]
    try:
        code, _ = said(reply)
        found = [f"status {reply.status}"] if reply.status != (500 if code else 200) else []
        found += ["099"] if code == "099" else []
        return found + (unlike_rest(verdict, reply) if verdict else [])
    except ValueError as wrong:
        return [str(wrong)]


class SoapOracle(Oracle):
    """REST of the same matrices; None where an envelope has another form."""

    def judge(self, request: Request) -> Verdict | None:
        """The right answer of REST."""
        rest = document(request.body)
        if rest is None:
            return None
        target = request.target.removeprefix("/soap")
        return super().judge(Request("POST", target, "application/json", rest, len(rest)))


def _texts(rows: Rows) -> list[str]:
    return [",".join(map(str, row)) for row in rows]


@st.composite
def _sums(draw: st.DrawFn) -> tuple[Rows, Rows]:
    """A row times a column, on the edge of 64 bits."""
    terms = draw(st.one_of(exact_terms(), terms_that_wrap()))
    return [[left for left, _ in terms]], [[right] for _, right in terms]


@st.composite
def plain_messages(draw: st.DrawFn) -> Message:
    """Matrices that are right, or wrong in one thing that the schema does not see."""
    one, two = draw(st.one_of(operands(8), operands(3), _sums()))
    sides = [(len(one[0]), _texts(one)), (len(two[0]), _texts(two))]
    request_id = draw(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=130))
    columns, rows = sides[side := draw(st.integers(0, 1))]
    row = draw(st.integers(0, len(rows) - 1))
    match draw(st.sampled_from(["right", "right", "piece", "columns", "width", "rows", "empty"])):
        case "piece":
            rows[row] = draw(st.sampled_from(BAD_PIECES)) + "," + rows[row]
        case "columns":
            columns = draw(st.one_of(any_numbers, near_zero.map(columns.__add__)))
        case "width":
            rows[row] += "," + str(draw(any_numbers))
        case "rows":
            rows = [*rows, rows[-1]]
        case "empty":
            rows[row] = ""
    sides[side] = (columns, rows)
    body = envelope(NOT_XML.sub("", request_id), sides)
    return Message(body, path=PATH, headers=HEADERS)


@st.composite
def spoilt_messages(draw: st.DrawFn) -> Message:
    """Envelopes with one to three faults anywhere."""
    body = draw(spoilt_bytes(draw(plain_messages()).body, pieces)) or b"<"
    return Message(body, path=PATH, headers=HEADERS)


SOURCES = (
    Source("envelopes", plain_messages(), 60),
    Source("spoilt envelopes", spoilt_messages(), 120),
)
