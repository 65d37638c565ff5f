"""The process that works on a run: nobody else does meanwhile, for the kernel lets go of its lock
only when the process ends; and what its time goes to is noted, a line of `phases.jsonl`."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

from restbench.experiment.records import Spent
from restbench.failures import EnvironmentProblem, StorageProblem
from restbench.machine import clock, phases
from restbench.store.store import Run
from restbench.store.writing import write_text

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


@contextmanager
def noted(run: Run) -> Iterator[Callable[[], None]]:
    """The block works on the run. What its time went to so far is noted when it is asked for, and
    when the block is interrupted; nothing where no account is kept."""
    earlier = run.spent()

    def note() -> None:
        if account := phases.current():
            now = Spent(ended=clock.now_text(), seconds=account.seconds())
            lines = [each.model_dump_json() for each in (*earlier, now)]
            write_text(run.phases_file, "\n".join(lines) + "\n")

    try:
        yield note
    except BaseException:
        if run.manifest_file.exists():
            with suppress(StorageProblem):  # of a full disk there is worse to say
                note()
        raise


def together(spent: Iterable[Spent]) -> dict[str, float]:
    """Seconds by phase of all processes that measured."""
    total: dict[str, float] = {}
    for each in spent:
        for phase, seconds in each.seconds.items():
            total[phase] = total.get(phase, 0.0) + seconds
    return total
