"""Bodies and their expected answers, held against arithmetic done another way."""

from __future__ import annotations

import json
from pathlib import Path

from restbench.drive.payload import make_payload, payload_of
from restbench.experiment import experiment
from restbench.experiment.cell import Shape
from restbench.store import store

SHAPE = Shape(rows=7, inner=5, columns=3)


def operand(document: dict[str, object], name: str) -> list[list[int]]:
    matrix = document[name]
    assert isinstance(matrix, dict)
    return [[int(text) for text in row["value"].split(",")] for row in matrix["rows"]]


def test_the_expected_answer_is_the_product_of_the_operands_in_the_body() -> None:
    payload = make_payload(SHAPE, 9, -50, 50)
    document = json.loads(payload.body(7))
    left, right = operand(document, "matrixOne"), operand(document, "matrixTwo")
    product = [
        [sum(left[i][k] * right[k][j] for k in range(5)) for j in range(3)] for i in range(7)
    ]
    assert json.loads(payload.answer(7)) == {"requestId": "7", "rows": product}
    assert document["requestId"] == 7
    assert (document["matrixOne"]["columnCount"], document["matrixTwo"]["columnCount"]) == (5, 3)


def test_the_answer_has_no_white_space_and_its_id_is_a_string() -> None:
    answer = make_payload(SHAPE, 9, 0, 50).answer(7)
    assert answer.startswith(b'{"requestId":"7","rows":[[')
    assert b" " not in answer


def test_products_beyond_64_bits_in_between_are_exact() -> None:
    payload = make_payload(SHAPE, 9, 2**31, 2**31)
    assert json.loads(payload.answer(1))["rows"][0][0] == 5 * 2**62


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others() -> None:
    assert make_payload(SHAPE, 1, 0, 50).body_rest == make_payload(SHAPE, 1, 0, 50).body_rest
    assert make_payload(SHAPE, 1, 0, 50).body_rest != make_payload(SHAPE, 2, 0, 50).body_rest


def test_elements_take_both_ends_of_their_range() -> None:
    large = make_payload(Shape(rows=60, inner=20, columns=20), 1, 0, 3)
    elements = {value for row in operand(json.loads(large.body(1)), "matrixOne") for value in row}
    assert elements == {0, 1, 2, 3}


def test_the_files_of_the_plan_make_the_same_body(tmp_path: Path) -> None:
    payload = make_payload(SHAPE, 1, 0, 50)
    payload.write(tmp_path)
    rest = (tmp_path / "body-rest.json").read_text()
    assert ('{"requestId":"u1-1",' + rest).encode() == payload.body("u1-1")
    answer = (tmp_path / "answer-rest.json").read_text()
    assert ('{"requestId":"u1-1",' + answer).encode() == payload.answer("u1-1")


def test_data_4000_has_4000_values_to_read_and_4000_to_write() -> None:
    study = experiment.load(store.experiment_file("thesis"))
    payload = payload_of(study, "data-4000")
    document = json.loads(payload.body(1))
    rows = json.loads(payload.answer(1))["rows"]
    assert sum(map(len, operand(document, "matrixOne"))) == sum(map(len, rows)) == 4000
    assert round(len(payload.body(1)) / 1000) == 15
    assert round(len(payload.answer(1)) / 1000) in (23, 24)
