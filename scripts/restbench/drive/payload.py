"""Seeded request bodies and the exact answers that must come back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from restbench.drive import logs, messages
from restbench.experiment.cell import Kernel, Shape
from restbench.experiment.experiment import Experiment
from restbench.experiment.level import Logs, Messages, Workload, mixed_order
from restbench.store.writing import write_text

BODY_REST = "body-rest.json"
ANSWER_REST = "answer-rest.json"
#: File of a mix: the kind of each request in the order of sending, one per line.
ORDER = "order.txt"


@dataclass(frozen=True)
class Payload:
    """One request body and its answer as JSON text, each without its beginning up to the id."""

    workload: Workload
    body_rest: str
    answer_rest: str
    work: int
    """Amount of work: within one workload proportional to the computing time."""

    def body(self, request_id: int | str) -> bytes:
        """The whole request body (UTF-8)."""
        return f'{{"requestId":{json.dumps(request_id)},{self.body_rest}'.encode()

    def answer(self, request_id: int | str) -> bytes:
        """The only correct answer to that body, byte for byte."""
        return f'{{"requestId":"{request_id}",{self.answer_rest}'.encode()

    def files(self, folder: Path) -> dict[Path, str]:
        """Both texts, by the paths where the JMeter plan reads them."""
        return {folder / BODY_REST: self.body_rest, folder / ANSWER_REST: self.answer_rest}

    def write(self, folder: Path) -> None:
        """Write both texts into the folder."""
        for path, text in self.files(folder).items():
            write_text(path, text)


def path_of(workload: Workload, strategy: str, kernel: Kernel = "loops") -> str:
    """The path of requests on a service. Only the matrix has a choice of kernels."""
    return f"/{workload}/{strategy}" + (f"?kernel={kernel}" if workload == "matrix" else "")


def requests_of(experiment: Experiment, complexity: str) -> Mapping[str, Payload]:
    """What one of the experiment's levels of complexity sends: the payloads, which share their
    workload, by the level that each is of. A mix has several."""
    names = experiment.mixes.get(complexity, [complexity])
    return {name: payload_of(experiment, name) for name in names}


def files_of(
    experiment: Experiment, complexity: str, folders: Callable[[str], Path]
) -> dict[Path, str]:
    """The text of each file that plan or driver reads; `folders` gives a level's folder."""
    folder, level = folders(complexity), experiment.complexities.get(complexity)
    if isinstance(level, Messages):
        return messages.files_of(level, experiment.seed, folder)
    if not experiment.traits.sends_load:
        return {
            folder / name: text for name, text in experiment.driver_table.files(complexity).items()
        }
    found: dict[Path, str] = {}
    for name, payload in requests_of(experiment, complexity).items():
        found |= payload.files(folders(name))
    if shares := experiment.mixes.get(complexity):
        order = mixed_order(shares, f"{experiment.seed} {complexity}")
        found[folder / ORDER] = "\n".join(order) + "\n"
    return found


def payload_of(experiment: Experiment, complexity: str) -> Payload:
    """The payload of one of the experiment's levels that is no mix."""
    level = experiment.complexities[complexity]
    if isinstance(level, Shape):
        return make_payload(level, experiment.seed, experiment.element_min, experiment.element_max)
    if isinstance(level, Messages):
        # Every request and answer is different: the load generator makes and checks them.
        return Payload("messages", "", "", level.work)
    if isinstance(level, Logs):
        return logs_payload(level, experiment.seed)
    assert_never(level)


@lru_cache(maxsize=32)
def make_payload(shape: Shape, seed: int, element_min: int, element_max: int) -> Payload:
    """Uniform random integers in [element_min, element_max]; same seed and shape, same bytes."""
    generator = np.random.default_rng([seed, shape.rows, shape.inner, shape.columns])
    left, right = (
        generator.integers(element_min, element_max, size, dtype=np.int64, endpoint=True)
        for size in ((shape.rows, shape.inner), (shape.inner, shape.columns))
    )
    rows = json.dumps(_product(left, right).tolist(), separators=(",", ":"))
    rest = f'"matrixOne":{_matrix(left)},"matrixTwo":{_matrix(right)}}}'
    return Payload("matrix", rest, f'"rows":{rows}}}', shape.products)


@lru_cache(maxsize=32)
def logs_payload(level: Logs, seed: int) -> Payload:
    """The first lines that are drawn, and the results of the rules for them."""
    lines = logs.lines(seed, level.lines)
    rest = logs.body_rest(level.rules, lines)
    return Payload("logs", rest, logs.answer_rest(level.rules, lines), level.work)


def _product(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[Any]:
    """The exact product: in Python's own integers where 64 bits might not hold every partial sum.
    (Not in floating point: services may use it, and their answers are compared with this.)"""
    largest = left.shape[1] * int(np.abs(left).max()) * int(np.abs(right).max())
    if largest <= np.iinfo(np.int64).max:
        return left @ right
    product: NDArray[Any] = left.astype(object) @ right.astype(object)
    return product


def _matrix(matrix: NDArray[np.int64]) -> str:
    rows = ",".join('{"value":"' + ",".join(map(str, row)) + '"}' for row in matrix.tolist())
    return f'{{"columnCount":{matrix.shape[1]},"rows":[{rows}]}}'
