"""Memory of a file that several processes see, in huge pages where the kernel gives some.

An address in an ordinary page of 4 KiB has to be looked up so often that sparse products take a
tenth longer; numpy's own arrays have huge pages, shared memory by most systems' settings has not,
unless it asks for them by force.
"""

import ctypes
import logging
import mmap
import os
import weakref

import numpy as np

HUGE_PAGE_BYTES = 2 * 1024 * 1024
"""On x86-64, and on arm64 with its usual 4 KiB pages."""

Memory = mmap.mmap | memoryview

_MADV_COLLAPSE = 25  # linux/mman.h, since Linux 6.1; madvise(2)
_MAP_FIXED = 0x10  # linux/mman.h
_PROT_NONE = 0
_NO_FILE = -1

_LIBRARY = ctypes.CDLL(None, use_errno=True)
_MMAP, _MUNMAP, _MADVISE = _LIBRARY.mmap, _LIBRARY.munmap, _LIBRARY.madvise
_INT, _SIZE, _ADDRESS = ctypes.c_int, ctypes.c_size_t, ctypes.c_void_p
_MMAP.restype = _ADDRESS
_MMAP.argtypes = [_ADDRESS, _SIZE, _INT, _INT, _INT, ctypes.c_long]
_MUNMAP.argtypes = [_ADDRESS, _SIZE]
_MADVISE.argtypes = [_ADDRESS, _SIZE, _INT]

_LOG = logging.getLogger(__name__)


def map_whole(descriptor: int) -> Memory:
    """All of the file, to be read and written; unmapped with the last array that lies in it.

    A large one begins where a huge page can: elsewhere its huge pages would be seen in small ones.
    """
    size_bytes = os.fstat(descriptor).st_size
    if size_bytes < HUGE_PAGE_BYTES:
        return mmap.mmap(descriptor, size_bytes)
    reserved_bytes = size_bytes + HUGE_PAGE_BYTES
    reserved = _mapped(None, reserved_bytes, _PROT_NONE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    begin = -(-reserved // HUGE_PAGE_BYTES) * HUGE_PAGE_BYTES
    memory = (ctypes.c_char * size_bytes).from_address(begin)
    weakref.finalize(memory, _MUNMAP, reserved, reserved_bytes).atexit = False
    access = mmap.PROT_READ | mmap.PROT_WRITE
    _mapped(begin, size_bytes, access, mmap.MAP_SHARED | _MAP_FIXED, descriptor)
    return memoryview(memory).cast("B")


def use_huge_pages(memory: Memory, size_bytes: int) -> None:
    """For as much of its first `size_bytes` as huge pages fill; what was there is lost.

    Ordinary pages stay where the kernel has no others to give or is older than Linux 6.1.
    """
    size_bytes -= size_bytes % HUGE_PAGE_BYTES
    if not size_bytes:
        return
    pages = np.frombuffer(memory, np.uint8, size_bytes)
    pages[::HUGE_PAGE_BYTES] = 0  # where there is no page yet, the kernel has none to replace
    if _MADVISE(pages.ctypes.data, size_bytes, _MADV_COLLAPSE) != 0:
        _LOG.info("no huge pages for shared arrays: %s", os.strerror(ctypes.get_errno()))


def _mapped(
    address: int | None, size_bytes: int, access: int, kind: int, descriptor: int = _NO_FILE
) -> int:
    """Where it is. Raises OSError."""
    found: int = _MMAP(address, size_bytes, access, kind, descriptor, 0)
    if found == _SIZE(-1).value:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return found
