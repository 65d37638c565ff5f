"""Seeded request bodies and the exact answers that must come back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from restbench.cell import Shape
from restbench.writing import write_text

BODY_REST = "body-rest.json"
ROWS = "rows.json"


@dataclass(frozen=True)
class Payload:
    """One request body without its id, and the `rows` of its answer, as JSON text."""

    shape: Shape
    body_rest: str
    rows: str

    def body(self, request_id: int | str) -> bytes:
        """The whole request body (UTF-8)."""
        return f'{{"requestId":{_quoted(request_id)},{self.body_rest}'.encode()

    def answer(self, request_id: int | str) -> bytes:
        """The only right answer to that body, byte for byte."""
        return f'{{"requestId":"{request_id}","rows":{self.rows}}}'.encode()

    def files(self, folder: Path) -> dict[Path, str]:
        """Both texts, where the JMeter plan reads them."""
        return {folder / BODY_REST: self.body_rest, folder / ROWS: self.rows}

    def write(self, folder: Path) -> None:
        """Put both texts there."""
        for path, text in self.files(folder).items():
            write_text(path, text)


class Drawn(Protocol):
    """What an experiment of any kind says of its operands."""

    @property
    def seed(self) -> int:
        """Where the operands come from."""

    @property
    def element_min(self) -> int:
        """The smallest element."""

    @property
    def element_max(self) -> int:
        """The largest element."""

    def shape(self, complexity: str) -> Shape:
        """The operand sizes of a complexity level."""


def payload_of(experiment: Drawn, complexity: str) -> Payload:
    """The payload of one of the experiment's levels of complexity."""
    return make_payload(
        experiment.shape(complexity),
        experiment.seed,
        experiment.element_min,
        experiment.element_max,
    )


@lru_cache(maxsize=32)
def make_payload(shape: Shape, seed: int, element_min: int, element_max: int) -> Payload:
    """Uniform random integers in [element_min, element_max]; same seed and shape, same bytes."""
    generator = np.random.default_rng([seed, shape.rows, shape.inner, shape.columns])
    left = _operand(generator, shape.rows, shape.inner, element_min, element_max)
    right = _operand(generator, shape.inner, shape.columns, element_min, element_max)
    # Python's own integers: the expected product is exact whatever the elements are.
    product = (left.astype(object) @ right.astype(object)).tolist()
    rows = ",".join("[" + ",".join(map(str, row)) + "]" for row in product)
    rest = f'"matrixOne":{_matrix(left)},"matrixTwo":{_matrix(right)}}}'
    return Payload(shape=shape, body_rest=rest, rows=f"[{rows}]")


def _operand(
    generator: np.random.Generator, rows: int, columns: int, low: int, high: int
) -> NDArray[np.int64]:
    return generator.integers(low, high, size=(rows, columns), dtype=np.int64, endpoint=True)


def _matrix(matrix: NDArray[np.int64]) -> str:
    rows = ",".join('{"value":"' + ",".join(map(str, row)) + '"}' for row in matrix.tolist())
    return f'{{"columnCount":{matrix.shape[1]},"rows":[{rows}]}}'


def _quoted(request_id: int | str) -> str:
    return str(request_id) if isinstance(request_id, int) else f'"{request_id}"'
