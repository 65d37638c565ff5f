"""A number that the processes of a service count together."""

import fcntl
import os
from threading import Lock

_BYTES = 8


class SharedCount:
    """In memory of the process that has made it, by a path that its pools' processes can open."""

    def __init__(self, path: str | None = None) -> None:
        """The one at a path, or a new one, which is 0."""
        self._guard = Lock()
        self._file = os.memfd_create("count") if path is None else os.open(path, os.O_RDWR)
        self.path = path or f"/proc/{os.getpid()}/fd/{self._file}"

    @property
    def value(self) -> int:
        """Of all processes."""
        return int.from_bytes(os.pread(self._file, _BYTES, 0), "little")

    def add(self) -> None:
        """One more. A thread waits for the other threads, then for the other processes."""
        with self._guard:
            fcntl.flock(self._file, fcntl.LOCK_EX)
            try:
                os.pwrite(self._file, (self.value + 1).to_bytes(_BYTES, "little"), 0)
            finally:
                fcntl.flock(self._file, fcntl.LOCK_UN)
