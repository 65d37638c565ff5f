"""Loops of process-per-element that come again: their processes are told of each once."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from observed import Observed

from restbench_service.execution.clock import StageClock
from restbench_service.execution.pool import elements
from restbench_service.execution.pool.element_process import MAX_MESSAGE_BYTES
from restbench_service.execution.strategy import Strategy
from restbench_service.workloads.workload import Loop

Table = dict[str, Strategy]
PROCESSES = 2


@dataclass(frozen=True)
class Additions(Observed):
    """Loop after loop, each of which adds a number of its own to every element of an array."""

    added: tuple[float, ...] = ()

    def compute(self, value: dict[str, Any], loop: Loop) -> dict[str, Any]:
        sums = loop.array((value["units"],), np.float64)
        sums[...] = 0
        for number in self.added:
            loop.for_each(sums.size, 1, add, sums, number)
        return {"sums": sums.tolist()}


def add(start: int, stop: int, sums: Any, number: float) -> None:
    sums[start:stop] += number


@dataclass(frozen=True)
class LateForTheFirst(Observed):
    """A loop whose first unit is not over before a number of others are."""

    others: int = 0

    def compute(self, value: dict[str, Any], loop: Loop) -> dict[str, Any]:
        done = loop.array((value["units"],), np.float64)
        done[...] = 0
        loop.for_each(done.size, 1, finish_late, done, self.others)
        return {"done": done.tolist()}


def finish_late(start: int, _stop: int, done: Any, others: int) -> None:
    deadline = time.monotonic() + 60
    while start == 0 and np.count_nonzero(done) < others:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{np.count_nonzero(done)} of {others} others were done")
        time.sleep(0.001)
    done[start] = 1


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bytes]]:
    """The loops that processes were told of, once a process."""
    definitions: list[bytes] = []
    define = elements._Dispatch.define

    def counted(self: Any, channel: Any, definition: bytes, descriptors: list[int]) -> None:
        definitions.append(definition)
        define(self, channel, definition, descriptors)

    monkeypatch.setattr(elements._Dispatch, "define", counted)
    yield definitions


def sums(strategies: Table, *added: float) -> list[float]:
    answer = strategies["process-per-element"].execute(Additions(added=added), b"50", StageClock())
    found: list[float] = json.loads(answer)["sums"]
    return found


def test_a_loop_that_comes_again_is_told_once(strategies: Table, told: list[bytes]) -> None:
    assert sums(strategies, 1, 1, 1, 1) == [4] * 50
    assert len(told) == PROCESSES


def test_a_process_that_is_late_leaves_three_quarters_of_a_loop_to_the_other(
    strategies: Table,
) -> None:
    late = LateForTheFirst(others=6)
    answer = strategies["process-per-element"].execute(late, b"8", StageClock())
    assert json.loads(answer)["done"] == [1] * 8


def test_a_loop_with_another_argument_is_another_loop(strategies: Table, told: list[bytes]) -> None:
    assert sums(strategies, 1, 0.5, 1, 0.5) == [3] * 50
    assert len(told) == 2 * PROCESSES


def test_the_loops_of_one_request_are_not_those_of_the_next(
    strategies: Table, told: list[bytes]
) -> None:
    assert sums(strategies, 1) == [1] * 50
    assert sums(strategies, 2, 1) == [3] * 50
    assert len(told) == 3 * PROCESSES


def test_with_more_loops_than_are_kept_in_mind_the_oldest_is_told_again(
    strategies: Table, told: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elements, "MOST_LOOPS", 2)
    assert sums(strategies, 1, 20, 1, 300, 1, 20, 300) == [643] * 50
    order = [told.index(definition) // PROCESSES for definition in told[::PROCESSES]]
    assert order == [0, 1, 2, 0, 1, 2]


def test_arguments_that_are_data_are_refused_and_the_next_request_is_right(
    strategies: Table,
) -> None:
    with pytest.raises(ValueError, match=r"use loop\.array for data"):
        strategies["process-per-element"].execute(
            Additions(added=(1 << 8 * MAX_MESSAGE_BYTES,)),
            b"5",
            StageClock(),
        )
    assert sums(strategies, 1) == [1] * 50
