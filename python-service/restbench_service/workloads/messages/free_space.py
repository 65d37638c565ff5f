"""Whether the file system of the database's data has room for more messages."""

import logging
import math
import shutil
from time import monotonic

PERIOD_SECONDS = 1.0
"""The minimum time between two checks."""
_LOG = logging.getLogger(__name__)


def free_bytes(path: str) -> int:
    """Bytes that the path's file system has free for an ordinary user; 0 if that is unknown."""
    try:
        return shutil.disk_usage(path).free
    except OSError:
        return 0


class FreeSpace:
    """Free space of one file system. A full disk stops the whole database, so sends stop first."""

    def __init__(self, path: str | None, least_bytes: int) -> None:
        """Without a path, for a database on another machine, there is always enough space."""
        self._path, self._least_bytes = path, least_bytes
        self._looked_at, self._is_enough = -math.inf, True

    def is_enough(self) -> bool:
        """Whether the minimum is free, checked at most once per PERIOD_SECONDS."""
        now = monotonic()
        if self._path is not None and now - self._looked_at >= PERIOD_SECONDS:
            self._looked_at = now
            free = free_bytes(self._path)
            was, self._is_enough = self._is_enough, free >= self._least_bytes
            if was != self._is_enough:
                what = "messages are taken again" if self._is_enough else "no message is taken"
                text = "the database's file system has %d bytes free, the minimum is %d: %s"
                _LOG.error(text, free, self._least_bytes, what)
        return self._is_enough
