"""Arrays of process-per-element: shown to a process once, kept between loops, then let go."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from live_service import children, kill, name_of, read_proc, wait_until
from observed import Observed

from restbench_service.execution.clock import StageClock
from restbench_service.execution.pool.shared_array import SharedArrays
from restbench_service.execution.strategy import Strategy
from restbench_service.workloads.workload import Loop

Table = dict[str, Strategy]
LOOPS = 5


@dataclass(frozen=True)
class ManyLoops(Observed):
    """Adds one to each number of an array in each of several loops."""

    dies_before: int = -1
    alternates: bool = False

    def compute(self, value: dict[str, Any], loop: Loop) -> dict[str, Any]:
        numbers, weight = loop.array((value["units"],), np.int64), loop.array((1,), np.int64)
        numbers[...], weight[...] = 0, 1
        for number in range(LOOPS):
            if number == self.dies_before:
                kill_one()
            body = add_too if self.alternates and number % 2 else add
            loop.for_each(value["units"], 1, body, weight, numbers, weight)
        return {"numbers": numbers.tolist(), "mapped": mapped()}


def add(start: int, stop: int, weight: Any, numbers: Any, _same: Any) -> None:
    numbers[start:stop] += weight[0]


def add_too(start: int, stop: int, *arrays: Any) -> None:
    add(start, stop, *arrays)


def pool() -> list[int]:
    return [pid for pid in children(os.getpid()) if name_of(pid).startswith("restbench-PE-")]


def kill_one() -> None:
    before = pool()
    kill(before[0])
    wait_until(lambda: len(pool()) == 2 and before[0] not in pool())


def mapped() -> list[int]:
    """How many shared arrays each process sees."""
    maps = [read_proc(Path(f"/proc/{pid}/maps")) for pid in pool()]
    return [text.count("restbench-array") for text in maps]


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many arrays went to each process with each loop that it was told of."""
    counts: list[int] = []
    show = SharedArrays.show

    def counted(self: Any, arguments: Any, to: Any) -> list[int]:
        descriptors = show(self, arguments, to)
        counts.append(len(descriptors))
        return descriptors

    monkeypatch.setattr(SharedArrays, "show", counted)
    yield counts


def run(strategies: Table, workload: ManyLoops) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(
        strategies["process-per-element"].execute(workload, b"40", StageClock())
    )
    return answer


def test_a_process_is_shown_an_array_once_for_all_loops(
    strategies: Table, shown: list[int]
) -> None:
    answer = run(strategies, ManyLoops())
    assert answer["numbers"] == [LOOPS] * 40
    assert answer["mapped"] == [2, 2]
    assert shown == [2, 2]


def test_a_process_is_not_shown_an_array_again_with_another_loop(
    strategies: Table, shown: list[int]
) -> None:
    assert run(strategies, ManyLoops(alternates=True))["numbers"] == [LOOPS] * 40
    assert shown == [2, 2, 0, 0]


def test_the_processes_let_go_of_the_arrays_after_the_request(strategies: Table) -> None:
    run(strategies, ManyLoops())
    wait_until(lambda: mapped() == [0, 0])


def test_a_process_that_replaces_another_between_two_loops_is_shown_the_arrays(
    strategies: Table, shown: list[int]
) -> None:
    assert run(strategies, ManyLoops(dies_before=3))["numbers"] == [LOOPS] * 40
    assert sum(shown) == 6
    wait_until(lambda: mapped() == [0, 0])
