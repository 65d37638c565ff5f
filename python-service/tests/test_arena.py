"""Shared memory that stays from one request to the next, and what does not."""

from pathlib import Path

import numpy as np

from restbench_service.execution.pool.arena import LEAST_KEPT_BYTES, Arena
from restbench_service.execution.pool.shared_array import SharedArrays

KIBIBYTE = 1024


def test_the_next_request_gets_the_memory_of_the_last_one() -> None:
    arena = Arena(LEAST_KEPT_BYTES)
    region = arena.take(1000)
    arena.put_back(region)
    assert arena.take(LEAST_KEPT_BYTES) is region


def test_a_request_never_gets_memory_that_it_has_already() -> None:
    arena = Arena(10 * LEAST_KEPT_BYTES)
    assert len({arena.take(1000).number for _ in range(5)}) == 5


def test_the_smallest_piece_that_suffices_is_taken() -> None:
    arena = Arena(1024 * KIBIBYTE)
    large, small = arena.take(512 * KIBIBYTE), arena.take(128 * KIBIBYTE)
    for region in (large, small):
        arena.put_back(region)
    assert arena.take(100 * KIBIBYTE) is small


def test_what_is_more_than_may_stay_is_let_go() -> None:
    arena, before = Arena(LEAST_KEPT_BYTES), descriptors()
    regions = [arena.take(LEAST_KEPT_BYTES) for _ in range(3)]
    assert [region.is_kept for region in regions] == [True, False, False]
    for region in regions:
        arena.put_back(region)
    del regions, region
    assert descriptors() == before + 2  # the kept one's own, and its mapping's


def test_a_process_is_shown_memory_that_stays_once_and_the_rest_with_each_request() -> None:
    arena = Arena(LEAST_KEPT_BYTES)
    shown = []
    for _ in range(3):
        arrays = SharedArrays(arena)
        handles = [arrays.handle_of(arrays.create((10,), np.int64)) for _ in range(2)]
        shown.append(len(arrays.show(handles, "a process")))
        arrays.forgotten("a process")
        arrays.close()
    assert shown == [2, 1, 1]


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
