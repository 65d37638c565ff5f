"""What goes on in a thread while something else does."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager


@contextmanager
def alongside(work: Callable[[threading.Event], None]) -> Iterator[None]:
    """The work goes on as long as the context lasts; then its event is set, and it is waited for.
    What is wrong with it, as a full disk, is raised at the end."""
    stopped = threading.Event()
    with ThreadPoolExecutor(1) as thread:
        done = thread.submit(work, stopped)
        try:
            yield
        finally:
            stopped.set()
        done.result()
