"""A ThreadPoolExecutor whose submit() raises only if the task will not run."""

from concurrent.futures import ThreadPoolExecutor


class ThreadPool(ThreadPoolExecutor):
    """If no further thread can be started, a task waits for an existing thread.

    ThreadPoolExecutor queues a task before it starts a thread for it. Its submit() raises if the
    start fails, although an existing thread will run the task. So this class uses internals of the
    executor, whose names are the same from Python 3.9 to 3.14.
    """

    def _adjust_thread_count(self) -> None:
        """Called under the executor's lock. If there is no thread at all, removes the task from
        the queue and raises RuntimeError."""
        try:
            super()._adjust_thread_count()
        except RuntimeError:
            if not self._threads:
                self._work_queue.get_nowait()  # the only task: earlier ones were removed, too
                raise
