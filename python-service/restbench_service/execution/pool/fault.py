"""What can go wrong between us and a process of a pool."""

import pickle
import socket
import traceback
from contextlib import suppress

MAX_ERROR_BYTES = 32_768
"""Of a pickled error: it must fit a message of any kind of process."""


_PLACES = "places_in_its_process"
"""Attribute of an error that came from another process: a traceback cannot be pickled."""


class WorkerDiedError(Exception):
    """A process ended while it had work. The work is lost, the process is being replaced."""


class PoolFailedError(Exception):
    """The processes of a pool cannot be started; the text says which and why."""


def places(error: BaseException) -> str:
    """The lines of code an error came through, one a line, those in a pool's process last."""
    ours = traceback.extract_tb(error.__traceback__)
    lines = [f"\n  {place.filename}:{place.lineno} in {place.name}" for place in ours]
    return "".join(lines) + getattr(error, _PLACES, "")


def pack_error(error: Exception) -> bytes:
    """The error pickled, or the start of its text if it would not survive the way."""
    came_through = places(error)[: MAX_ERROR_BYTES // 2]
    packed = _pickled(error, came_through)
    return packed or _pickled(RuntimeError(repr(error)[:1000]), came_through)


def _pickled(error: Exception, came_through: str) -> bytes:
    """Nothing if it cannot be pickled, or read again, or is too long."""
    try:
        setattr(error, _PLACES, came_through)
        packed = pickle.dumps(error)
        pickle.loads(packed)  # noqa: S301 - our own bytes
    except Exception:  # whatever a foreign exception's reduction raises
        return b""
    return packed if len(packed) <= MAX_ERROR_BYTES else b""


def abandon(channel: socket.socket) -> None:
    """Cut the connection in the middle of a conversation, so that the process is replaced.

    Otherwise an answer still due would be taken for the answer to the next question.
    """
    with suppress(OSError):
        channel.shutdown(socket.SHUT_RDWR)
