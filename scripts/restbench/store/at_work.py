"""The process that works on a run: nobody else does meanwhile, for the kernel lets go of its lock
only when the process ends."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from restbench.failures import EnvironmentProblem
from restbench.store.store import Run

#: What a file system answers that knows no locks of folders (NFS).
_NO_LOCKS = (errno.EBADF, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)


@contextmanager
def held(run: Run) -> Iterator[bool]:
    """Nobody else goes on with this run meanwhile.

    EnvironmentProblem where another process has it; False where the file system has no locks.
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
