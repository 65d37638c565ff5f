"""The lock of a run: one process at a time works on it. The kernel releases the lock when the
process ends, however it ends."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from restbench.failures import EnvironmentProblem
from restbench.store.store import Run

#: Errors of a file system that cannot lock folders (NFS).
_NO_LOCKS = (errno.EBADF, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)


@contextmanager
def locked(run: Run) -> Iterator[bool]:
    """Hold the lock of a run, so that no other process continues it meanwhile.

    Yields False where the file system has no locks. Raises EnvironmentProblem where another process
    holds the lock.
    """
    folder = os.open(run.path, os.O_RDONLY | os.O_DIRECTORY)
    is_held = True
    try:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise EnvironmentProblem(
                f"{run.path}: another process is measuring this run: wait until it ends"
            ) from None
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
            is_held = False
        yield is_held
    finally:
        os.close(folder)
