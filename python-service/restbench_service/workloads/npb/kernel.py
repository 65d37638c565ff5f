"""The interface of a kernel: its classes, its input, and a run that measures its own time.

A unit of a kernel's loops is a block of planes, rows or keys that is large enough for a task.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

from ..workload import ParallelLoop

Class = TypeVar("Class")
Input = TypeVar("Input")
Value = float | list[list[float]]
"""A number, or a list of complex numbers as [real part, imaginary part]."""
ELEMENTS_A_BLOCK = 2**17
"""The fewest numbers in a block: a quarter of a millisecond of work, twenty times the cost of
sending a task to another process. Other processes can take over blocks of one that starts late."""
MOST_BLOCKS = 64


@dataclass(frozen=True)
class Outcome:
    """The result of a run; `kernel_seconds` is the time of the region that NPB times."""

    verified: bool
    value: Value
    reference: Value
    iterations: int
    kernel_seconds: float


class Kernel(Protocol[Class, Input]):
    """One of the NAS kernels. It keeps no state between runs."""

    @property
    def classes(self) -> Mapping[str, Class]:
        """Sizes and reference values by the class's name, small to large."""

    def memory_bytes(self, size: Class) -> int:
        """The peak memory in bytes of a run that generates its input.

        This is for tasks in one process; each further process adds one task's memory, a few MiB.
        """

    def input_bytes(self, size: Class) -> int:
        """The size in bytes of what generate() returns."""

    def operations(self, size: Class) -> float:
        """The number of operations in the timed region, as NPB counts them."""

    def generate(self, size: Class) -> Input:
        """The input, in ordinary memory. Runs do not change it."""

    def run(self, size: Class, given: Input | None, loop: ParallelLoop) -> Outcome:
        """Compute and verify; if no input is given, generate it."""


def block_count(elements: int, lines: int) -> int:
    """The number of blocks to cut `lines` planes or rows into, which have `elements` numbers.

    A power of two, so that the usual numbers of processes get the same share.
    """
    wanted = min(elements // ELEMENTS_A_BLOCK, MOST_BLOCKS, lines)
    return 1 << max(wanted.bit_length() - 1, 0)


def lines_of(start: int, stop: int, blocks: int, lines: int) -> tuple[int, int]:
    """The first line of block `start` and the one after the last of block `stop` - 1."""
    return start * lines // blocks, stop * lines // blocks
