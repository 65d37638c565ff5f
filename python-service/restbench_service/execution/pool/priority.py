"""A thread of low priority, for work that others should not have to wait for."""

import logging
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

NICENESS = 10
"""A tenth of a normal thread's share of a core where both want it (sched(7)); all of it else."""

Result = TypeVar("Result")
_LOG = logging.getLogger(__name__)


class LowPriorityThread:
    """Runs one call at a time, for a thread that waits for it. Made when it is needed first.

    A thread of its own, because who has lowered a priority may not raise it again without a
    privilege, and because Linux has a niceness for each thread.
    """

    def __init__(self) -> None:
        """Nothing runs yet."""
        self._thread: ThreadPoolExecutor | None = None

    def run(self, call: Callable[..., Result], *arguments: Any) -> Result:
        """What the call returns, or raises."""
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "low-priority", _lower_priority)
        return self._thread.submit(call, *arguments).result()


def _lower_priority() -> None:
    try:
        os.setpriority(os.PRIO_PROCESS, 0, NICENESS)  # 0: the calling thread
    except OSError as error:
        _LOG.warning("long requests run at normal priority: %s", error)
