"""The oracle's reader and arithmetic against others', on drawn values."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from restbench_robustness.bodies import document, matrices
from restbench_robustness.oracle import Limits, Oracle, Request
from restbench_robustness.oracle.strict_json import Json, Number, read
from restbench_robustness.oracle.verdict import Violation

values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    ),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text("abc"), inner)),
    max_leaves=12,
)


def plain(value: Json) -> Any:
    if isinstance(value, Number):
        return int(value.text)
    if isinstance(value, dict):
        return {name: plain(member) for name, member in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


@given(values, matrices.spaces, st.booleans())
def test_the_reader_reads_what_another_writer_wrote(value: Any, space: str, ascii_: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_, indent=space or None)
    assert plain(read(text.encode())) == value


@given(st.binary(max_size=12) | st.text('{}[],:"\\u0d8ae1-+. tn', max_size=16).map(str.encode))
def test_the_reader_accepts_nothing_that_python_s_own_refuses(body: bytes) -> None:
    try:
        value = read(body)
    except Violation:
        return
    json.loads(body)
    assert value is None or isinstance(value, dict | list | str | Number | bool)


@given(matrices.operands(4))
def test_the_product_is_that_of_the_definition(operands: tuple[Any, Any]) -> None:
    one, two = operands
    product = [
        [sum(one[i][k] * two[k][j] for k in range(len(two))) for j in range(len(two[0]))]
        for i in range(len(one))
    ]
    body = document.encode(document.write(sent(one, two)))
    sent_rightly = Request("POST", "/matrix/serial", "application/json", body, len(body))
    verdict = Oracle(["serial"], Limits(10_000)).judge(sent_rightly)
    assert verdict is not None
    if all(-(2**63) <= x < 2**63 for row in product for x in row):
        assert verdict.product is not None
        assert json.loads(verdict.product)["rows"] == product
    else:
        assert verdict.code == "006"


def sent(one: Any, two: Any) -> document.Members:
    parts = [
        document.Members(
            [
                ("columnCount", len(rows[0])),
                ("rows", [document.Members([("value", row)]) for row in rows]),
            ]
        )
        for rows in (one, two)
    ]
    return document.Members([("requestId", 1), ("matrixOne", parts[0]), ("matrixTwo", parts[1])])
