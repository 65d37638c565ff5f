"""The seam between a request and how it is executed."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any, Protocol

from .job import Job


class Strategy(Protocol):
    """An execution technique: decides where the stages run and how loops are cut."""

    permits: int | None
    """How many requests run at once, the others waiting for their turn; None: any number."""

    def execute(self, job: Job) -> "Future[bytes]":
        """The response body, or what a stage raised, WorkerDiedError, or AbandonedError.

        Where the caller did the work it is complete already; it always becomes so.
        """

    def facts(self) -> Mapping[str, Any]:
        """What GET /health tells about how it decides; nothing where it treats all alike."""
        return {}

    def decisions(self) -> Mapping[str, int]:
        """How often it has decided for what, for GET /metrics."""
        return {}

    def await_ready(self) -> None:
        """Return when its processes are ready, if it has some. Raises PoolFailedError."""
        return

    def close(self) -> None:
        """End at once what the strategy keeps running; what still runs there fails."""
        return


def completed(call: Callable[[], bytes]) -> "Future[bytes]":
    """What the call returns or raises, as a future, on the caller."""
    future: Future[bytes] = Future()
    try:
        future.set_result(call())
    except Exception as error:  # carried to who asks the future
        future.set_exception(error)
    return future
