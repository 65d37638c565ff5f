"""The seam between a request and how it is executed."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol

from .job import Job


class Strategy(Protocol):
    """An execution technique: decides where the stages run and how loops are cut."""

    permits: int | None
    """How many requests run at once, the others waiting for their turn; None: any number."""

    def execute(self, job: Job) -> "Future[bytes]":
        """Run the job. The future gives the response body, or raises the error of a stage,
        WorkerDiedError, PoolFailedError or AbandonedError.

        It is complete on return if the calling thread did the work, and completes in any case.
        """

    def facts(self) -> Mapping[str, Any]:
        """How the strategy decides, for GET /health; empty if it treats all requests alike."""
        return {}

    def decisions(self) -> Mapping[str, int]:
        """Requests by decision, for GET /metrics; empty if it treats all requests alike."""
        return {}

    def await_ready(self) -> None:
        """Return when all processes of the strategy are ready. Raises PoolFailedError."""
        return

    def close(self) -> None:
        """Close the pools of the strategy at once; jobs that still run there fail."""
        return


def completed(call: Callable[[], bytes], future: "Future[bytes] | None" = None) -> "Future[bytes]":
    """Run the call on the calling thread, and complete the future, or a new one, with its result or
    error. Returns the future."""
    future = future or Future()
    try:
        future.set_result(call())
    except Exception as error:  # future.result() raises it
        future.set_exception(error)
    return future


def hand_over(threads: ThreadPoolExecutor, work: Callable[[], object]) -> None:
    """Let one of the threads do the work. Raises RuntimeError if none can be started or the pool is
    closed; then the work is never done.

    A ThreadPoolExecutor queues work before it starts a thread for it. If that fails, submit()
    raises, although another thread may do the work, even later. So the work is taken out of
    `offered`, which only one can do.
    """
    offered = {"work": work}

    def do() -> None:
        if taken := offered.pop("work", None):
            taken()

    try:
        threads.submit(do)
    except RuntimeError:
        if offered.pop("work", None):
            raise
