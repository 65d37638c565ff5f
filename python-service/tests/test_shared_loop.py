"""Loops of the techniques per element: what they share, and what is left of it."""

import errno
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from live_service import PER_ELEMENT, pool, read_proc
from observed import Observed, Units

from restbench_service.execution import shared_loop
from restbench_service.execution.strategy import Strategy
from restbench_service.workloads.workload import ParallelLoop

Table = dict[str, Strategy]
per_element = pytest.mark.parametrize("name", PER_ELEMENT)
LOOPS = 5
RESIDENT = re.compile(r"/memfd:restbench.*\nSize:.*\n(?:.*\n)*?Rss: +(\d+)")


@dataclass(frozen=True)
class ManyLoops(Observed):
    """Adds one to each number of an array in each of several loops."""

    loops: int = LOOPS

    def compute(self, value: Units, loop: ParallelLoop) -> dict[str, Any]:
        numbers, weight = loop.array((value["units"],), np.int64), loop.array((1,), np.int64)
        numbers[...], weight[...] = 0, 1
        for number in range(self.loops):
            loop.for_each(
                value["units"], 1, add_too if number % 2 else add, weight, numbers, weight
            )
        return {"numbers": numbers.tolist(), "mapped": mapped(loop), "resident": resident()}


def add(start: int, stop: int, weight: Any, numbers: Any, _same: Any) -> None:
    numbers[start:stop] += weight[0]


def add_too(start: int, stop: int, *arrays: Any) -> None:
    add(start, stop, *arrays)


def mapped(loop: Any) -> dict[str, int]:
    """How many arrays of this loop each process sees."""
    inode = f" {os.fstat(loop._descriptor).st_ino} "
    return {name: read_proc(Path(f"/proc/{pid}/maps")).count(inode) for name, pid in pool().items()}


@per_element
def test_a_process_is_shown_an_array_once_for_all_loops(
    strategies: Table, name: str, prefix: str
) -> None:
    answer = ManyLoops().run(strategies[name], 40)
    assert answer["numbers"] == [LOOPS] * 40
    seen = {process: count for process, count in answer["mapped"].items() if prefix in process}
    assert set(seen.values()) == {2} and len(seen) == 2


@per_element
def test_more_loops_than_are_kept_in_mind_are_right(strategies: Table, name: str) -> None:
    many = shared_loop.MOST_LOOPS + 10
    assert ManyLoops(loops=many).run(strategies[name], 3)["numbers"] == [many] * 3


@per_element
def test_the_memory_is_given_back_with_the_request_though_processes_still_map_it(
    strategies: Table, name: str, prefix: str
) -> None:
    seen = ManyLoops(loops=1).run(strategies[name], 2000)["resident"]
    used, left = ([kib for of, kib in each.items() if prefix in of] for each in (seen, resident()))
    assert used and min(used) > 0
    assert left and max(left) == 0
    files = [str(path.resolve()) for path in Path("/proc/self/fd").iterdir()]
    assert not any("memfd:restbench" in file for file in files)


def resident() -> dict[str, int]:
    """KiB in memory of the loops' files that each process maps; without those that map none."""
    texts = {name: read_proc(Path(f"/proc/{pid}/smaps")) for name, pid in pool().items()}
    found = {name: RESIDENT.findall(text) for name, text in texts.items()}
    return {name: sum(map(int, kib)) for name, kib in found.items() if kib}


@per_element
def test_no_room_for_an_array_is_an_error_and_not_the_end_of_a_process(
    strategies: Table, monkeypatch: pytest.MonkeyPatch, name: str, prefix: str
) -> None:
    before = pool(prefix)

    def full(*_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "posix_fallocate", full)
        with pytest.raises(MemoryError):
            ManyLoops().run(strategies[name], 4)
    assert ManyLoops().run(strategies[name], 4)["numbers"] == [LOOPS] * 4
    assert pool(prefix) == before


@per_element
def test_an_array_is_in_memory_before_it_is_used(
    strategies: Table, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    reserved, fallocate = list[int](), os.posix_fallocate

    def counted(descriptor: int, offset: int, size_bytes: int) -> None:
        reserved.append(size_bytes)
        fallocate(descriptor, offset, size_bytes)

    monkeypatch.setattr(os, "posix_fallocate", counted)
    ManyLoops().run(strategies[name], 50)
    assert reserved == [50 * 8, 8]


@per_element
def test_a_loop_of_more_tasks_than_are_given_at_once_does_each_unit_once(
    strategies: Table, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(shared_loop, "MOST_TASKS_AT_ONCE", 7)
    assert ManyLoops().run(strategies[name], 100)["numbers"] == [LOOPS] * 100
