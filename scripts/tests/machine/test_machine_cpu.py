"""Of which cores the CPU time is that shares of the machine are made of."""

from __future__ import annotations

import pytest

from restbench.machine import machine_cpu

#: Two ticks of three idle on the first core, all busy on the second, one stolen on the third.
STAT = """cpu  4 0 1 2 0 0 0 1 0 0
cpu0 1 0 0 2 0 0 0 0 0 0
cpu1 3 0 0 0 0 0 0 0 0 0
cpu2 0 0 1 0 0 0 0 1 0 0
intr 1 2 3
"""


@pytest.mark.parametrize(
    ("cores", "used"),
    [
        ((0, 1, 2), (8, 5, 1)),
        ((0,), (3, 1, 0)),
        ((1, 2), (5, 4, 1)),
        ((2, 3), (8, 5, 1)),
    ],
    ids=["all", "one", "some", "numbered anew by a container"],
)
def test_only_the_cores_that_we_may_use_are_the_machine(
    cores: tuple[int, ...], used: tuple[int, int, int]
) -> None:
    found = machine_cpu.parsed(STAT, cores)
    assert (found.total, found.busy, found.steal) == used
