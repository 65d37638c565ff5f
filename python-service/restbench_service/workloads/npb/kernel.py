"""What a kernel is to the workload: its classes, its input, and a run that times itself.

A unit of its loops is a block of planes, rows or keys worth a task.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

from ..workload import ParallelLoop

Class = TypeVar("Class")
Input = TypeVar("Input")
Value = float | list[list[float]]
"""A number, or [real part, imaginary part] of several."""
ELEMENTS_A_BLOCK = 2**17
"""Numbers a block has at least: a quarter of a millisecond of work, twenty times what a task costs
that is a message to another process. One that starts late leaves some of its blocks to another."""
MOST_BLOCKS = 64


@dataclass(frozen=True)
class Outcome:
    """What a run found; `kernel_seconds` is the region that NPB times."""

    verified: bool
    value: Value
    reference: Value
    iterations: int
    kernel_seconds: float


class Kernel(Protocol[Class, Input]):
    """One of the NAS kernels. It keeps nothing between two runs."""

    @property
    def classes(self) -> Mapping[str, Class]:
        """Sizes and reference values by the class's name, small to large."""

    def memory_bytes(self, size: Class) -> int:
        """What a run with an input of its own takes at its peak.

        With tasks in one process; each further process adds what one task takes, a few MiB.
        """

    def input_bytes(self, size: Class) -> int:
        """Of what generate() returns."""

    def operations(self, size: Class) -> float:
        """Of the timed region, as NPB counts them."""

    def generate(self, size: Class) -> Input:
        """The input in ordinary memory, which no run changes."""

    def run(self, size: Class, given: Input | None, loop: ParallelLoop) -> Outcome:
        """Compute and verify; without a given input one is built."""


def block_count(elements: int, lines: int) -> int:
    """Into how many blocks to cut `lines` planes or rows that have so many elements altogether.

    A power of two, so that the usual numbers of processes get the same share.
    """
    wanted = min(elements // ELEMENTS_A_BLOCK, MOST_BLOCKS, lines)
    return 1 << max(wanted.bit_length() - 1, 0)


def lines_of(start: int, stop: int, blocks: int, lines: int) -> tuple[int, int]:
    """The first line of block `start` and the one after the last of block `stop` - 1."""
    return start * lines // blocks, stop * lines // blocks
