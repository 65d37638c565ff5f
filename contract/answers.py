"""Comparison of an answer with an example of the contract; README.md describes the examples."""

from __future__ import annotations

import http.client
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

NIL = "{http://www.w3.org/2001/XMLSchema-instance}nil"
SECURITY_HEADERS = (
    "X-Content-Type-Options", "Cache-Control", "Content-Security-Policy", "Referrer-Policy",
)  # fmt: skip
SERVER_TIMING = (
    r"(delay;dur=\d+\.\d{3}, )?(unmarshal;dur=\d+\.\d{3}, )?queue;dur=\d+\.\d{3}"
    + "".join(rf", {stage};dur=\d+\.\d{{3}}" for stage in ("parse", "compute", "serialize"))
    + r"(, marshal;dur=\d+\.\d{3})?"
)
DATABASE_TIMING = SERVER_TIMING + r", connection;dur=\d+\.\d{3}, database;dur=\d+\.\d{3}"


@dataclass(frozen=True)
class Answer:
    """An HTTP response."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes


@dataclass(frozen=True)
class Expectation:
    """An example, and the answer to the last of the requests that prepared it."""

    example: dict[str, Any]
    earlier: dict[str, Any] = field(default_factory=dict)


def unlike(expected: Expectation, answer: Answer) -> Iterator[str]:
    """Every difference between an answer and its example."""
    example, headers, body = expected.example, answer.headers, answer.body
    if answer.status != example["status"]:
        yield f"status {answer.status}, not {example['status']}: {body[:200]!r}"
        return
    right = {"Content-Type": "application/json", "Content-Length": str(len(body))}
    if is_xml(body):
        right["Content-Type"] = "text/xml;charset=utf-8"
        yield from _unlike_fault(example, body)
        body = as_json(body)
    for header, value in (right | example.get("responseHeaders", {})).items():
        if not _has(headers, header, value):
            yield f"{header}: {headers.get(header)}, not {value}"
    yield from (f"no {header}" for header in (*SECURITY_HEADERS, "Date") if header not in headers)
    if re.search("[0-9]", headers.get("Server", "")):
        yield f"Server: {headers['Server']} has a version"
    form = DATABASE_TIMING if _is_of_messages(example) else SERVER_TIMING
    if answer.status == 200 and not re.fullmatch(form, headers.get("Server-Timing", "")):
        yield f"Server-Timing: {headers.get('Server-Timing', '')}"
    if "responseText" in example:
        if body != example["responseText"].encode():
            yield f"body {body[:200]!r}"
    elif not _alike(body, expected):
        yield f"body {body[:300]!r}"


def _has(headers: http.client.HTTPMessage, name: str, value: str | None) -> bool:
    """Whether the list in a header contains `value`; for None, whether the header is absent."""
    if value is None:
        return name not in headers
    return value in re.split(" *, *", headers.get(name, ""))


def _is_of_messages(example: dict[str, Any]) -> bool:
    return bool(example["request"]["path"].startswith("/messages/"))


def _alike(body: bytes, expected: Expectation) -> bool:
    """Whether the body has the expected members, with values of the expected types."""
    example = expected.example
    response, varying = example["response"], example.get("varying")
    try:
        members = json.loads(body)
    except ValueError:
        return False
    if not isinstance(members, dict):
        return False
    if varying is None:
        names = {"requestId", "errorCode", "errorMessage"}
        text = members.get("errorMessage", "")
        same = equal(members, {**members, **response})
        return set(members) == names and example.get("where", "") in text and same
    before = {name: expected.earlier.get(name) for name, it in varying.items() if it == "before"}
    varying = {name: rule for name, rule in varying.items() if rule != "before"}
    compact = json.dumps(members, ensure_ascii=False, separators=(",", ":")).encode()
    # In answers about messages only integers vary, so the rest of the text is fixed.
    is_written_right = body == compact or not _is_of_messages(example)
    return matches(members, {**response, **before}, varying) and is_written_right


def matches(value: Any, expected: dict[str, Any], varying: dict[str, Any]) -> bool:
    """Whether a value is an object with the expected members in order. Members in `varying` are
    compared by their rule (`close`), all others exactly."""
    if not isinstance(value, dict) or list(value) != list(expected):
        return False
    fixed = {name: it for name, it in expected.items() if name not in varying}
    near = (close(value[name], expected[name], rule) for name, rule in varying.items())
    return equal({name: value[name] for name in fixed}, fixed) and all(near)


def equal(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal in type and value: 7 is not "7", and 1 is not true."""
    return json.dumps(one) == json.dumps(other)


def close(value: Any, expected: Any, rule: float | dict[str, Any] | None) -> bool:
    """Whether a number, or each number of an array, is near the expected one.

    `rule` is a relative tolerance; None: the number must be above 0, and an integer where an
    integer is expected. For objects in an array, `rule` maps the members that vary to their rules.
    """
    if isinstance(expected, list):
        same = isinstance(value, list) and len(value) == len(expected)
        return same and all(close(*pair, rule) for pair in zip(value, expected, strict=True))
    if isinstance(rule, dict):
        return matches(value, expected, rule)
    kinds = (int,) if rule is None and isinstance(expected, int) else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds):
        return False
    return value > 0 if rule is None else math.isclose(value, expected, rel_tol=rule)


# --- SOAP -------------------------------------------------------------------------------------


def is_xml(body: bytes) -> bool:
    """Whether a body is a SOAP envelope."""
    return body.startswith(b"<soap:Envelope")


def as_json(xml: bytes) -> bytes:
    """The equivalent JSON body of a SOAP answer, so that examples have one form."""
    payload = ElementTree.fromstring(xml)[0][0]  # noqa: S314 - of the service under test
    detail = payload.find("detail")
    members: dict[str, Any] = {}
    for element in payload[0] if detail is None else detail[0]:
        name, text = element.tag.rpartition("}")[2], element.text or ""
        if name in ("row", "value", "reference"):
            members.setdefault(name, []).append(text if name == "row" else float(text))
        elif name in ("iterations", "kernelSeconds", "totalSeconds", "mops", "verified"):
            members[name] = json.loads(text)
        else:
            members[name] = None if element.get(NIL) == "true" else text
    return json.dumps(members).encode()


def _unlike_fault(example: dict[str, Any], xml: bytes) -> Iterator[str]:
    """Differences between the elements `faultcode` and `faultstring` and the example."""
    payload = ElementTree.fromstring(xml)[0][0]  # noqa: S314 - of the service under test
    code = payload.findtext("faultcode", "").rpartition(":")[2]
    if code != example.get("faultCode", ""):
        yield f"faultcode {code}"
    if payload.findtext("faultstring") != payload.findtext("detail/*/{*}errorMessage"):
        yield "faultstring is not errorMessage"


def answer_text(status: int, body: bytes) -> str:
    """Status and error code: `200`, `413 007`, or `400 other` for an error of another form."""
    if status < 400:
        return str(status)
    try:
        error = json.loads(as_json(body) if is_xml(body) else body)
        return f"{status} {error['errorCode']}" if len(error) == 3 else f"{status} other"
    except (ValueError, KeyError, TypeError):
        return f"{status} other"
