"""The oracle's arithmetic against the definition, on drawn values."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given

from restbench_robustness.bodies import document, matrices
from restbench_robustness.oracle import Limits, Oracle, Request


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
