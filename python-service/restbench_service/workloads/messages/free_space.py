"""Whether there is room for what is sent, where the database has its data."""

import logging
import math
import shutil
from time import monotonic

PERIOD_SECONDS = 1.0
"""Between two looks."""
_LOG = logging.getLogger(__name__)


def free_bytes(path: str) -> int:
    """Of a path's file system, for an ordinary user; 0 where that cannot be told."""
    try:
        return shutil.disk_usage(path).free
    except OSError:
        return 0


class FreeSpace:
    """Of one file system. A database whose disk is full stops for all, so sends stop before."""

    def __init__(self, path: str | None, least_bytes: int) -> None:
        """Without a path, of a database that is elsewhere, there is always enough."""
        self._path, self._least_bytes = path, least_bytes
        self._looked_at, self._is_enough = -math.inf, True

    def is_enough(self) -> bool:
        """As it was within the last second."""
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
