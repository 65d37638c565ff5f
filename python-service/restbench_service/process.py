"""What a process asks of the kernel for itself."""

import ctypes
import os
import resource
import signal
import sys

_PR_SET_PDEATHSIG, _PR_SET_NAME = 1, 15  # linux/prctl.h


def set_name(name: str) -> None:
    """What /proc/<pid>/comm and ps show; at most 15 characters."""
    ctypes.CDLL(None).prctl(_PR_SET_NAME, name.encode(), 0, 0, 0)


def die_with_parent(parent: int) -> None:
    """Be killed when the thread that started this process ends, in whatever way that ends.

    Exits if the process `parent` has ended already.
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        sys.exit("the service ended before this process began")


def allow_descriptors(count: int) -> bool:
    """Raise the limit of open files to `count` if it is lower; False where that is not allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft in range(count):
        if hard in range(count):
            return False
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard))
    return True
