"""A counter that the processes of a service share."""

import fcntl
import os
from threading import Lock

_BYTES = 8


class SharedCount:
    """A counter in memory of the process that created it. Processes of pools open its `path`."""

    def __init__(self, path: str | None = None) -> None:
        """Open the counter at a path, or create one with the value 0."""
        self._guard = Lock()
        self._file = os.memfd_create("count") if path is None else os.open(path, os.O_RDWR)
        self.path = path or f"/proc/{os.getpid()}/fd/{self._file}"

    @property
    def value(self) -> int:
        """The count of all processes together."""
        return int.from_bytes(os.pread(self._file, _BYTES, 0), "little")

    def add(self) -> None:
        """Add 1, under a lock among threads and then a file lock among processes."""
        with self._guard:
            fcntl.flock(self._file, fcntl.LOCK_EX)
            try:
                os.pwrite(self._file, (self.value + 1).to_bytes(_BYTES, "little"), 0)
            finally:
                fcntl.flock(self._file, fcntl.LOCK_UN)
