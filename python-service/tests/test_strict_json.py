"""JSON as the contract has it: what is wrong, and in how little memory that is found."""

import json
import subprocess
import sys
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from restbench_service.codec import codec, strict_json
from restbench_service.codec.codec import MAX_CONCURRENTLY_READ_BYTES, Codec, readable_id
from restbench_service.codec.logs import LogsJson
from restbench_service.codec.matrix import MOST_BYTES_PER_BODY_BYTE, MatrixJson
from restbench_service.codec.messages import MessagesJson
from restbench_service.codec.npb import NpbJson
from restbench_service.codec.strict_json import MAX_DEPTH, check
from restbench_service.workloads.workload import InvalidRequestError


def fault(body: bytes) -> str | None:
    try:
        check(body)
    except InvalidRequestError as error:
        return error.message.removeprefix("the body ")
    return None


def reference(body: bytes) -> str | None:
    """The same by Python's own reader, which builds every value."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return "is not valid UTF-8"
    if deepest(text) > MAX_DEPTH:
        return "is nested deeper than 32 levels"
    twice = False

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal twice
        twice = twice or len(dict(pairs)) < len(pairs)
        return dict(pairs)

    def refuse(_: str) -> None:
        raise ValueError

    try:
        value = json.loads(
            text, object_pairs_hook=members, parse_int=str, parse_float=str, parse_constant=refuse
        )
    except ValueError:
        return "is not well-formed JSON"
    if twice:
        return "has a member twice in one object"
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return "has a lone surrogate in a string"
    return None


def deepest(text: str) -> int:
    depth = found = 0
    in_string = is_escaped = False
    for character in text:
        if character == '"' and not is_escaped:
            in_string = not in_string
        elif not in_string:
            depth += (character in "[{") - (character in "]}")
            found = max(found, depth)
        is_escaped = character == "\\" and not is_escaped
    return found


TOKENS = [
    *'[]{},:" \t\n\\-0',
    '"a"',
    '"a":',
    '"\\u0061":',
    "\\ud800",
    "\\udc00",
    "\\\\",
    '\\"',
    "[" * 31,
    "]" * 31,
    "true",
    "NaN",
    "1.5e3",
    "01",
    "é",
    "\x0c",
    "\ufeff",
]
JSON_VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text("ab\\u00e9", max_size=3), inner, max_size=4)
    ),
)


@settings(max_examples=600)
@given(st.lists(st.sampled_from(TOKENS), max_size=12), st.sampled_from([5, strict_json._PIECE]))
def test_any_text_is_judged_as_python_s_own_reader_judges_it(tokens: list[str], piece: int) -> None:
    body = "".join(tokens).encode()
    with patch.object(strict_json, "_PIECE", piece):
        assert fault(body) == reference(body)


@settings(max_examples=300)
@given(JSON_VALUES, st.data())
def test_well_formed_json_is_well_formed_until_it_is_spoilt(
    value: Any, data: st.DataObject
) -> None:
    text = json.dumps(value, ensure_ascii=data.draw(st.booleans()))
    assert fault(text.encode()) is None
    position = data.draw(st.integers(0, len(text)))
    body = (text[:position] + data.draw(st.sampled_from(TOKENS)) + text[position:]).encode()
    assert fault(body) == reference(body)


@pytest.mark.parametrize("inside", ["[" * 40_000, "]" * 40_000])
def test_brackets_in_a_long_string_are_no_levels(inside: str) -> None:
    levels = "[" * 31 + "]" * 31
    assert fault(f'["{inside}",{levels},"{inside}",{levels}]'.encode()) is None
    assert fault(f'["{inside}",[{levels}],"{inside}",{levels}]'.encode()) is not None


def test_a_member_twice_is_found_among_very_many() -> None:
    names = [f'"{number}":0' for number in range(5000)]
    assert fault(f"{{{','.join(names)}}}".encode()) is None
    assert fault(f"{{{','.join([*names, names[17]])}}}".encode()) is not None


MEASURE = """
import resource, sys
from restbench_service.codec.matrix import MatrixJson
from restbench_service.codec.messages import MessagesJson
from restbench_service.workloads.workload import InvalidRequestError
size, kind = int(sys.argv[2]), sys.argv[1]
codec = MatrixJson(2**25)
row = b'{"columnCount":%d,"rows":[{"value":%s}]}'
one = row % (1, b'"1"')
if kind == "unknown member":
    body = b'{"u":[' + b"1," * (size // 2) + b"1]}"
elif kind == "unknown objects":
    body = b'{"u":[' + b"{}," * (size // 3) + b"1]}"
elif kind == "unknown strings":
    body = b'{"u":[' + b"[]," * 40 + b'"\\\\n",' * (size // 5) + b"1]}"
elif kind == "queues":
    codec = MessagesJson("broadcast", 0, 9, "serial")
    body = b'{"requestId":1,"sender":1,"queues":[' + b'"a",' * (size // 4) + b'"a"],"body":"x"}'
else:
    wide = b"[" + b"999," * (size // 4 - 1) + b"1]"
    body = b'{"requestId":1,"matrixTwo":' + one + b',"matrixOne":' + row % (size // 4, wide) + b"}"
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    codec.decode(body, "")
except InvalidRequestError as error:
    print(error.code, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("unknown member", "003"),
        ("unknown objects", "003"),
        ("unknown strings", "003"),
        ("arrays", "001"),
        ("queues", "003"),
    ],
)
def test_a_large_body_is_read_slowly_within_the_stated_memory(kind: str, code: str) -> None:
    size_bytes = 16 * 2**20
    program = [sys.executable, "-c", MEASURE, kind, str(size_bytes)]
    measured = subprocess.run(program, check=True, capture_output=True, text=True)
    found, grown_bytes = measured.stdout.split()
    assert found == code
    assert int(grown_bytes) <= MOST_BYTES_PER_BODY_BYTE * size_bytes


class Entered:
    """Counts how often it is held."""

    times = 0

    def __enter__(self) -> None:
        self.times += 1

    def __exit__(self, *_: object) -> None:
        pass


ONE = b'{"columnCount":1,"rows":[{"value":"1"}]}'
READ: dict[str, tuple[Codec[Any, Any], bytes]] = {
    "matrix": (MatrixJson(1), b'{"requestId":1,"matrixOne":%b,"matrixTwo":%b}' % (ONE, ONE)),
    "logs": (LogsJson(), b'{"requestId":1,"ruleSet":"R16","lines":["a"]}'),
    "npb": (NpbJson("IS"), b'{"requestId":1,"class":"S"}'),
    "messages": (
        MessagesJson("send", 0, 9, "serial", ("a",)),
        b'{"requestId":1,"sender":1,"body":"x"}',
    ),
}


@pytest.mark.parametrize("name", READ)
def test_a_long_body_is_read_alone_in_its_process(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """As several at once would take more memory than is stated."""
    (json_codec, body), lock = READ[name], Entered()
    monkeypatch.setattr(codec, "SLOW_READ_LOCK", lock)
    for beyond in (0, 1):
        long = body.ljust(MAX_CONCURRENTLY_READ_BYTES + beyond)
        assert json_codec.decode(long, "").request_id == 1
        assert lock.times == beyond
    assert readable_id(long) == 1
    assert lock.times == 2
