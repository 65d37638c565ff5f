"""What can go wrong between us and a process of a pool."""

import pickle


class WorkerDiedError(Exception):
    """A process ended while it had work. The work is lost, the process is being replaced."""


class PoolFailedError(Exception):
    """The processes of a pool cannot be started; the text says which and why."""


def portable(error: Exception) -> Exception:
    """The error if it survives the way to another process, otherwise its text in a RuntimeError."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    except Exception:  # whatever a foreign exception's reduction raises
        return RuntimeError(repr(error))
    return error
