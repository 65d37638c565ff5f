"""The kernels as requests: memory, cached inputs, many at once, and without HTTP."""

import json
import subprocess
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest
from live_service import SERVICE, STRATEGIES, LiveService

from restbench_service.execution.job import InOrderLoop
from restbench_service.workloads.npb.workload import (
    KERNELS,
    OF_THIS_PROCESS,
    InputCache,
    NpbRequest,
    NpbWorkload,
)


@pytest.mark.parametrize("kernel", list(KERNELS))
@pytest.mark.parametrize("class_name", ["S", "W"])
def test_a_kernel_takes_the_memory_that_it_says_and_not_much_less(
    kernel: str, class_name: str
) -> None:
    workload, request = NpbWorkload(kernel, 0), NpbRequest(1, class_name, generate=True)
    tracemalloc.start()  # numpy tells it of its arrays
    try:
        workload.compute(request, InOrderLoop())
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 0.5 < peak_bytes / workload.working_bytes(request) <= 1


def test_the_cache_stays_within_its_limit_and_lets_go_of_what_was_used_longest_ago() -> None:
    cache, built = InputCache(), list[str]()

    def get(name: str, size_bytes: int) -> Any:
        def build() -> list[np.ndarray[tuple[int], np.dtype[np.float64]]]:
            built.append(name)
            return [np.zeros(1)]

        return cache.get((name, "S"), size_bytes, 100, build)

    for name, size_bytes in (("a", 40), ("b", 40), ("a", 40), ("c", 40), ("a", 40), ("big", 101)):
        get(name, size_bytes)
        assert cache.held_bytes <= 100
    assert built == ["a", "b", "c", "big"]
    get("b", 40)
    get("big", 101)
    assert built == ["a", "b", "c", "big", "b", "big"]
    with pytest.raises(ValueError, match="read-only"):
        get("b", 40)[0][0] = 2


def test_generate_false_leaves_the_input_for_the_next_request_and_generate_true_none() -> None:
    workload, loop = NpbWorkload("CG", 2**26), InOrderLoop()
    held_before = OF_THIS_PROCESS.held_bytes
    workload.compute(NpbRequest(1, "S", generate=True), loop)
    assert OF_THIS_PROCESS.held_bytes == held_before
    request = NpbRequest(1, "S", generate=False)
    for _ in range(2):
        assert workload.compute(request, loop).outcome.verified
        assert OF_THIS_PROCESS.held_bytes - held_before == KERNELS["CG"].input_bytes(
            KERNELS["CG"].classes["S"]
        )


def test_eight_requests_of_mixed_kernels_and_strategies_at_once_are_all_verified(
    service: LiveService,
) -> None:
    def ask(number: int) -> tuple[str, bool]:
        kernel = ("is", "cg", "mg", "ft")[number % 4]
        strategy = STRATEGIES[number % len(STRATEGIES)]
        request = {"requestId": number, "class": "S", "generate": number % 2 == 0}
        answer = service.request("POST", f"/npb-{kernel}/{strategy}", json.dumps(request).encode())
        members = json.loads(answer.body)
        return members["requestId"], members["verified"]

    with ThreadPoolExecutor(8) as users:
        assert list(users.map(ask, range(24))) == [(str(number), True) for number in range(24)]


def direct(
    *arguments: str, output: int | IO[str] = subprocess.PIPE
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "restbench_service.direct", *arguments],
        cwd=SERVICE,
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("strategy", ["serial", "process-per-element", "executor-per-request"])
def test_a_direct_run_prints_an_answer_a_repetition(strategy: str) -> None:
    result = direct("FT", "S", "--strategy", strategy, "--repetitions", "2", "--cached-input")
    assert result.returncode == 0, result.stderr
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    said = [(a["requestId"], a["kernel"], a["class"], a["verified"]) for a in answers]
    assert said == [("1", "FT", "S", True), ("2", "FT", "S", True)]


def test_a_direct_run_names_the_classes_of_a_kernel() -> None:
    result = direct("CG", "W30")
    assert result.returncode == 2
    assert "CG has the classes S, W, A, B, C" in result.stderr


@pytest.mark.parametrize("number", ["0", "-1"])
def test_a_direct_run_has_at_least_one_repetition(number: str) -> None:
    result = direct("IS", "S", "--repetitions", number)
    assert (result.returncode, result.stdout) == (2, "")
    assert "--repetitions: must be an integer from 1 to 999999" in result.stderr


def test_a_direct_run_whose_answers_cannot_be_written_says_so_in_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        result = direct("IS", "S", "--repetitions", "2", output=full)
    assert (result.returncode, result.stderr) == (1, "standard output takes no more\n")
