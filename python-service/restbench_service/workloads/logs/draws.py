"""The random numbers that rules and lines are drawn with."""

MODULUS = 2**46
MULTIPLIER = 5**13
"""Of the NAS Parallel Benchmarks, as their generator: any language computes it exactly."""


class Draws:
    """One stream: the same numbers for the same seed, in every service."""

    def __init__(self, seed: int) -> None:
        """The first number is drawn by the first pick."""
        self._state = (2 * seed + 1) % MODULUS

    def pick(self, choices: int) -> int:
        """0 to `choices` - 1; at most 65536 choices, which fit 64 bits in every language."""
        self._state = self._state * MULTIPLIER % MODULUS
        return self._state * choices // MODULUS
