"""A file's memory: the same for all who map it, in huge pages where there are some."""

import errno
import logging
import os
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from restbench_service.execution.pool import shared_memory
from restbench_service.execution.pool.shared_memory import (
    HUGE_PAGE_BYTES,
    map_whole,
    use_huge_pages,
)

NAME = "restbench-mapped-by-a-test"
SIZE_BYTES = 2 * HUGE_PAGE_BYTES + 12_345
SETTINGS = Path("/sys/kernel/mm/transparent_hugepage/shmem_enabled")
COLLAPSE_SINCE = (6, 1)


@pytest.fixture
def file() -> Iterator[int]:
    descriptor = os.memfd_create(NAME)
    os.ftruncate(descriptor, SIZE_BYTES)
    yield descriptor
    os.close(descriptor)


def mapped(file: int) -> NDArray[Any]:
    return np.frombuffer(map_whole(file), np.uint8)


def mappings() -> list[str]:
    return [line for line in Path("/proc/self/maps").read_text().splitlines() if NAME in line]


def huge_kib() -> int:
    """Of the file, that this process sees in huge pages."""
    of_file = Path("/proc/self/smaps").read_text().partition(NAME)[2]
    return int(of_file.partition("ShmemPmdMapped:")[2].split()[0])


def kernel_collapses() -> bool:
    release = tuple(int(part) for part in platform.release().split("-")[0].split(".")[:2])
    return release >= COLLAPSE_SINCE and SETTINGS.exists() and "[deny]" not in SETTINGS.read_text()


def test_who_maps_a_file_sees_all_of_it_and_what_others_write(file: int) -> None:
    one, other = mapped(file), mapped(file)
    one[...] = np.arange(SIZE_BYTES) % 251
    assert one.size == SIZE_BYTES
    assert (one == other).all()


def test_a_large_file_begins_where_a_huge_page_can(file: int) -> None:
    several = [mapped(file) for _ in range(3)]
    assert [array.ctypes.data % HUGE_PAGE_BYTES for array in several] == [0, 0, 0]


def test_the_memory_stays_as_long_as_an_array_in_it_and_no_longer(file: int) -> None:
    part = mapped(file)[-10:]
    part[...] = 7
    assert part.tolist() == [7] * 10
    assert len(mappings()) == 1
    del part
    assert mappings() == []


def test_what_cannot_be_mapped_leaves_nothing_behind(file: int) -> None:
    descriptor = os.open(f"/proc/self/fd/{file}", os.O_RDONLY)
    try:
        with pytest.raises(PermissionError):
            map_whole(descriptor)
    finally:
        os.close(descriptor)
    assert mappings() == []


@pytest.mark.skipif(not kernel_collapses(), reason="before Linux 6.1, or without huge pages")
def test_huge_pages_fill_what_they_can_and_others_see_them(
    file: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    memory = map_whole(file)
    use_huge_pages(memory, SIZE_BYTES)
    if any(os.strerror(shortage) in caplog.text for shortage in (errno.ENOMEM, errno.EAGAIN)):
        pytest.skip("no huge page is free")
    assert caplog.text == ""
    assert huge_kib() == 2 * HUGE_PAGE_BYTES // 1024
    del memory
    array = mapped(file)
    array[::HUGE_PAGE_BYTES] = 1
    assert huge_kib() == 2 * HUGE_PAGE_BYTES // 1024


def test_where_the_kernel_has_no_huge_pages_the_memory_is_as_good_and_the_log_says_so(
    file: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(shared_memory, "_MADVISE", lambda *_: -1)
    memory = map_whole(file)
    use_huge_pages(memory, SIZE_BYTES)
    assert "no huge pages" in caplog.text
    array = np.frombuffer(memory, np.uint8)
    array[...] = 3
    assert array.sum() == 3 * SIZE_BYTES
