"""How work is given to a ThreadPoolExecutor, so that it is done or refused, not both."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


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
