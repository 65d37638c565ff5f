"""A pool of threads of Python's library that refuses only what it then does not do."""

from concurrent.futures import ThreadPoolExecutor


class ThreadPool(ThreadPoolExecutor):
    """Where no thread can be started, a task waits for those that live.

    An executor queues a task before it starts a thread for it. Its submit() raises if that fails,
    and a thread that lives runs the task all the same. So this knows what is inside it: the names
    below are the same from Python 3.9 to 3.14.
    """

    def _adjust_thread_count(self) -> None:
        """Under the executor's lock. Raises RuntimeError where no thread lives: the task is out of
        the queue then."""
        try:
            super()._adjust_thread_count()
        except RuntimeError:
            if not self._threads:
                self._work_queue.get_nowait()  # no other is there, for each of them was refused
                raise
