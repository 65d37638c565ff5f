"""The classes of IS and what verifies them (NPB 3.4, is.c)."""

from collections.abc import Callable
from dataclasses import dataclass

from ..random_numbers import SEED

ITERATIONS = 10
TEST_KEYS = 5
CHECKS = TEST_KEYS * ITERATIONS + 1
"""Every rank of a test key, and the order of all keys at the end."""


@dataclass(frozen=True)
class SortClass:
    """Sizes are powers of two. test_ranks[j] + offset(j, iteration) is the rank of a test key."""

    keys_log2: int
    range_log2: int
    test_positions: tuple[int, ...]
    test_ranks: tuple[int, ...]
    offset: Callable[[int, int], int]
    seed: int = SEED

    @property
    def keys(self) -> int:
        """How many keys there are."""
        return 1 << self.keys_log2

    @property
    def key_range(self) -> int:
        """Keys are from 0 to this, exclusive."""
        return 1 << self.range_log2


def _offsets(growing: set[int], up_from: int = 0, down_from: int = 0) -> Callable[[int, int], int]:
    """How far a test key's rank has moved: each iteration adds a small key and a large one.

    The ranks of `growing` rise by one an iteration after `up_from`, the others fall.
    """
    return lambda test, iteration: iteration - up_from if test in growing else down_from - iteration


CLASSES = {
    "S": SortClass(
        16, 11, (48427, 17148, 23627, 62548, 4431), (0, 18, 346, 64917, 65463), _offsets({0, 1, 2})
    ),
    "W": SortClass(
        20,
        16,
        (357773, 934767, 875723, 898999, 404505),
        (1249, 11698, 1039987, 1043896, 1048018),
        _offsets({0, 1}, up_from=2),
    ),
    "A": SortClass(
        23,
        19,
        (2112377, 662041, 5336171, 3642833, 4250760),
        (104, 17523, 123928, 8288932, 8388264),
        _offsets({0, 1, 2}, up_from=1, down_from=1),
    ),
    "B": SortClass(
        25,
        21,
        (41869, 812306, 5102857, 18232239, 26860214),
        (33422937, 10244, 59149, 33135281, 99),
        _offsets({1, 2, 4}),
    ),
    "C": SortClass(
        27,
        23,
        (44172927, 72999161, 74326391, 129606274, 21736814),
        (61147, 882988, 266290, 133997595, 133525895),
        _offsets({0, 1, 2}),
    ),
}
