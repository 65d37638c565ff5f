"""What can go wrong between us and a process of a pool."""

import pickle
import socket
from contextlib import suppress

MAX_ERROR_BYTES = 32_768
"""Of a pickled error: it must fit a message of any kind of process."""


class WorkerDiedError(Exception):
    """A process ended while it had work. The work is lost, the process is being replaced."""


class PoolFailedError(Exception):
    """The processes of a pool cannot be started; the text says which and why."""


def pack_error(error: Exception) -> bytes:
    """The error pickled, or the start of its text if it would not survive the way."""
    try:
        packed = pickle.dumps(error)
        pickle.loads(packed)  # noqa: S301 - our own bytes
    except Exception:  # whatever a foreign exception's reduction raises
        packed = b""
    fits = 0 < len(packed) <= MAX_ERROR_BYTES
    return packed if fits else pickle.dumps(RuntimeError(repr(error)[:1000]))


def abandon(channel: socket.socket) -> None:
    """Cut the connection in the middle of a conversation, so that the process is replaced.

    Otherwise an answer still due would be taken for the answer to the next question.
    """
    with suppress(OSError):
        channel.shutdown(socket.SHUT_RDWR)
