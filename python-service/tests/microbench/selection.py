"""Which of the parts are measured, as the command line says it."""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

IN_ORDER = "serial"
KERNELS = ("loops", "native")


@dataclass(frozen=True)
class Selection:
    """Shapes are names of bodies in a folder: `SHAPE.json` and its answer `SHAPE.answer.json`."""

    bodies: Path
    shapes: tuple[str, ...]
    strategy_shapes: tuple[str, ...]
    """Those that every strategy computes; the others are computed in order alone."""
    strategies: tuple[str, ...]
    rows: tuple[int, ...]
    """Of an empty loop."""
    value_seconds: float
    """Time that calls are repeated for to make one value."""

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser, strategies: list[str]) -> None:
        """The options of a command line, beside pyperf's own."""
        parser.add_argument("--bodies", type=Path, required=True, metavar="FOLDER")
        parser.add_argument("--shapes", nargs="+", default=["low"])
        parser.add_argument("--strategy-shapes", nargs="+", default=["low"])
        parser.add_argument("--strategies", nargs="+", choices=strategies, default=strategies)
        parser.add_argument("--rows", nargs="+", type=int, default=[1])
        parser.add_argument("--value-seconds", type=float, default=0.05)

    @classmethod
    def of(cls, options: argparse.Namespace) -> Self:
        """What the command line said."""
        return cls(
            options.bodies,
            tuple(options.shapes),
            tuple(options.strategy_shapes),
            tuple(options.strategies),
            tuple(options.rows),
            options.value_seconds,
        )

    def arguments(self) -> list[str]:
        """The same command line again, for a worker of pyperf."""
        return [
            *("--bodies", str(self.bodies), "--shapes", *self.shapes),
            *("--strategy-shapes", *self.strategy_shapes, "--strategies", *self.strategies),
            *("--rows", *map(str, self.rows), "--value-seconds", str(self.value_seconds)),
        ]

    def body(self, shape: str) -> Path:
        """The request of this name."""
        return self.bodies / f"{shape}.json"

    def answer(self, shape: str) -> Path:
        """The only right answer to it."""
        return self.bodies / f"{shape}.answer.json"

    def computations(self) -> Iterator[tuple[str, str, str]]:
        """Kernel, shape and strategy of each."""
        for kernel in KERNELS:
            for shape in self.shapes:
                wanted = self.strategies if shape in self.strategy_shapes else (IN_ORDER,)
                for strategy in wanted:
                    yield kernel, shape, strategy
