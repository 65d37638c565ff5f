"""The kernels are verified in every class that a test can afford, however their loops are cut."""

import json
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import DTypeLike

from restbench_service.codec.npb import NpbJson
from restbench_service.execution.job import InOrderLoop, Job
from restbench_service.execution.strategy import Strategy
from restbench_service.workloads.npb import conjugate_gradient, random_numbers
from restbench_service.workloads.npb.conjugate_gradient import Solver, build_matrix
from restbench_service.workloads.npb.integer_sort import Ranking
from restbench_service.workloads.npb.kernel import Outcome, Value
from restbench_service.workloads.npb.multigrid import SMOOTHER_B
from restbench_service.workloads.npb.workload import KERNELS, NpbWorkload
from restbench_service.workloads.workload import ParallelLoop

every_kernel = pytest.mark.parametrize("kernel", list(KERNELS))
FLOATING = ("CG", "MG", "FT")
IN_PROCESSES = ("process-per-element", "process-per-request")
"""One strategy that cuts a loop, and one that runs it whole in another process."""
SEED = random_numbers.SEED


class SinglePrecision(InOrderLoop):
    """Gives arrays of half the precision that was asked for."""

    def array(self, shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray[Any, Any]:
        halves: dict[Any, Any] = {np.dtype("f8"): np.float32, np.dtype("c16"): np.complex64}
        return np.empty(shape, halves.get(np.dtype(dtype), dtype))


def size_of(kernel: str, class_name: str) -> Any:
    return KERNELS[kernel].classes[class_name]


def run(kernel: str, size: Any, loop: ParallelLoop | None = None) -> Outcome:
    return KERNELS[kernel].run(size, None, loop or InOrderLoop())


@cache
def value_in_order(kernel: str) -> Value:
    return run(kernel, size_of(kernel, "W")).value


@every_kernel
@pytest.mark.parametrize("strategy", IN_PROCESSES)
def test_class_w_is_verified_and_the_same_to_the_last_bit_as_in_order(
    strategies: dict[str, Strategy], kernel: str, strategy: str
) -> None:
    body = b'{"requestId":1,"class":"W"}'
    job = Job(NpbWorkload(kernel, 0), NpbJson(kernel), body)
    answer = json.loads(strategies[strategy].execute(job).result())
    assert answer["verified"] is True
    assert answer["value"] == value_in_order(kernel)


@every_kernel
def test_class_a_is_verified(kernel: str) -> None:
    assert run(kernel, size_of(kernel, "A")).verified


def test_w30_is_verified_by_its_fourth_norm_and_the_smallness_of_its_last() -> None:
    size = size_of("MG", "W30")
    outcome = run("MG", size)
    assert outcome.verified
    assert outcome.value == pytest.approx(0.183103168997e-04, rel=1e-8)
    assert not run("MG", replace(size, iterations=12)).verified


@pytest.mark.parametrize(
    ("class_name", "zetas"),
    [("S", (9.998644157914, 8.573327920322)), ("W", (11.999700372738, 10.345727566406))],
)
def test_cg_s_first_estimates_are_npb_s(class_name: str, zetas: tuple[float, ...]) -> None:
    for iterations, zeta in enumerate(zetas, start=1):
        found = run("CG", replace(size_of("CG", class_name), iterations=iterations)).value
        assert found == pytest.approx(zeta, rel=1e-12)


def test_cg_s_first_residual_is_as_small_as_25_steps_make_it() -> None:
    solver = Solver(build_matrix(size_of("CG", "S")), InOrderLoop())
    assert solver.solve(np.ones(1400), 25)[1] < 3e-13
    assert solver.solve(np.ones(1400), 24)[1] > 4e-13


@every_kernel
@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(SEED + 2, id="another seed"),
        pytest.param(random_numbers.after(SEED, 1), id="a missed draw"),
        pytest.param(random_numbers.after(SEED, -1), id="a draw too many"),
    ],
)
def test_other_numbers_are_not_verified(
    monkeypatch: pytest.MonkeyPatch, kernel: str, seed: int
) -> None:
    monkeypatch.setattr(random_numbers, "SEED", seed)
    assert not run(kernel, size_of(kernel, "S")).verified


@pytest.mark.parametrize("kernel", FLOATING)
def test_single_precision_is_not_verified(kernel: str) -> None:
    assert not run(kernel, size_of(kernel, "S"), SinglePrecision()).verified


@pytest.mark.parametrize(
    ("kernel", "change"),
    [
        pytest.param("MG", {"smoother": SMOOTHER_B}, id="the other smoother"),
        pytest.param("MG", {"iterations": 3}, id="an iteration less"),
        pytest.param("FT", {"nx": 32}, id="a smaller grid"),
    ],
)
def test_another_computation_is_not_verified(kernel: str, change: dict[str, Any]) -> None:
    assert not run(kernel, replace(size_of(kernel, "S"), **change)).verified


def test_24_inner_steps_give_the_same_zeta_and_only_the_count_of_products_tells(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(conjugate_gradient, "INNER_STEPS", 24)
    size = size_of("CG", "S")
    found = run("CG", size)
    assert found.value == pytest.approx(size.zeta, rel=1e-10)
    assert not found.verified


def test_a_rank_that_no_test_key_has_is_verified_by_the_order_of_all_keys(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rank = Ranking.rank

    def wrong_once(self: Ranking) -> Any:
        up_to = rank(self)
        up_to[1000] += 1
        return up_to

    monkeypatch.setattr(Ranking, "rank", wrong_once)
    outcome = run("IS", size_of("IS", "S"))
    assert (outcome.value, outcome.verified) == (50, False)


@every_kernel
def test_the_operations_are_counted_by_npb_s_formula(kernel: str) -> None:
    expected = {"IS": 83.88608, "CG": 1496.46, "MG": 58 * 4 * 256**3 / 1e6, "FT": 7136.4}
    operations = KERNELS[kernel].operations(size_of(kernel, "A"))
    assert operations / 1e6 == pytest.approx(expected[kernel], rel=1e-5)
