"""Random matrices against Python's own integers, and the two readers against each other."""

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from live_service import KERNELS, PER_ELEMENT, PER_REQUEST, STRATEGIES
from test_job import NotNowError, refuse

from restbench_service.codec import matrix as codec
from restbench_service.codec import slow_reader
from restbench_service.codec.codec import INT64_MAX, INT64_MIN
from restbench_service.codec.matrix import MatrixJson
from restbench_service.execution.job import Job, WorkLimits
from restbench_service.execution.strategy import Strategy
from restbench_service.settings import Settings
from restbench_service.workloads.matrix import (
    FLOAT64_EXACT_BELOW,
    MatrixRequest,
    MatrixWorkload,
    multiply_by_loops,
    multiply_by_numpy,
)
from restbench_service.workloads.workload import InvalidRequestError

Rows = list[list[int]]
MATRIX, CODEC = MatrixWorkload(), MatrixJson(Settings().most_product_elements)
MAGNITUDES = (50, 2**26, 2**31, 2**52, INT64_MAX)
"""Elements up to these lead through each arithmetic of the native kernel, and beyond 64 bits."""


@st.composite
def operands(draw: st.DrawFn) -> tuple[Rows, Rows]:
    rows, inner, columns = (draw(st.integers(1, 7)) for _ in range(3))
    largest = draw(st.sampled_from(MAGNITUDES))
    element = st.integers(-largest, largest) | st.sampled_from([-1, 0, 1, largest, -largest])
    return draw(matrix(element, rows, inner)), draw(matrix(element, inner, columns))


def matrix(element: st.SearchStrategy[int], rows: int, columns: int) -> st.SearchStrategy[Rows]:
    row = st.lists(element, min_size=columns, max_size=columns)
    return st.lists(row, min_size=rows, max_size=rows)


def expected(left: Rows, right: Rows) -> Rows | None:
    """The product by the definition, None where an element does not fit 64 bits."""
    columns = list(zip(*right, strict=True))
    product = [
        [sum(a * b for a, b in zip(row, column, strict=True)) for column in columns] for row in left
    ]
    fits = all(INT64_MIN <= element <= INT64_MAX for row in product for element in row)
    return product if fits else None


def body(left: Rows, right: Rows, strings: bool) -> bytes:
    def member(rows: Rows) -> dict[str, Any]:
        values = [",".join(map(str, row)) if strings else row for row in rows]
        return {"columnCount": len(rows[0]), "rows": [{"value": value} for value in values]}

    request = {"requestId": "r", "matrixOne": member(left), "matrixTwo": member(right)}
    return json.dumps(request, separators=(",", ":")).encode()


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=60)
@given(pair=operands(), strings=st.booleans())
def test_the_product_is_exact_or_refused(
    strategies: dict[str, Strategy],
    strategy: str,
    kernel: str,
    pair: tuple[Rows, Rows],
    strings: bool,
) -> None:
    left, right = pair
    query = f"kernel={kernel}"
    job = Job(MATRIX, CODEC, body(left, right, strings), query)
    answer, product = strategies[strategy].execute(job), expected(left, right)
    if product is None:
        error = answer.exception()
        assert isinstance(error, InvalidRequestError) and error.code == "006"
    else:
        text = json.dumps({"requestId": "r", "rows": product}, separators=(",", ":"))
        assert answer.result() == text.encode()


@given(pair=operands(), cuts=st.lists(st.integers(0, 49), max_size=6))
def test_the_product_does_not_depend_on_how_the_loop_is_cut(
    pair: tuple[Rows, Rows], cuts: list[int]
) -> None:
    left, right = (np.array(rows, np.int64) for rows in pair)
    exact = expected(*pair)
    units = len(left) * right.shape[1]
    edges = sorted({0, units, *(cut for cut in cuts if cut < units)})
    bodies = [multiply_by_loops] if exact else []
    largest = max(abs(element) for row in pair[0] + pair[1] for element in row)
    if left.shape[1] * largest**2 < FLOAT64_EXACT_BELOW:
        bodies.append(multiply_by_numpy)
    for multiply in bodies:
        product = np.full((len(left), right.shape[1]), -1, np.int64)
        for start, stop in pairwise(edges):
            multiply(start, stop, left, right, product)
        assert product.tolist() == exact


COLUMN_TIMES_ROW = body([[9]] * 30, [[9] * 30], strings=True)
NEEDED_BYTES = 30 * 30 * (8 + len("-81,"))


def job_of_a_large_product(**options: Any) -> Job:
    return Job(MATRIX, CODEC, COLUMN_TIMES_ROW, **options)


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_product_is_reserved_before_it_is_computed_where_the_service_decodes(
    strategies: dict[str, Strategy], name: str
) -> None:
    reserved = list[int]()
    strategies[name].execute(job_of_a_large_product(reserve=reserved.append)).result()
    assert reserved == ([] if name in PER_REQUEST else [NEEDED_BYTES])


@pytest.mark.parametrize("name", sorted({*STRATEGIES} - {*PER_ELEMENT}))
def test_an_element_that_is_no_task_does_not_count_as_one(
    strategies: dict[str, Strategy], name: str
) -> None:
    job = job_of_a_large_product(limits=WorkLimits(tasks=899))
    assert strategies[name].execute(job).result()


@pytest.mark.parametrize("name", PER_ELEMENT)
def test_tasks_are_counted_after_operations_and_before_memory_is_reserved(
    strategies: dict[str, Strategy], name: str
) -> None:
    for operations, tasks, message in (
        (899, 899, "operations: 900, the limit is 899"),
        (900, 899, "tasks: 900, the limit is 899"),
        (900, 900, None),
    ):
        limits = WorkLimits(operations={"matrix loops": operations}, tasks=tasks)
        job = job_of_a_large_product(limits=limits, reserve=refuse)
        error = strategies[name].execute(job).exception()
        assert getattr(error, "message", None) == message
        assert isinstance(error, InvalidRequestError if message else NotNowError)


def of_bound(bound: int, strings: bool, query: str = "kernel=native") -> MatrixRequest:
    """inner * largest |left| * largest |right| is `bound`, 2**63 - 1 or 2**63."""
    inner, left, right = (8, 2**30, 2**30) if bound == 2**63 else (7, 21870289, 60247241209)
    assert inner * left * right == bound
    sent = body([[1] * (inner - 1) + [-left]], [[right], *[[1]] * (inner - 1)], strings)
    request: MatrixRequest = CODEC.decode(sent, query)
    return request


@pytest.mark.parametrize("strings", [True, False])
def test_native_counts_as_loops_where_sums_may_not_fit_64_bits(strings: bool) -> None:
    kinds = [MATRIX.kind(of_bound(bound, strings)) for bound in (2**63 - 1, 2**63)]
    assert kinds == ["matrix native", "matrix loops"]
    assert MATRIX.kind(of_bound(2**63 - 1, strings, "")) == "matrix loops"


@given(pair=operands(), strings=st.booleans())
def test_a_product_and_its_text_take_no_more_than_is_reserved(
    pair: tuple[Rows, Rows], strings: bool
) -> None:
    product = expected(*pair)
    needed_bytes = MATRIX.working_bytes(CODEC.decode(body(*pair, strings), ""))
    if product is not None:
        numbers = [f"{element}," for row in product for element in row]
        assert 8 * len(numbers) + len("".join(numbers)) <= needed_bytes


GOOD = body([[1, -20], [300, 4]], [[5], [-60]], strings=True).decode()
GOOD_ARRAYS = body([[1, -20], [300, 4]], [[5], [-60]], strings=False).decode()
SIGNS = ['"', ",", "-", ".", " ", "\\", "[", "]", "{", "}", ":", "+", "\t", "\n", "\x00", "\u0661"]
TEXTS = ["0", "00", "9" * 19, str(INT64_MAX), str(INT64_MIN), "e1", "--1", "1-2", "null", "\ufeff"]
PIECES = st.sampled_from([*SIGNS, *TEXTS, '"value":', '"x":1,'])


def fast(text: str) -> MatrixRequest | None:
    return codec._read_usual(text.encode(), "loops")


def slow(text: str) -> tuple[str | int, Rows, Rows] | str:
    try:
        request_id, left, right = slow_reader.read(text.encode())
    except InvalidRequestError as error:
        return error.code
    return request_id, left.tolist(), right.tolist()


@settings(max_examples=600)
@given(
    text=st.sampled_from([GOOD, GOOD_ARRAYS]),
    changes=st.lists(st.tuples(st.integers(0, 200), st.integers(0, 3), PIECES), max_size=3),
)
@example(GOOD, [])
@example(GOOD_ARRAYS, [])
def test_what_the_fast_reader_accepts_the_slow_one_accepts_as_the_same(
    text: str, changes: list[tuple[int, int, str]]
) -> None:
    for position, removed, piece in changes:
        text = text[:position] + piece + text[position + removed :]
    found = fast(text)
    assert found is not None or changes, "the unchanged bodies are the fast reader's"
    if found is not None:
        assert (found.request_id, found.left.tolist(), found.right.tolist()) == slow(text)
