"""How the C library's allocator treats memory that was freed, in this process."""

import ctypes
import logging

KEPT_BYTES = 256 * 1024 * 1024
"""Freed memory at the heap's end up to this is kept for the next request: what one of 1000 x 1000
matrices takes, body and answer included."""
MAPPED_FROM_BYTES = 32 * 1024 * 1024
"""Arrays from this size on are mapped, and unmapped, by themselves: glibc takes no larger value."""

_ARENA_MAX, _MMAP_THRESHOLD, _TRIM_THRESHOLD = -8, -3, -1  # malloc.h; mallopt(3)
_LOG = logging.getLogger(__name__)


def keep_freed_memory() -> None:
    """Let the next request have the pages that the last one freed.

    By default glibc hands arrays of a few hundred KiB back to the kernel, and each request pays
    again for the page faults: half of the time of parsing 2000 rows. One arena is enough where one
    thread computes at a time. To be called before threads start; without glibc nothing is changed.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except AttributeError:
        _LOG.info("no mallopt in this C library: its allocator stays as it is")
        return
    for parameter, value in (
        (_ARENA_MAX, 1),
        (_MMAP_THRESHOLD, MAPPED_FROM_BYTES),
        (_TRIM_THRESHOLD, KEPT_BYTES),
    ):
        if mallopt(parameter, value) != 1:
            _LOG.warning("mallopt(%d, %d) was refused", parameter, value)
