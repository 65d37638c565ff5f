"""The interface between business logic and execution: a workload, and the loop that it runs.

A loop's body may be sent to another process. So it is a module-level function on plain data, and
the loop allocates the arrays that its tasks share.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

Input_contra = TypeVar("Input_contra", contravariant=True)
Output_co = TypeVar("Output_co", covariant=True)
Body = Callable[..., None]
"""body(start, stop, *arguments) does the units start <= unit < stop."""


class InvalidRequestError(Exception):
    """A request that is invalid or cannot be served now, with the contract's error code."""

    def __init__(self, code: str, message: str, request_id: str | int | None = None) -> None:
        """`message` names the faulty place; `request_id` is None if the id is unknown."""
        super().__init__(code, message, request_id)
        self.code = code
        self.message = message
        self.request_id = request_id


def beyond_memory(
    subject: str, needed_bytes: int, most_bytes: int, request_id: str | int | None = None
) -> InvalidRequestError:
    """Error 010: `subject`, a part of the request, needs more memory than the limit."""
    needed, most = -(-needed_bytes // 2**20), most_bytes // 2**20
    text = f"{subject} needs {needed} MiB of memory, the limit is {most} MiB"
    return InvalidRequestError("010", text, request_id)


class Count(NamedTuple):
    """A counter without labels: its description, and a function that returns its current value."""

    text: str
    value: Callable[[], Mapping[tuple[str, ...], int]]


class ParallelLoop(Protocol):
    """Runs independent units of work. The implementation decides how units form tasks, and where
    tasks run."""

    def array(self, shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray[Any, Any]:
        """A C-contiguous array, not initialised, that the tasks of this loop can read and write."""

    def for_each(self, units: int, units_per_task: int, body: Body, *arguments: Any) -> None:
        """Run body for each of the units 0..units-1 once, and return when all are done.

        A task has at least one unit. units_per_task is the workload's natural grain; a loop may
        cut finer or not at all.
        Raises the exception that a task has raised; if there are several, any one of them.
        """


def for_tasks(array: NDArray[Any], dtype: DTypeLike, loop: ParallelLoop) -> NDArray[Any]:
    """A copy of an array, with elements of type `dtype`, that the tasks of the loop can read."""
    shared = loop.array(array.shape, dtype)
    shared[...] = array
    return shared


class Workload(Protocol[Input_contra, Output_co]):
    """One type of request. The service has one object of it as long as it runs.

    A workload is small when pickled: each process that computes has its own copy, which is opened
    before the first request. Inputs have a `request_id`.
    """

    is_blocking: bool = False
    """Whether compute mostly waits for something other than a core: then more may run at once."""
    holds_memory: bool = False
    """Whether working_bytes must be reserved even if compute runs in a process of a pool. As such a
    process cannot reserve memory, the request is decoded first, here or by a separate pool task."""

    @property
    def name(self) -> str:
        """The first segment of the URL's path."""

    def kind(self, value: Input_contra) -> str:  # noqa: ARG002
        """The name of a group of requests whose operations take about the same time."""
        return self.name

    def operations(self, value: Input_contra) -> float:
        """The number of steps of compute, proportional to its time among requests of one kind."""

    def units(self, value: Input_contra) -> int:  # noqa: ARG002
        """The number of units of compute's loops, to check the limit of tasks; 0 where memory
        bounds the work."""
        return 0

    def working_bytes(self, value: Input_contra) -> int:  # noqa: ARG002
        """The bytes that computing and encoding need beyond what is proportional to the body."""
        return 0

    def subject(self, value: Input_contra) -> str:  # noqa: ARG002
        """The part of the request that needs working_bytes, for the message of error 010."""
        return "the request"

    def keep_within(self, resize: Callable[[int], object]) -> None:  # noqa: ARG002
        """From now on use `resize` to reserve memory that is kept between requests. It takes the
        total in bytes, and raises if that is not free."""
        return

    def compute(self, value: Input_contra, loop: ParallelLoop) -> Output_co:
        """The output for this input. Raises InvalidRequestError if there is none."""

    def parts_ns(self, output: Any) -> Mapping[str, int]:  # noqa: ARG002
        """The parts of this output's compute time that were measured separately, in ns by name."""
        return {}

    def facts(self) -> Mapping[str, Any]:
        """What GET /health reports of the workload."""
        return {}

    def counts(self) -> Mapping[str, Count]:
        """Counters for GET /metrics by name, each of them over all processes."""
        return {}

    def open(self) -> None:
        """Prepare to compute in this process, and acquire the external resources for it."""
        return

    def close(self) -> None:
        """Release what open() acquired."""
        return
