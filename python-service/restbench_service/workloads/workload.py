"""The seam between business logic and execution: what a request computes, and the loop it asks for.

A body that a loop runs may be sent to another process. So it is a module-level function on plain
data, and arrays that its tasks share are asked of the loop.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import DTypeLike

Input_contra = TypeVar("Input_contra", contravariant=True)
Output_co = TypeVar("Output_co", covariant=True)
Body = Callable[..., None]
"""body(start, stop, *arguments) does the units start <= unit < stop."""


class InvalidRequestError(Exception):
    """What a client did wrong, or cannot have now, by the contract's code."""

    def __init__(self, code: str, message: str, request_id: str | int | None = None) -> None:
        """The message names the place; the id is None where it could not be read."""
        super().__init__(code, message, request_id)
        self.code = code
        self.message = message
        self.request_id = request_id


class Count(NamedTuple):
    """A number that only grows: what it says, and what it is now."""

    text: str
    value: Callable[[], int]


class ParallelLoop(Protocol):
    """Runs independent units of work; how it cuts and where it runs them is its own business."""

    def array(self, shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray[Any, Any]:
        """A C-contiguous array, not initialised, that the tasks of this loop can read and write."""

    def for_each(self, units: int, units_per_task: int, body: Body, *arguments: Any) -> None:
        """Return when body has done each of 0..units-1 once.

        A unit is the least that may be a task. units_per_task is the grain the workload finds
        natural; a loop may cut finer or not at all.
        Raises what a task raised; with several, any of them.
        """


class Workload(Protocol[Input_contra, Output_co]):
    """One kind of request; one object for the life of the service.

    A value that is small when pickled: each process that computes has one of its own, opened before
    its first request. Inputs have a `request_id`.
    """

    is_blocking: bool = False
    """Whether compute waits for something other than a core: more at once then do no harm."""
    holds_memory: bool = False
    """Whether working_bytes has to be reserved wherever compute runs: as a process of a pool can
    reserve nothing, a request goes there once more, to be decoded, or is decoded before."""

    @property
    def name(self) -> str:
        """The first part of the path."""

    def kind(self, value: Input_contra) -> str:  # noqa: ARG002
        """What the request is called among those whose operations take as long as its own."""
        return self.name

    def operations(self, value: Input_contra) -> float:
        """How many steps compute takes: to be compared within a kind, in proportion to the time."""

    def working_bytes(self, value: Input_contra) -> int:  # noqa: ARG002
        """What computing and encoding hold that is not proportional to the body."""
        return 0

    def subject(self, value: Input_contra) -> str:  # noqa: ARG002
        """What in the request needs that memory, for the message that refuses it."""
        return "the request"

    def keep_within(self, resize: Callable[[int], object]) -> None:  # noqa: ARG002
        """Hold what it keeps between requests by `resize`, which takes the bytes of all of it, and
        raises where they are not free."""
        return

    def compute(self, value: Input_contra, loop: ParallelLoop) -> Output_co:
        """Raises InvalidRequestError where the answer does not exist."""

    def parts_ns(self, output: Any) -> Mapping[str, int]:  # noqa: ARG002
        """Of the time of computing this output, what was measured by itself."""
        return {}

    def facts(self) -> Mapping[str, Any]:
        """What GET /health tells of it."""
        return {}

    def counts(self) -> Mapping[str, Count]:
        """What it has counted in all its processes, for GET /metrics: by name."""
        return {}

    def open(self) -> None:
        """Get ready to compute in this process, with what computing needs from outside of it."""
        return

    def close(self) -> None:
        """Let go of what open() took."""
        return
