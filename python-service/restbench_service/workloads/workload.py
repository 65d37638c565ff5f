"""The seam between business logic and execution: three stages, and the loop they ask for.

A body that a loop runs may be sent to another process. So it is a module-level function on plain
data, and arrays that its tasks share are asked of the loop.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import DTypeLike

Input = TypeVar("Input")
Output = TypeVar("Output")
Body = Callable[..., None]
"""body(start, stop, *arguments) does the units start <= unit < stop."""


class InvalidRequestError(Exception):
    """What a client did wrong, by the contract's code."""

    def __init__(self, code: str, message: str, request_id: str | int | None = None) -> None:
        """The message names the place; the id is None where it could not be read."""
        super().__init__(code, message, request_id)
        self.code = code
        self.message = message
        self.request_id = request_id


class Loop(Protocol):
    """Runs independent units of work; how it cuts and where it runs them is its own business."""

    def array(self, shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray[Any, Any]:
        """A C-contiguous array, not initialised, that the tasks of this loop can read and write."""

    def for_each(self, units: int, units_per_task: int, body: Body, *arguments: Any) -> None:
        """Return when body has done each of 0..units-1 once.

        A unit is the least that may be a task. units_per_task is the grain the workload finds
        natural; a loop may cut finer or not at all.
        Raises what a task raised; with several, any of them.
        """


class Workload(Protocol[Input, Output]):
    """One kind of request. Instances are small and can be pickled."""

    @property
    def kind(self) -> str:
        """What it is called among those whose operations take as long as its own."""

    def parse(self, body: bytes) -> Input:
        """Raises InvalidRequestError."""

    def operations(self, value: Input) -> float:
        """How many steps compute takes: to be compared within a kind, in proportion to the time."""

    def compute(self, value: Input, loop: Loop) -> Output:
        """Raises InvalidRequestError where the answer does not exist."""

    def serialize(self, result: Output) -> bytes:
        """The whole response body."""

    def request_id(self, body: bytes) -> str | int | None:
        """The id for the answer and the log when a stage failed by a fault of the service."""

    @property
    def needs_memory(self) -> bool:
        """Whether working_bytes is ever more than 0, without which it need not be asked."""

    def working_bytes(self, body: bytes) -> int:
        """What computing needs beside what lies in proportion to the body and the answer.

        It is held before the stages run. 0 for a body that parse will refuse. Never raises.
        """


class Sample(NamedTuple):
    """A request from which can be learnt how long those of its workload's kind take."""

    workload: Workload[Any, Any]
    body: bytes
