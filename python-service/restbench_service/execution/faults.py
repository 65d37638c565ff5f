"""Errors between a request and the thread or process that should run it."""

import pickle
import traceback
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

MAX_ERROR_BYTES = 32_768
"""Size limit of a pickled error that is sent between processes."""

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class AbandonedError(Exception):
    """The client went away while its request waited for a permit; the request was not run."""


class WorkerDiedError(Exception):
    """A process of a pool died while the pool had the request. The pool is being replaced."""


class PoolFailedError(Exception):
    """A pool has no processes or threads; the text says why."""


class PoolClosedError(PoolFailedError):
    """A pool is closed, as the service stops; the request was not run."""


def carries_errors(call: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Decorator for calls that run in a process of a pool: makes their errors readable by pickle.

    An error that pickle can write but not read would end the thread that reads a pool's answers.
    """

    @wraps(call)
    def carrying(*arguments: Parameters.args, **named: Parameters.kwargs) -> Result:
        try:
            return call(*arguments, **named)
        except Exception as error:
            if _is_portable(error):
                raise
            text = repr(error)[:1000]
            raise RuntimeError(text).with_traceback(error.__traceback__) from None

    return carrying


def _is_portable(error: Exception) -> bool:
    try:
        packed = pickle.dumps(error)
        pickle.loads(packed)  # noqa: S301 - our own bytes
    except Exception:  # whatever a foreign exception's reduction raises
        return False
    return len(packed) <= MAX_ERROR_BYTES


def places(error: BaseException) -> str:
    """The lines of code that an error passed, one per line.

    This includes lines in another process, which a standard pool sends as the text of a cause. The
    rest of that text is dropped, as it may contain values of a request.
    """
    ours = traceback.extract_tb(error.__traceback__)
    lines = [f"\n  {place.filename}:{place.lineno} in {place.name}" for place in ours]
    if type(error).__name__ in ("RemoteTraceback", "_RemoteTraceback"):
        text = str(error).splitlines()
        lines += [f"\n{line}" for line in text if line.startswith('  File "')]
    return "".join(lines)
