"""Memory that other processes can be shown, some of it kept from one request to the next."""

import os
from collections.abc import Hashable
from dataclasses import dataclass
from itertools import count

from .shared_memory import Memory, map_whole, use_huge_pages

_NUMBERS = count(os.getpid() << 32)
"""A process may be shown memory of several others."""


LEAST_KEPT_BYTES = 64 * 1024
"""So that they are not many: each takes two descriptors."""


@dataclass(frozen=True)
class Region:
    """A piece of memory. No two have the same number."""

    number: int
    descriptor: int
    memory: Memory
    is_kept: bool


class Arena:
    """For one request at a time.

    Pages of such memory that are new cost several times what an array's arithmetic does, and those
    who were shown a piece that stays need not be shown it again.
    """

    def __init__(self, most_kept_bytes: int = 0) -> None:
        """So much stays for the next request; by default nothing."""
        self._unclaimed_bytes = most_kept_bytes
        self._free: list[Region] = []
        self.shown: dict[Hashable, set[int]] = {}
        """The numbers of the regions each process has been shown."""

    def take(self, size_bytes: int) -> Region:
        """A region of this size or more, with whatever is in it."""
        large_enough = [region for region in self._free if len(region.memory) >= size_bytes]
        if not large_enough:
            return self._new(size_bytes)
        region = min(large_enough, key=lambda each: len(each.memory))
        self._free.remove(region)
        return region

    def put_back(self, region: Region) -> None:
        """The request has no more use for it."""
        if region.is_kept:
            self._free.append(region)
        else:
            os.close(region.descriptor)

    def _new(self, size_bytes: int) -> Region:
        """Kept ones are powers of two, to serve many sizes; pages not touched cost nothing."""
        kept_bytes = max(LEAST_KEPT_BYTES, 1 << (size_bytes - 1).bit_length())
        is_kept = kept_bytes <= self._unclaimed_bytes
        if is_kept:
            self._unclaimed_bytes -= kept_bytes
        descriptor = os.memfd_create("restbench-array")
        os.ftruncate(descriptor, kept_bytes if is_kept else size_bytes)
        memory = map_whole(descriptor)
        use_huge_pages(memory, size_bytes)
        return Region(next(_NUMBERS), descriptor, memory, is_kept)
