"""SOAP against REST: right and spoilt envelopes of matrices, and the answers that must come.

The answer to any body must be an envelope, within the timeout, and never error 099. An envelope of
the plain form is equivalent to a JSON document: the answer must have the product or the error code
that the oracle gives for that document.
"""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from hypothesis import strategies as st

from .bodies import Source
from .bodies.documents import overflow_messages, right_messages
from .bodies.faults import size_messages, spoilt_bytes
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
PIECES = (
    b"<", b">", b"&", b"<!DOCTYPE a>", b"<![CDATA[1]]>", b"]]>", b"<!--a-->", b"<?a?>", b"&lt;",
    b"&#0;", b"&a;", b"<a/>", b"<row>1</row>", b"<s:Body>", b"</s:Body>", b"<s:Header/>", b"\0",
    b"\xff", b"\xef\xbb\xbf", b' a="1"', b' xsi:nil="true"', b"<columnCount>1</columnCount>",
    b'<?xml version="1.1"?>', b'<?xml version="1.0" encoding="UTF-16"?>', b"1,", b"-",
    b"\xed\xa0\x80",
)  # fmt: skip
pieces = st.one_of(st.sampled_from(PIECES), st.binary(min_size=1, max_size=1))


def envelope(request_id: str, matrices: list[tuple[int, list[str]]]) -> bytes:
    """An envelope of the plain form; an operand is its columnCount and its rows."""
    text = f'<s:Envelope xmlns:s="{SOAP}"><s:Body><multiply xmlns="{MATRIX}">'
    text += f"<requestId>{escape(request_id)}</requestId>"
    for name, (columns, rows) in zip(("matrixOne", "matrixTwo"), matrices, strict=True):
        text += f"<{name}><columnCount>{columns}</columnCount>"
        text += "".join(f"<row>{escape(row)}</row>" for row in rows) + f"</{name}>"
    return f"{text}</multiply></s:Body></s:Envelope>".encode()


def document(body: bytes) -> bytes | None:
    """The JSON document that is equivalent to an envelope; None unless it has the plain form."""
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
    """The code and the members of a fault, or None and the members of a product.

    Raises ValueError where the answer does not have a form of the contract.
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


def unlike_rest(verdict: Verdict, code: str | None, members: dict[str, object]) -> list[str]:
    """The differences from the answer of REST for the same matrices."""
    if verdict.product is not None:
        right = json.loads(verdict.product)
        right["rows"] = [",".join(map(str, row)) for row in right["rows"]]
        return [] if members == right else [f"{members}, not {right}"]
    if code != verdict.code:
        return [f"code {code}, not {verdict.code}"]
    text = members["errorMessage"]
    return [] if text in verdict.messages else [f"message {text!r}, not {min(verdict.messages)!r}"]


def unlike(_message: Message, verdict: Verdict | None, reply: Answer | NoAnswer) -> list[str]:
    """The differences of a reply from the form of SOAP, and from REST where there is a verdict."""
    if isinstance(reply, NoAnswer):
        return [f"no answer: {reply.reason}"]
    try:
        code, members = said(reply)
    except ValueError as wrong:
        return [str(wrong)]
    found = [f"status {reply.status}"] if reply.status != (500 if code else 200) else []
    found += ["099"] if code == "099" else []
    return found + (unlike_rest(verdict, code, members) if verdict else [])


class SoapOracle(Oracle):
    """The oracle for envelopes: the verdict of REST for the same matrices."""

    def judge(self, request: Request) -> Verdict | None:
        """The right answer of REST; None where the envelope does not have the plain form."""
        rest = document(request.body)
        if rest is None:
            return None
        target = request.target.removeprefix("/soap")
        return super().judge(Request("POST", target, "application/json", rest, len(rest)))


def enveloped(message: Message) -> Message:
    """The envelope for a JSON document; its id loses the characters that XML cannot express."""
    request = json.loads(message.body)
    sides = []
    for name in ("matrixOne", "matrixTwo"):
        values = [row["value"] for row in request[name]["rows"]]
        rows = [it if isinstance(it, str) else ",".join(map(str, it)) for it in values]
        sides.append((min(request[name]["columnCount"], INT64[-1]), rows))  # schema: xs:long
    request_id = NOT_XML.sub("", str(request["requestId"])).replace("\r", "")
    return Message(envelope(request_id, sides), path=PATH, headers=HEADERS)


def plain_messages() -> st.SearchStrategy[Message]:
    """Matrices that are right, at the edge of 64 bits, or wrong in a way that the schema allows."""
    return st.one_of(right_messages(), overflow_messages(), size_messages()).map(enveloped)


@st.composite
def spoilt_messages(draw: st.DrawFn) -> Message:
    """Envelopes with one to three changes anywhere in their bytes."""
    body = draw(spoilt_bytes(draw(plain_messages()).body, pieces)) or b"<"
    return Message(body, path=PATH, headers=HEADERS)


SOURCES = (
    Source("envelopes", plain_messages(), 60),
    Source("spoilt envelopes", spoilt_messages(), 120),
)
