"""What can go wrong between a request and the process that was to do it."""

import pickle
import traceback
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

MAX_ERROR_BYTES = 32_768
"""Of a pickled error."""

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class AbandonedError(Exception):
    """The client went away while its request waited for its turn, which it then did not get."""


class WorkerDiedError(Exception):
    """A process of the pool ended while the request was there. The pool is being made anew."""


class PoolFailedError(Exception):
    """A pool's processes cannot be started, or it is closed; the text says which and why."""


def carries_errors(call: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """For what runs in a process of a pool: its errors can be read on the other side.

    One that pickle writes and cannot read would end the thread that reads a pool's answers.
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
    """The lines of code an error came through, one a line.

    Also those in another process, which a standard pool sends as the text of a cause. Of that text
    only the places are taken: in the rest there may be values of a request.
    """
    ours = traceback.extract_tb(error.__traceback__)
    lines = [f"\n  {place.filename}:{place.lineno} in {place.name}" for place in ours]
    if type(error).__name__ in ("RemoteTraceback", "_RemoteTraceback"):
        text = str(error).splitlines()
        lines += [f"\n{line}" for line in text if line.startswith('  File "')]
    return "".join(lines)
