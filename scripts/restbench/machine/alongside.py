"""Work in a thread of its own, while the caller does something else."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager


@contextmanager
def alongside(work: Callable[[threading.Event], None]) -> Iterator[None]:
    """Run `work` in a thread while the context lasts; at its end, set the event and wait for the
    thread. An exception of the work, such as that of a full disk, is raised at the end."""
    stopped = threading.Event()
    with ThreadPoolExecutor(1) as thread:
        done = thread.submit(work, stopped)
        try:
            yield
        finally:
            stopped.set()
        done.result()
