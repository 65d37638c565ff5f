"""Threads that have a request each: made when needed, kept, ended when the server stops."""

from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread

Task = Callable[[], object]


class RequestThreads:
    """As a ThreadPoolExecutor, which makes a future with its locks for each request.

    Used by the server's loop alone.
    """

    def __init__(self) -> None:
        """None yet."""
        self._tasks = SimpleQueue[Task | None]()
        self._threads: list[Thread] = []

    def run(self, task: Task, busy: int) -> None:
        """Give a task, which must not raise, to a thread; so many are busy, this one included.

        Raises RuntimeError, and has not taken the task, where a thread more cannot be started.
        """
        if busy > len(self._threads):
            thread = Thread(target=self._serve, name=f"request-{len(self._threads)}")
            thread.start()
            self._threads.append(thread)
        self._tasks.put(task)

    def shutdown(self, wait: bool = True) -> None:
        """Let each thread end when it has finished what it has."""
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads if wait else ():
            thread.join()

    def _serve(self) -> None:
        while (task := self._tasks.get()) is not None:
            task()
