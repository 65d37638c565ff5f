"""The cores this process may use: what taskset, a cpuset or a container left it."""

import os


def allowed_cores() -> list[int]:
    """The numbers of the cores in the calling thread's affinity mask, ascending."""
    return sorted(os.sched_getaffinity(0))
